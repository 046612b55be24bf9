//! Requests to the Docker engine that are sent again.

use std::io::ErrorKind;
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::ContainerCreateBody;
use testcontainers::bollard::query_parameters::{CreateContainerOptions, InspectContainerOptions};

/// How often a request is sent that fails for a reason that may pass.
const ATTEMPTS: usize = 3;

/// How long an engine may be making a container whose name it refuses already.
const MAKING: Duration = Duration::from_secs(60);

/// Rest before a request is sent again.
const REST: Duration = Duration::from_millis(500);

/// Whether a request that failed so may succeed when it is sent again: the engine did not answer, or answered nonsense,
/// or had an error of its own. A refusal (4xx) stays one, and where nothing listens there is no engine.
fn may_come_later(error: &Error) -> bool {
    let nobody = [
        ErrorKind::NotFound,
        ErrorKind::PermissionDenied,
        ErrorKind::ConnectionRefused,
    ];
    match error {
        Error::DockerResponseServerError { status_code, .. } => !(400..500).contains(status_code),
        Error::IOError { err } => !nobody.contains(&err.kind()),
        _ => true,
    }
}

/// The attempts that a request has.
#[derive(Debug)]
pub struct Attempts(usize);

impl Attempts {
    /// All of them.
    pub fn new() -> Self {
        Self(ATTEMPTS)
    }

    /// Waits for the next attempt; false if there is none, or the error is one that stays.
    pub async fn another(&mut self, error: &Error) -> bool {
        self.0 = self.0.saturating_sub(1);
        let another = self.0 > 0 && may_come_later(error);
        if another {
            log::info!("the engine failed, and is asked again: {error}");
            tokio::time::sleep(REST).await;
        }
        another
    }
}

/// Sends a request that may be carried out twice, again if it fails for a reason that may pass.
///
/// # Errors
/// The last attempt's.
pub async fn again<T, F>(request: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut attempts = Attempts::new();
    loop {
        match request().await {
            Err(error) if attempts.another(&error).await => {}
            outcome => return outcome,
        }
    }
}

/// Creates a container of a name that nobody else gives, and returns its id. If an answer is lost, the container that
/// was created then is found by its name: a slow engine refuses the name (409) before it finds the container (404).
///
/// # Errors
/// If the engine does not create it.
pub async fn create(docker: &Docker, name: &str, body: &ContainerCreateBody) -> Result<String, Error> {
    let mut attempts = Attempts::new();
    let (mut first, begun) = (true, Instant::now());
    loop {
        let options = CreateContainerOptions {
            name: Some(name.to_owned()),
            ..CreateContainerOptions::default()
        };
        match docker.create_container(Some(options), body.clone()).await {
            Ok(made) => return Ok(made.id),
            Err(Error::DockerResponseServerError { status_code: 409, .. }) if !first => {
                match again(|| docker.inspect_container(name, None::<InspectContainerOptions>)).await {
                    Ok(made) => return Ok(made.id.unwrap_or_else(|| name.to_owned())),
                    Err(Error::DockerResponseServerError { status_code: 404, .. }) if begun.elapsed() < MAKING => {
                        tokio::time::sleep(REST).await;
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(error) if attempts.another(&error).await => {}
            Err(error) => return Err(error),
        }
        first = false;
    }
}

/// Pauses a container. An engine whose runtime could not freeze all processes in time thaws them and answers 500: they
/// are frozen at another attempt. Where no answer came, nothing is sent again: that request may still be under way.
///
/// # Errors
/// If the engine does not pause it.
pub async fn pause(docker: &Docker, container: &str) -> Result<(), Error> {
    let mut attempts = Attempts::new();
    loop {
        match docker.pause_container(container).await {
            Err(error @ Error::DockerResponseServerError { .. }) if attempts.another(&error).await => {}
            outcome => return outcome,
        }
    }
}
