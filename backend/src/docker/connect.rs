//! The Docker engine.

use super::engine::{self, Address, tried};
use crate::retry::again;
use anyhow::{Context, Result};
use std::time::Duration;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;

/// An engine that lives answers within this time.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Connects to the Docker engine that `DOCKER_HOST` names, or whose socket is there.
///
/// # Errors
/// If none answers; the message names the address that was tried and the remedy.
pub async fn connect() -> Result<Docker> {
    let help = || {
        format!(
            "no Docker engine answers at {}. zooquake runs ZooKeeper and its clients in containers: start the \
             engine (`systemctl start docker`, or `dockerd &`), or point DOCKER_HOST at one, and see that `docker info` \
             answers",
            tried()
        )
    };
    let address = Address::find().with_context(help)?;
    answering(address).await.with_context(help)
}

/// Connects to the Docker engine of one of several hosts, which has the address `given` for users.
///
/// # Errors
/// If it does not answer.
pub async fn to(address: Address, given: &str) -> Result<Docker> {
    let help = || format!("no Docker engine answers there: see that `docker -H {given} info` answers");
    answering(address).await.with_context(help)
}

async fn answering(address: Address) -> Result<Docker, Error> {
    let docker = engine::client(address)?;
    let ping = || async {
        let answer = tokio::time::timeout(ANSWERS_WITHIN, docker.ping()).await;
        answer.unwrap_or(Err(Error::RequestTimeoutError))
    };
    again(ping).await?;
    Ok(docker)
}
