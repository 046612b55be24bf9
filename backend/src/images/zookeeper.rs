//! The image that ZooKeeper servers run in.

use anyhow::{Context as _, Result};

use super::engine::ContainerEngine;
use super::host::ProxySettings;
use super::lock::Lock;
use super::{DEFAULT_SUITE, ImageRequest, context};

/// The official image.
const OFFICIAL: &str = "zookeeper:3.9";

/// The tag of our own build for a suite of Debian.
fn built(suite: &str) -> String {
    format!("zooquake-zookeeper:{suite}-{}", context::ZOOKEEPER.tag())
}

/// Local images that answer a request, the best first.
pub(super) fn candidates(request: &ImageRequest) -> Vec<String> {
    match (&request.zookeeper, &request.suite) {
        (Some(image), _) => vec![image.clone()],
        (None, Some(suite)) => vec![built(suite)],
        (None, None) => vec![built(DEFAULT_SUITE), OFFICIAL.to_owned()],
    }
}

/// The image to use, pulled or built if it is not there.
pub(super) async fn ensure(engine: &ContainerEngine, request: &ImageRequest, host: &ProxySettings) -> Result<String> {
    if let Some(image) = engine.first_of(candidates(request)).await? {
        return Ok(image);
    }
    let suite = request.suite.as_deref().unwrap_or(DEFAULT_SUITE);
    let wanted = request.zookeeper.clone().unwrap_or_else(|| built(suite));
    let _lock = Lock::acquire(&wanted).await?;
    // Another process may have made it while this one waited.
    if let Some(image) = engine.first_of(candidates(request)).await? {
        return Ok(image);
    }
    if let Some(image) = &request.zookeeper {
        engine.pull(image).await.with_context(|| {
            format!(
                "the ZooKeeper image {image} is not there and could not be pulled. The way out: `docker load` it from a \
                 file, name another one with --zookeeper, or leave the option out to have one built"
            )
        })?;
        return Ok(image.clone());
    }
    if request.suite.is_none() {
        match engine.pull(OFFICIAL).await {
            Ok(()) => return Ok(OFFICIAL.to_owned()),
            Err(error) => log::info!("{OFFICIAL} cannot be pulled ({}), so one is built", error.root_cause()),
        }
    }
    let image = built(suite);
    let made = context::ZOOKEEPER.build(engine, &image, suite, host).await;
    made.with_context(|| {
        format!(
            "no ZooKeeper image: neither {OFFICIAL} nor one built by zooquake is there, and building one failed. The way \
             out: `docker load` the official image from a file made with `docker save {OFFICIAL}`, or name one that is \
             there with --zookeeper"
        )
    })?;
    Ok(image)
}
