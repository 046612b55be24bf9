//! What the images ask of the container engine: look, pull, build, import.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use futures_util::{Stream, StreamExt as _, stream};
use testcontainers::bollard::query_parameters::{
    BuildImageOptionsBuilder, CreateImageOptionsBuilder, ListImagesOptionsBuilder, RemoveImageOptionsBuilder,
    TagImageOptionsBuilder,
};
use testcontainers::bollard::{Docker, body_full, body_try_stream, errors::Error, models::ImageSummary};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;

use super::host::ProxySettings;
use crate::retry::again;

/// Label of every image that zooquake builds; its value is the image's purpose.
pub(super) const LABEL: &str = "zooquake.image";

/// A pull is given up after so long without an event of the engine.
const PULL_SILENCE: Duration = Duration::from_secs(60);

/// The client's default of two minutes is too short for the engine to take in a base image from a slow mirror.
const ENGINE_PATIENCE: Duration = Duration::from_secs(1800);

/// How much of a failed build's output an error shows.
const SHOWN_LINES: usize = 25;

/// A container engine; what it does is logged.
pub(super) struct ContainerEngine {
    docker: Docker,
    /// A registry that could not be reached is not asked again for the next image: each time may cost a minute.
    unreachable: AtomicBool,
    /// How many images were begun, and how many are to be built in all.
    steps: Mutex<(usize, usize)>,
}

impl ContainerEngine {
    pub(super) fn new(docker: &Docker) -> Self {
        ContainerEngine {
            docker: docker.clone().with_timeout(ENGINE_PATIENCE),
            unreachable: AtomicBool::new(false),
            steps: Mutex::new((0, 0)),
        }
    }

    /// Logs how many images are going to be built or bootstrapped, and about how long all of them take.
    pub(super) fn plan(&self, seconds: &[u64]) {
        *self.steps() = (0, seconds.len());
        if seconds.len() > 1 {
            let all: u64 = seconds.iter().sum();
            log::info!(
                "{} images are missing: making them takes about {all} s, once",
                seconds.len()
            );
        }
    }

    /// Logs which image is made now, and about how many seconds that takes.
    pub(super) fn begin(&self, what: &str, seconds: u64) {
        let (begun, all) = {
            let mut steps = self.steps();
            steps.0 += 1;
            *steps
        };
        let step = match all {
            0 | 1 => String::new(),
            all => format!("image {begun} of {}: ", all.max(begun)),
        };
        log::info!("{step}{what} (about {seconds} s, once)");
    }

    fn steps(&self) -> MutexGuard<'_, (usize, usize)> {
        // Two numbers are whole at any time.
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// ID and size of a local image.
    pub(super) async fn about(&self, image: &str) -> Result<Option<(String, u64)>> {
        match again(|| self.docker.inspect_image(image)).await {
            Ok(found) => {
                let size = found.size.and_then(|size| u64::try_from(size).ok());
                Ok(Some((found.id.unwrap_or_default(), size.unwrap_or_default())))
            }
            Err(Error::DockerResponseServerError { status_code: 404, .. }) => Ok(None),
            Err(error @ Error::DockerResponseServerError { .. }) => {
                Err(error).with_context(|| format!("looking for the image {image}"))
            }
            Err(error) => Err(error).with_context(|| {
                format!("asking the container engine for the image {image}. The way out: start it, or set DOCKER_HOST")
            }),
        }
    }

    pub(super) async fn has(&self, image: &str) -> Result<bool> {
        Ok(self.about(image).await?.is_some())
    }

    /// The first of these images that is there; `None` if none is.
    pub(super) async fn first_of(&self, images: impl IntoIterator<Item = String>) -> Result<Option<String>> {
        for image in images {
            if self.has(&image).await? {
                return Ok(Some(image));
            }
        }
        Ok(None)
    }

