//! The image that recipe clients and fault sidecars run in: network tools, and on top of them this very executable.

use anyhow::{Context as _, Result};

use super::engine::ContainerEngine;
use super::executable::Executable;
use super::host::ProxySettings;
use super::lock::Lock;
use super::{DEFAULT_SUITE, base_image, context};

/// Older executables' images are kept up to this number: another zooquake on this machine may be about to use its own.
const KEPT: usize = 4;

/// How long it takes to pack the executable, about.
const SECONDS: u64 = 3;

/// How long it takes to build what it is packed on, about.
const BASE_SECONDS: u64 = 10;

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
                missing.push(BASE_SECONDS);
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
            self.build_base(engine, host).await.context(
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
        self.remove_outdated(engine).await;
        Ok(())
    }

    /// Builds what the executable is packed on, unless another process has built it while this one waited for the lock.
    async fn build_base(&self, engine: &ContainerEngine, host: &ProxySettings) -> Result<()> {
        let _lock = Lock::acquire(&self.base).await?;
        if engine.has(&self.base).await? {
            return Ok(());
        }
        let debian = base_image::ensure(engine, DEFAULT_SUITE).await?;
        engine.begin(&format!("building {} from Debian's packages", self.base), BASE_SECONDS);
        engine.build(&self.base, &debian, context::TOOLS.tar()?, host).await
    }

    /// Each rebuild of zooquake makes an image; all but the newest go, unless a container has one of them.
    async fn remove_outdated(&self, engine: &ContainerEngine) {
        let Ok(images) = engine.ours(Some("tools")).await else {
            return;
        };
        let outdated = images
            .iter()
            .filter(|image| !image.repo_tags.contains(&self.image))
            .skip(KEPT);
        for image in outdated {
            // In use, or gone meanwhile: either way nothing to do about it now.
            let _ = engine.remove(&image.id).await;
        }
    }
}
