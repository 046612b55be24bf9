//! The minimal Debian under our own images.

use std::process::Stdio;

use anyhow::{Context as _, Result, anyhow};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::context::{BOOTSTRAP, BuildContext};
use super::engine::ContainerEngine;
use super::host::ProxySettings;
use super::lock::Lock;

/// How long a bootstrap takes, about.
const SECONDS: u64 = 30;

/// How long it takes, about, to bootstrap the base for a suite of Debian; `None` if it is there, or its official image.
pub(super) async fn missing(engine: &ContainerEngine, suite: &str) -> Result<Option<u64>> {
    Ok(engine.first_of(names(suite)).await?.is_none().then_some(SECONDS))
}

/// Our base for a suite, and the official image. Ours has a name of its own: it must never pass for the official one.
fn names(suite: &str) -> [String; 2] {
    [format!("zooquake-base:{suite}"), format!("debian:{suite}-slim")]
}

/// Finds, pulls or bootstraps the base for a suite of Debian; returns the name of that image.
pub(super) async fn ensure(engine: &ContainerEngine, suite: &str) -> Result<String> {
    if let Some(image) = engine.first_of(names(suite)).await? {
        return Ok(image);
    }
    let [ours, official] = names(suite);
    let _lock = Lock::acquire(&ours).await?;
    // Another process may have made it while this one waited.
    if let Some(image) = engine.first_of(names(suite)).await? {
        return Ok(image);
    }
    let Err(pull) = engine.pull(&official).await else {
        return Ok(official);
    };
    let Err(bootstrap) = bootstrap(engine, &ours, suite).await else {
        return Ok(ours);
    };
    Err(anyhow!(
        "no base image: {official} is not there, cannot be pulled ({pull:#}), and Debian's {suite} could not be \
         bootstrapped from packages ({bootstrap:#}).\nThe way out: on a machine that reaches a registry, `docker pull \
         {official} && docker save {official} > base.tar`, and here `docker load < base.tar`; or, on any Debian as root, \
         `docker/bootstrap.sh {suite} > base.tar`, and here `docker import base.tar {ours}`"
    ))
}

impl BuildContext {
    /// Builds its image on the base for a suite of Debian, unless another process has built it while this one waited
    /// for the lock.
    pub(super) async fn build(
        &self,
        engine: &ContainerEngine,
        image: &str,
        suite: &str,
        host: &ProxySettings,
    ) -> Result<()> {
        if engine.has(image).await? {
            return Ok(());
        }
        let debian = ensure(engine, suite).await?;
        engine.begin(&format!("building {image} from Debian's packages"), self.seconds);
        engine.build(image, &debian, self.tar()?, host).await
    }
}

/// Makes the base image from Debian's packages, without a registry and without a file in between.
async fn bootstrap(engine: &ContainerEngine, image: &str, suite: &str) -> Result<()> {
    engine.begin(&format!("bootstrapping {image} from Debian's packages"), SECONDS);
    // The script stops, and cleans up after itself, when its stdin ends: that also happens when this process is killed.
    let mut child = Command::new("sh")
        .args(["-c", BOOTSTRAP, "bootstrap.sh", "--until-eof", suite])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting the bootstrap script")?;
    let messages = child.stderr.take().context("the bootstrap has no stderr")?;
    let (imported, last) = tokio::join!(engine.import(image, "base", child), last_lines(messages));
    imported.with_context(|| format!("bootstrapping Debian's {suite}; its last lines were\n{last}\n"))
}

async fn last_lines(messages: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut last = std::collections::VecDeque::new();
    let mut lines = BufReader::new(messages).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        last.push_back(format!("  | {line}"));
        if last.len() > 15 {
            last.pop_front();
        }
    }
    last.into_iter().collect::<Vec<_>>().join("\n")
}
