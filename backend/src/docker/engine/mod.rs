//! The way to the Docker engine: a connection for each request, and bounds for each answer.
//!
//! The client library takes an answer whole into memory, however long it is, and waits for its end however long that
//! takes. So every connection is guarded below HTTP, where that library reads from it: whatever it does with an answer
//! has the same bounds.

mod address;
mod bounds;
mod guard;

pub use address::{Address, is_chosen, tried};

use bounds::Bounds;
use guard::Guard;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::{API_DEFAULT_VERSION, BollardRequest, Docker, body_full};

/// A client of the engine at this address; nothing was asked of it yet.
///
/// # Errors
/// If the client cannot be made.
pub fn client(address: Address) -> Result<Docker, Error> {
    let address = Arc::new(address);
    let transport = move |request: BollardRequest| {
        let address = Arc::clone(&address);
        let bounds = Bounds::of_answer(request.method(), request.uri().path());
        async move { exchange(&address, request, bounds).await }
    };
    let patience = bounds::PATIENCE.as_secs();
    Docker::connect_with_custom_transport(transport, Some("http://engine"), patience, API_DEFAULT_VERSION)
}

/// How long an engine that lives takes to answer a ping.
const PONG: Duration = Duration::from_secs(5);

/// Sends a request on a connection of its own, and returns the head of the answer. An engine that did not answer in
/// time is asked for a sign of life: a slow one is another error than a dead one.
async fn exchange(address: &Address, request: BollardRequest, bounds: Bounds) -> Result<Response<Incoming>, Error> {
    let what = format!("{} {}", request.method(), request.uri().path());
    match send(address, request, bounds).await {
        Err(error) if is_late(&error) => {
            let ping = Request::get("/_ping").body(body_full(Default::default()));
            let ping = send(address, ping.map_err(io::Error::other)?, bounds);
            let answers = tokio::time::timeout(PONG, ping).await;
            let state = match answers {
                Ok(Ok(_)) => "it is slow, and answers a ping",
                Ok(Err(_)) | Err(_) => "it answers no ping either, and hangs or is gone",
            };
            let why = format!("the engine did not answer {what} in time: {state}");
            Err(io::Error::new(io::ErrorKind::TimedOut, why).into())
        }
        answer => answer,
    }
}

/// Whether an answer did not come within its bound of time.
fn is_late(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            return true;
        }
        cause = error.source();
    }
    false
}

async fn send(address: &Address, mut request: BollardRequest, bounds: Bounds) -> Result<Response<Incoming>, Error> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let target = target.parse().map_err(io::Error::other)?;
    *request.uri_mut() = target;
    request.headers_mut().insert(HOST, HeaderValue::from_static("engine"));
    let guard = Guard::new(address.connect().await?, bounds);
    let (mut sender, connection) = http1::handshake(TokioIo::new(guard)).await?;
    // What fails on the connection fails its request, or the reader of its answer.
    tokio::spawn(async move { drop(connection.with_upgrades().await) });
    Ok(sender.send_request(request).await?)
}

#[cfg(test)]
mod tests;
