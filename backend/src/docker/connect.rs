//! The Docker engine.

use anyhow::{Context, Result};
use std::time::Duration;
use testcontainers::bollard::Docker;

/// Where a Docker engine is looked for.
pub fn tried() -> String {
    std::env::var("DOCKER_HOST").unwrap_or_else(|_| "unix:///var/run/docker.sock".to_string())
}

/// Connects to the Docker engine that testcontainers finds.
///
/// # Errors
/// If none answers; the message says what was tried and what to do.
pub async fn connect() -> Result<Docker> {
    let tried = tried();
    let help = || {
        format!(
            "no Docker engine answers at {tried}. zooquake runs ZooKeeper and its clients in containers: start the \
             engine (`systemctl start docker`, or `dockerd &`), or point DOCKER_HOST at one, and see that `docker info` \
             answers"
        )
    };
    let docker = testcontainers::core::client::docker_client_instance()
        .await
        .with_context(help)?;
    tokio::time::timeout(Duration::from_secs(5), docker.ping())
        .await
        .with_context(|| format!("{} (waited 5 s)", help()))?
        .with_context(help)?;
    Ok(docker)
}
