//! The image of the browser that zooquake's own tests open reports in.

use anyhow::{Context as _, Result};
use testcontainers::bollard::Docker;

use super::engine::ContainerEngine;
use super::host::ProxySettings;
use super::lock::Lock;
use super::{DEFAULT_SUITE, InventoryEntry, context};

/// Makes sure that the image of the browser is there. No run uses it, so [`super::ensure()`] does not ask for it.
///
/// # Errors
/// If no engine answers, or the image cannot be built.
pub async fn chromium(docker: &Docker) -> Result<InventoryEntry> {
    let engine = ContainerEngine::new(docker);
    let name = format!("zooquake-chromium:{DEFAULT_SUITE}-{}", context::CHROMIUM.tag());
    if !engine.has(&name).await? {
        let _lock = Lock::acquire(&name).await?;
        let host = ProxySettings::look().await;
        let built = context::CHROMIUM.build(&engine, &name, DEFAULT_SUITE, &host).await;
        built.context(
            "no image of the browser. The way out: prepare it on a machine that reaches Debian's packages with \
             `zooquake images --chromium`, and carry it over with `docker save` and `docker load`",
        )?;
    }
    InventoryEntry::built(&engine, "chromium", name).await
}