    /// Pulls an image. An error states why it failed; the caller may still build the image or use another one.
    pub(super) async fn pull(&self, image: &str) -> Result<()> {
        ensure!(
            !self.unreachable.load(Ordering::Relaxed),
            "not pulled, because the registry could not be reached a moment ago"
        );
        log::info!("pulling {image}");
        let options = CreateImageOptionsBuilder::default().from_image(&tagged(image)).build();
        let mut events = self.docker.create_image(Some(options), None, None);
        loop {
            match tokio::time::timeout(PULL_SILENCE, events.next()).await {
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(error))) => {
                    self.unreachable.store(!says_no(&error), Ordering::Relaxed);
                    return Err(error).with_context(|| format!("pulling {image}"));
                }
                Ok(None) => return Ok(()),
                Err(_) => {
                    self.unreachable.store(true, Ordering::Relaxed);
                    bail!("pulling {image}: no answer for {} s", PULL_SILENCE.as_secs());
                }
            }
        }
    }

    /// Builds an image from a context in memory.
    pub(super) async fn build(&self, image: &str, base: &str, context: Vec<u8>, host: &ProxySettings) -> Result<()> {
        let mut arguments = host.build_arguments();
        arguments.insert("BASE".to_owned(), base.to_owned());
        let mut options = BuildImageOptionsBuilder::default()
            .dockerfile("Dockerfile")
            .t(image)
            .rm(true)
            .forcerm(true)
            .buildargs(&arguments);
        if let Some(network) = host.build_network() {
            options = options.networkmode(network);
        }
        let events = self
            .docker
            .build_image(options.build(), None, Some(body_full(context.into())));
        let log = events.map(|event| event.map(|info| info.stream.unwrap_or_default()));
        watch(log)
            .await
            .with_context(|| format!("building the image {image} on {base}"))
    }

    /// Makes an image of a file system that a process writes to its stdout as a tar.
    pub(super) async fn import(&self, image: &str, role: &str, writer: Child) -> Result<()> {
        let (name, tag) = image.split_once(':').unwrap_or((image, "latest"));
        let options = CreateImageOptionsBuilder::default()
            .from_src("-")
            .repo(name)
            .tag(tag)
            .changes(vec![format!("LABEL {LABEL}={role}")])
            .build();
        let file_system = body_try_stream(stream::unfold(Some(writer), next_piece));
        let events = self.docker.create_image(Some(options), Some(file_system), None);
        let log = events.map(|event| event.map(|info| info.status.unwrap_or_default()));
        watch(log).await.with_context(|| format!("importing the image {image}"))
    }

    /// Images that carry our label, newest first; those of one role, or all with the layers under them.
    pub(super) async fn ours(&self, role: Option<&str>) -> Result<Vec<ImageSummary>> {
        let label = role.map_or_else(|| LABEL.to_owned(), |role| format!("{LABEL}={role}"));
        let options = ListImagesOptionsBuilder::default()
            .all(role.is_none())
            .filters(&HashMap::from([("label", vec![label])]))
            .build();
        let images = again(|| self.docker.list_images(Some(options.clone()))).await;
        let mut images = images.context("listing images")?;
        images.sort_by_key(|image| std::cmp::Reverse(image.created));
        Ok(images)
    }

    /// Gives an image another name.
    pub(super) async fn name(&self, image: &str, repository: &str, tag: &str) -> Result<()> {
        let options = TagImageOptionsBuilder::default().repo(repository).tag(tag).build();
        let named = self.docker.tag_image(image, Some(options)).await;
        named.with_context(|| format!("naming the image {image} {repository}:{tag}"))
    }

    /// Removes an image, unless a container needs it.
    pub(super) async fn remove(&self, image: &str) -> Result<()> {
        let options = RemoveImageOptionsBuilder::default().build();
        match self.docker.remove_image(image, Some(options), None).await {
            Ok(_) | Err(Error::DockerResponseServerError { status_code: 404, .. }) => Ok(()),
            Err(Error::DockerResponseServerError { message, .. }) => Err(anyhow!(message)),
            Err(error) => Err(error).with_context(|| format!("removing the image {image}")),
        }
    }
}

/// Follows a log to its end; an error carries the last lines.
async fn watch(mut log: impl Stream<Item = Result<String, Error>> + Unpin) -> Result<()> {
    let mut last = String::new();
    while let Some(event) = log.next().await {
        match event {
            // Errors come in fragments of lines, so lines are counted when all is there.
            Ok(text) => last.push_str(&text),
            Err(error) => return Err(anyhow!(error).context(format!("the last lines were\n{}\n", tail(&last)))),
        }
    }
    Ok(())
}

/// The last lines of a log without its colours, ready to be shown.
fn tail(log: &str) -> String {
    let mut plain = String::with_capacity(log.len());
    let mut pieces = log.split("\x1b[");
    plain.extend(pieces.next());
    plain.extend(pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, text)| text)));
    let lines: Vec<&str> = plain
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    shown
        .iter()
        .map(|line| format!("  | {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The next piece of a process's output. At the end its failure becomes an error, which makes the engine throw away
/// what it has, where half a file system would have become an image.
async fn next_piece<B: From<Vec<u8>>>(writer: Option<Child>) -> Option<(std::io::Result<B>, Option<Child>)> {
    let mut writer = writer?;
    let output = writer.stdout.as_mut()?;
    let mut piece = vec![0; 256 * 1024];
    match output.read(&mut piece).await {
        Ok(0) => match writer.wait().await {
            Ok(status) if status.success() => None,
            Ok(status) => Some((Err(std::io::Error::other(format!("it ended with {status}"))), None)),
            Err(error) => Some((Err(error), None)),
        },
        Ok(length) => {
            piece.truncate(length);
            Some((Ok(piece.into()), Some(writer)))
        }
        Err(error) => Some((Err(error), None)),
    }
}

/// Without a tag the engine would pull all there are.
fn tagged(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains([':', '@']) {
        image.to_owned()
    } else {
        format!("{image}:latest")
    }
}

/// The registry has answered, and its answer is no.
fn says_no(error: &Error) -> bool {
    let text = error.to_string();
    ["not found", "manifest unknown", "denied", "unauthorized"]
        .iter()
        .any(|answer| text.contains(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_end_of_a_log() {
        let log =
            (0..40).map(|line| format!("line {line}\n")).collect::<String>() + "\x1b[91mE\x1b[0m\x1b[91m: no\x1b[0m\n";
        let shown = tail(&log);
        assert_eq!(shown.lines().count(), SHOWN_LINES);
        assert!(
            shown.starts_with("  | line 16\n") && shown.ends_with("\n  | E: no"),
            "{shown}"
        );
    }

    #[test]
    fn adds_a_tag_where_there_is_none() {
        assert_eq!(tagged("zookeeper"), "zookeeper:latest");
        assert_eq!(tagged("localhost:5000/zookeeper"), "localhost:5000/zookeeper:latest");
        assert_eq!(tagged("localhost:5000/zookeeper:3.9"), "localhost:5000/zookeeper:3.9");
        assert_eq!(tagged("zookeeper@sha256:00"), "zookeeper@sha256:00");
    }
}
