//! The container images a run needs: one for ZooKeeper servers, one for clients and sidecars, one for the clients of a
//! user's own recipe; and the browser of our own tests.
//!
//! An image is looked for locally, then pulled, then built from a Dockerfile compiled in, on a base that is itself
//! looked for, pulled or bootstrapped from Debian's packages: a bare machine without a registry needs nothing
//! prepared.

use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use testcontainers::bollard::Docker;

mod base_image;
mod chromium;
mod context;
mod engine;
mod executable;
mod hash;
mod host;
mod inventory;
pub mod libraries;
mod lock;
mod recipe;
mod source;
mod source_file;
mod tools;
mod zookeeper;

pub use inventory::{InventoryEntry, Removal};

pub(crate) use chromium::chromium;
pub(crate) use inventory::{remove_all, status};
pub(crate) use recipe::{client_base, id, recipe};
pub use source::{Source, is_below};
pub use source_file::SourceFile;

use engine::ContainerEngine;
use host::ProxySettings;
use tools::Tools;

/// The suite of Debian whose packages make our images unless the user asks for another.
pub const DEFAULT_SUITE: &str = "bookworm";

/// What the user wants to run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageRequest {
    /// A ZooKeeper image by name; nothing else will do then.
    pub zookeeper: Option<String>,
    /// ZooKeeper as this suite of Debian has it (`bookworm`: 3.8.0, `trixie`: 3.9.3); nothing else will do then either.
    /// Without it the official image is taken where there is one.
    pub suite: Option<String>,
}

impl ImageRequest {
    /// The names that stand for ZooKeeper as a suite of Debian packages it.
    pub const SUITES: [&'static str; 2] = ["bookworm", "trixie"];

    /// What a name on the command line, or in a plan, asks for: a suite, or else an image; `None` leaves the choice to
    /// us.
    pub fn from_name(name: Option<&str>) -> Self {
        let is_suite = |name: &&str| Self::SUITES.contains(name);
        Self {
            zookeeper: name.filter(|name| !is_suite(name)).map(str::to_owned),
            suite: name.filter(is_suite).map(str::to_owned),
        }
    }

    /// A suite becomes part of a tag and of a command, so it had better be one.
    fn validate(&self) -> Result<()> {
        let suite = self.suite.as_deref().unwrap_or(DEFAULT_SUITE);
        ensure!(
            !suite.is_empty() && suite.bytes().all(|byte| byte.is_ascii_lowercase()),
            "`{suite}` is not a suite of Debian; try bookworm or trixie"
        );
        Ok(())
    }
}

/// Whether this may be the name of an image, or of a suite: nothing else is shown, or handed to an engine.
pub fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b);
    name.len() <= 255 && name.bytes().all(plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Names of images that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// For ZooKeeper servers. Started with `/docker-entrypoint.sh zkServer.sh start-foreground`, ours or not.
    pub zookeeper: String,
    /// For clients and sidecars: iptables, ip and tc, and this executable as `zooquake` on the PATH.
    pub tools: String,
}

/// Makes sure that the images are there, and names them.
///
/// Costs a few milliseconds when they are: call it before every run, because another zooquake on the machine removes
/// outdated images of the executable. Dropping the future stops builds and cleans up.
pub(crate) async fn ensure(docker: &Docker, request: &ImageRequest) -> Result<Images> {
    request.validate()?;
    let engine = ContainerEngine::new(docker);
    let tools = Tools::running()?;
    if let Some(zookeeper) = engine.first_of(zookeeper::candidates(request)).await?
        && engine.has(&tools.image).await?
    {
        return Ok(Images {
            zookeeper,
            tools: tools.image,
        });
    }
    let host = ProxySettings::look().await;
    // An engine that does not answer here is reported by the step below that needs it.
    if let Ok(seconds) = missing(&engine, request, &tools).await {
        engine.plan(&seconds);
    }
    let zookeeper = zookeeper::ensure(&engine, request, &host).await?;
    tools.ensure(&engine, &host).await?;
    Ok(Images {
        zookeeper,
        tools: tools.image,
    })
}

/// How many seconds each image takes, about, that is missing and can be built, with the bases under them.
async fn missing(engine: &ContainerEngine, request: &ImageRequest, tools: &Tools) -> Result<Vec<u64>> {
    let mut missing = tools.missing(engine).await?;
    let mut suites = BTreeSet::new();
    if missing.len() > 1 {
        suites.insert(DEFAULT_SUITE);
    }
    if request.zookeeper.is_none() && engine.first_of(zookeeper::candidates(request)).await?.is_none() {
        missing.push(context::ZOOKEEPER.seconds);
        suites.insert(request.suite.as_deref().unwrap_or(DEFAULT_SUITE));
    }
    for suite in suites {
        missing.extend(base_image::missing(engine, suite).await?);
    }
    Ok(missing)
}

/// The image that a request names and that is not there: it would be pulled. `None` if it is, or none is named.
///
/// # Errors
/// If no engine answers.
pub(crate) async fn to_pull(docker: &Docker, request: &ImageRequest) -> Result<Option<String>> {
    let engine = ContainerEngine::new(docker);
    match &request.zookeeper {
        Some(image) if !engine.has(image).await? => Ok(Some(image.clone())),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::ImageRequest;

    #[test]
    fn a_suite_is_no_image() {
        let asked = |name| {
            let ImageRequest { zookeeper, suite } = ImageRequest::from_name(name);
            (zookeeper, suite)
        };
        assert_eq!(asked(None), (None, None));
        assert_eq!(asked(Some("trixie")), (None, Some("trixie".into())));
        assert_eq!(asked(Some("zookeeper:3.9")), (Some("zookeeper:3.9".into()), None));
    }
}
