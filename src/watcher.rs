//! The watcher: a process of its own that heals a run whose orchestrator has died, even by SIGKILL.

use crate::cluster::{engine, exec, sweep};
use anyhow::{Context, Result, anyhow};
use futures_util::future::join_all;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The orchestrator's end of the pipe to its watcher.
#[derive(Debug)]
pub struct Watcher {
    child: Child,
}

impl Watcher {
    /// Starts the watcher of a run.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start(run: &str) -> Result<Self> {
        let program = std::env::current_exe().context("finding our own executable")?;
        let mut command = Command::new(program);
        command
            .args(["watch", run])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A group of its own: Ctrl-C in the terminal is for the orchestrator, which still needs its watcher.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .context("starting the watcher that heals after a crash")?;
        Ok(Self { child })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The end of its stdin: it finds nothing left to heal and goes.
        drop(self.child.stdin.take());
        // It has a short way to its end; if it cannot be waited for, it is gone already.
        let _ = self.child.wait();
    }
}

/// How long one host may take to heal. The engine never answers a request to a container that is removed meanwhile, as
/// `clean` does, and a night that is taken up again.
const HEALING: Duration = Duration::from_secs(30);

/// The watcher's program: waits for the end of stdin, then heals whatever is left of the run.
///
/// # Errors
/// If the engine cannot be asked, or something stays paused or cut off.
pub async fn watch(run: &str) -> Result<()> {
    let mut pipe = tokio::io::stdin();
    let mut buffer = [0; 64];
    // Nothing is ever written: it ends when the orchestrator does.
    while pipe.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    heal(run).await
}

/// Thaws what is frozen and removes all network rules of a run.
///
/// # Errors
/// If something stays paused or cut off.
pub async fn heal(run: &str) -> Result<()> {
    let docker = engine().await?;
    let containers = sweep::containers(&docker, Some(run)).await?;
    let mut problems = Vec::new();
    for container in &containers {
        let id = container.id.as_deref().unwrap_or_default();
        let paused = container
            .status
            .as_deref()
            .is_some_and(|status| status.contains("Paused"));
        if paused && let Err(error) = docker.unpause_container(id).await {
            problems.push(format!("thawing {id}: {error}"));
        }
    }
    let sidecar = |labels: &std::collections::HashMap<String, String>| labels.contains_key("zooquake.sidecar");
    let sidecars = containers
        .iter()
        .filter(|container| container.labels.as_ref().is_some_and(sidecar));
    let healed = join_all(sidecars.filter_map(|container| container.id.as_deref()).map(|id| {
        let docker = docker.clone();
        async move {
            let healed = exec::run(&docker, id, &["zooquake", "heal-network"]);
            match tokio::time::timeout(HEALING, healed).await {
                Ok(healed) => healed,
                Err(_) => Err(anyhow!("no answer from {id} in {} s", HEALING.as_secs())),
            }
        }
    }))
    .await;
    problems.extend(
        healed
            .into_iter()
            .filter_map(Result::err)
            .map(|error| format!("{error:#}")),
    );
    anyhow::ensure!(
        problems.is_empty(),
        "not everything is healed:\n{}",
        problems.join("\n")
    );
    Ok(())
}
