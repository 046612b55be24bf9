//! The image that recipe clients and fault sidecars run in: network tools, and on top of them this very executable.

use anyhow::{Context as _, Result};

use super::engine::ContainerEngine;
use super::executable::Executable;
use super::host::ProxySettings;
use super::inventory::remove_outdated;
use super::lock::Lock;
use super::{DEFAULT_SUITE, context};

/// Older executables' images are kept up to this number: another zooquake on this machine may be about to use its own.
const KEPT: usize = 4;

/// How long it takes to pack the executable, about.
const SECONDS: u64 = 3;

/// The tools image that fits this process.
pub(super) struct Tools {
    /// Name of the image below, without the executable.
    base: String,
    /// Name of the image with the executable.
    pub(super) image: String,
    executable: Executable,
}

impl Tools {
    /// Reads the running executable and names the image it needs.
    pub(super) fn running() -> Result<Self> {
        let base = format!("zooquake-tools-base:{DEFAULT_SUITE}-{}", context::TOOLS.tag());
        let executable = Executable::running()?;
        let image = format!("zooquake-tools:{}", executable.tag(&base)?);
        Ok(Tools {
            base,
            image,
            executable,
        })
    }

    /// How long each of the two images takes to build, about, that is missing.
    pub(super) async fn missing(&self, engine: &ContainerEngine) -> Result<Vec<u64>> {
        let mut missing = Vec::new();
        if !engine.has(&self.image).await? {
            missing.push(SECONDS);
            if !engine.has(&self.base).await? {
                missing.push(context::TOOLS.seconds);
            }
        }
        Ok(missing)
    }

    /// Builds what is missing of the two images.
    pub(super) async fn ensure(&self, engine: &ContainerEngine, host: &ProxySettings) -> Result<()> {
        if engine.has(&self.image).await? {
            return Ok(());
        }
        if !engine.has(&self.base).await? {
            let built = async {
                let _lock = Lock::acquire(&self.base).await?;
                context::TOOLS.build(engine, &self.base, DEFAULT_SUITE, host).await
            };
            built.await.context(
                "no image for clients and sidecars. The way out: prepare it on a machine that reaches Debian's packages \
                 with `zooquake images`, and carry it over with `docker save` and `docker load`",
            )?;
        }
        let _lock = Lock::acquire(&self.image).await?;
        // Another process may have made it while this one waited.
        if engine.has(&self.image).await? {
            return Ok(());
        }
        engine.begin(&format!("packing this executable as {}", self.image), SECONDS);
        engine
            .build(&self.image, &self.base, self.executable.tar()?, host)
            .await?;
        // Each rebuild of zooquake makes an image; all but the newest go, unless a container has one of them.
        remove_outdated(engine, "tools", KEPT, |image| !image.repo_tags.contains(&self.image)).await;
        Ok(())
    }
}
