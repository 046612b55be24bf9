//! The watcher: a process of its own that heals a run whose orchestrator has died, even by SIGKILL.

use super::hosts::SIDECAR_LABEL;
use super::machines::Machines;
use super::{exec, intents, sweep};
use anyhow::{Context, Result, anyhow, bail};
use futures_util::future::join_all;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::{ContainerSummary, ContainerSummaryStateEnum as State};
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

/// The orchestrator's end of the pipe to its watcher.
#[derive(Debug)]
pub struct Watcher {
    child: Child,
}

impl Watcher {
    /// Starts the watcher of a run that writes this history, if it writes one, and stands on these hosts, if these are
    /// several.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start(run: &str, history: Option<&Path>, hosts: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("finding our own executable")?;
        let mut command = Command::new(program);
        command
            .args(["watch", run])
            .args(history)
            .args(hosts.iter().map(|host| format!("--host={host}")))
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
        // It has a short way to its end, unless the engine does not answer, or it looks for a strike that was not seen:
        // then it is left to it.
        let begun = Instant::now();
        while begun.elapsed() < LEFT_AFTER && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// How long the end of a watcher is waited for.
const LEFT_AFTER: Duration = Duration::from_secs(10);

/// How long one host may take to heal. The engine never answers a request to a container that is removed meanwhile, as
/// `clean` does, and a night that is taken up again.
const HEALING: Duration = Duration::from_secs(30);

/// How long nothing must be found to heal, where the history has no strike that was begun and not seen: a request that
/// the orchestrator sent just before it died may be carried out after the first look.
const QUIET: Duration = Duration::from_secs(3);

/// Pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The whole time of healing. Where a strike was begun and not seen, it is looked for so long: an engine under load
/// took 20 s to pause a container.
const BOUND: Duration = Duration::from_secs(60);

/// The watcher's program: waits for the end of stdin, then heals what is left of the run.
///
/// # Errors
/// If the engine cannot be asked, or something stays paused or cut off.
pub async fn watch(run: &str, history: Option<&Path>, hosts: &[String]) -> Result<()> {
    // A closed terminal or a service that is stopped must not end the healing before the orchestrator has ended.
    let deaf_to = [SignalKind::hangup(), SignalKind::terminate(), SignalKind::interrupt()];
    let _deaf = deaf_to.map(signal);
    let mut pipe = tokio::io::stdin();
    let mut buffer = [0; 64];
    // Nothing is ever written: it ends when the orchestrator does.
    while pipe.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    let unseen = history.is_some_and(intents::unseen);
    let quiet = if unseen { BOUND } else { QUIET };
    if hosts.is_empty() {
        return heal(run, quiet, &[]).await;
    }
    // Each by itself: one that cannot be reached keeps no other one damaged.
    let each = hosts.iter().map(|host| heal(run, quiet, std::slice::from_ref(host)));
    join_all(each).await.into_iter().collect()
}

/// Thaws what is frozen, continues what is stopped and removes all network rules of a run on one machine, until there
/// was nothing of that kind for so long, or the run has no container that runs; at most for a minute.
///
/// # Errors
/// If something stays paused or cut off, or the engine does not answer, for a minute.
async fn heal(run: &str, quiet: Duration, hosts: &[String]) -> Result<()> {
    let begun = Instant::now();
    let mut quiet_since = begun;
    let mut connected = None;
    loop {
        let look = match &connected {
            Some(machines) => look(Machines::first(machines), run).await,
            None => match Machines::reach(hosts).await {
                Ok(machines) => {
                    connected = Some(machines);
                    continue;
                }
                Err(error) => Err(error),
            },
        };
        match &look {
            Ok(WatcherLook::NothingRuns) => return Ok(()),
            Ok(WatcherLook::Quiet) if quiet_since.elapsed() >= quiet => return Ok(()),
            Ok(WatcherLook::Quiet) => {}
            Ok(WatcherLook::Healed) | Err(_) => quiet_since = Instant::now(),
        }
        if begun.elapsed() > BOUND {
            return match look? {
                WatcherLook::Healed if quiet == QUIET => bail!("the run is damaged again and again"),
                // A strike that was looked for has come, and nothing is known of another.
                _ => Ok(()),
            };
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What a look at a run came to.
enum WatcherLook {
    /// It has no container that runs.
    NothingRuns,
    /// There was nothing to heal.
    Quiet,
    /// Something was healed.
    Healed,
}

/// Looks once at all containers of a run, and heals them.
async fn look(docker: &Docker, run: &str) -> Result<WatcherLook> {
    let containers = sweep::containers(docker, Some(run)).await?;
    let up = |one: &&ContainerSummary| matches!(one.state, Some(State::RUNNING | State::PAUSED));
    let up: Vec<&ContainerSummary> = containers.iter().filter(up).collect();
    if up.is_empty() {
        return Ok(WatcherLook::NothingRuns);
    }
    let healed = join_all(up.into_iter().map(|container| heal_container(docker, container))).await;
    let any = healed.iter().any(|healed| matches!(healed, Ok(true)));
    let problems: Vec<String> = healed
        .into_iter()
        .filter_map(Result::err)
        .map(|error| format!("{error:#}"))
        .collect();
    anyhow::ensure!(
        problems.is_empty(),
        "not everything is healed:\n{}",
        problems.join("\n")
    );
    Ok(if any { WatcherLook::Healed } else { WatcherLook::Quiet })
}

/// Heals one container; returns whether there was anything to heal.
async fn heal_container(docker: &Docker, container: &ContainerSummary) -> Result<bool> {
    let id = container.id.as_deref().unwrap_or_default();
    if container.state == Some(State::PAUSED) {
        docker
            .unpause_container(id)
            .await
            .with_context(|| format!("thawing {id}"))?;
        return Ok(true);
    }
    let labels = container.labels.as_ref();
    if !labels.is_some_and(|labels| labels.contains_key(SIDECAR_LABEL)) {
        return Ok(false);
    }
    let healed = exec::run(docker, id, &["zooquake", "heal-host"]);
    let said = tokio::time::timeout(HEALING, healed)
        .await
        .map_err(|_| anyhow!("no answer from {id} in {} s", HEALING.as_secs()))??;
    Ok(!said.is_empty())
}
