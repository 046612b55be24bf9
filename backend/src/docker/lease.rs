//! A run's lease: a container that runs as long as the orchestrator lives. It shows on the engine that the run goes on,
//! for runs of other machines, containers and temporary folders too.
//!
//! Its stdin is attached to the orchestrator, which writes a heartbeat, and the lease writes it to its stdout. It ends
//! by itself when its stdin does (the orchestrator has died), or after a minute without a heartbeat (a connection that
//! broke without an end, or an end that the engine has lost).

use super::confinement;
use super::labels::{LEASE_LABEL, RUN_LABEL, is_lease, of_run};
use super::sweep;
use crate::retry::{again, create};
use anyhow::{Context, Result};
use futures_util::StreamExt;
use futures_util::future::join_all;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::container::AttachContainerResults;
use testcontainers::bollard::models::{
    ContainerCreateBody, ContainerSummary, ContainerSummaryStateEnum as State, HostConfig, HostConfigLogConfig,
};
use testcontainers::bollard::query_parameters::{
    AttachContainerOptions, InspectContainerOptions, LogsOptions, RemoveContainerOptions, StartContainerOptions,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

/// Interval of the orchestrator's heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long a lease lasts without a heartbeat: a stopped orchestrator that goes on within this keeps it.
const LASTS: Duration = Duration::from_secs(60);

/// Pause before a lease that has ended is taken again.
const AGAIN: Duration = Duration::from_secs(2);

/// A lease writes a heartbeat or ends within this time; the rest is for the engine.
const DECIDES_WITHIN: Duration = LASTS.saturating_add(HEARTBEAT);

/// A longer wait is logged.
const PATIENCE: Duration = HEARTBEAT.saturating_mul(5);

/// Between two heartbeats of an orchestrator that lives, at the least. One that comes sooner, or alone, may have been
/// on its way when the orchestrator died.
const APART: Duration = HEARTBEAT.saturating_sub(Duration::from_secs(1));

/// A lease that was made runs after this time, unless its orchestrator died in between.
const BEGINS_WITHIN: Duration = Duration::from_secs(10);

/// A run's hold on its lease; dropping it ends the lease.
#[derive(Debug)]
pub struct Lease {
    docker: Docker,
    id: String,
    beating: JoinHandle<()>,
}

impl Lease {
    /// Makes the lease of a run; must come before anything else that carries the run's label. It is started in the
    /// background, beside what else the run starts.
    ///
    /// # Errors
    /// If its container cannot be made.
    pub async fn take(docker: &Docker, run: &str, image: &str) -> Result<Self> {
        let mut host_config = HostConfig {
            network_mode: Some("none".to_string()),
            // Heartbeats are read from its log, whatever the engine's own driver is.
            log_config: Some(HostConfigLogConfig {
                typ: Some("json-file".to_string()),
                config: None,
            }),
            ..HostConfig::default()
        };
        confinement::LEASE.apply(&mut host_config);
        let mut labels = of_run(run);
        labels.insert(LEASE_LABEL.to_string(), run.to_string());
        let body = ContainerCreateBody {
            image: Some(image.to_string()),
            entrypoint: Some(vec!["zooquake".to_string(), "lease".to_string()]),
            cmd: Some(Vec::new()),
            user: confinement::LEASE.user.map(str::to_string),
            labels: Some(labels),
            // Once: its stdin ends with the first connection to it.
            open_stdin: Some(true),
            stdin_once: Some(true),
            attach_stdin: Some(true),
            host_config: Some(host_config),
            ..ContainerCreateBody::default()
        };
        let id = create(docker, &format!("zooquake-{run}-lease"), &body)
            .await
            .with_context(|| format!("creating the lease of the run from {image}"))?;
        let beating = tokio::spawn(keep(docker.clone(), id.clone()));
        Ok(Self {
            docker: docker.clone(),
            id,
            beating,
        })
    }

    /// Ends the lease and removes its container.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub async fn end(self) -> Result<()> {
        self.beating.abort();
        let options = RemoveContainerOptions {
            force: true,
            ..RemoveContainerOptions::default()
        };
        match again(|| self.docker.remove_container(&self.id, Some(options.clone()))).await {
            Err(error) if !sweep::gone(&error) && !sweep::going(&error) => {
                Err(error).context("removing the run's lease")
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Keeps the lease running until the task is aborted. One that ended although this program lives (it was stopped for
/// too long, the connection broke) is taken again.
async fn keep(docker: Docker, id: String) {
    let mut held = true;
    loop {
        let ended = beat(&docker, &id).await;
        if let Err(error) = &ended
            && held
        {
            log::warn!("the run's lease does not hold, `zooquake clean` takes it for dead: {error:#}");
        }
        held = ended.is_ok();
        tokio::time::sleep(AGAIN).await;
    }
}

/// Starts the lease and writes heartbeats until it ends.
async fn beat(docker: &Docker, id: &str) -> Result<()> {
    let options = AttachContainerOptions {
        stream: true,
        stdin: true,
        stdout: true,
        ..AttachContainerOptions::default()
    };
    let AttachContainerResults { mut output, mut input } = docker
        .attach_container(id, Some(options))
        .await
        .context("attaching to it")?;
    docker
        .start_container(id, None::<StartContainerOptions>)
        .await
        .context("starting it")?;
    let mut beats = tokio::time::interval(HEARTBEAT);
    loop {
        tokio::select! {
            _ = beats.tick() => {
                input.write_all(b"\n").await.context("writing a heartbeat")?;
                input.flush().await.context("writing a heartbeat")?;
            }
            said = output.next() => match said {
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return Ok(()),
            },
        }
    }
}

/// The program in the container: writes what it reads, and returns when its stdin ends, or after a minute without
/// anything to read.
///
/// # Errors
/// If its stdout cannot be written.
pub async fn hold() -> Result<()> {
    let (mut stdin, mut stdout, mut buffer) = (tokio::io::stdin(), tokio::io::stdout(), [0; 64]);
    while let Ok(Ok(read @ 1..)) = tokio::time::timeout(LASTS, stdin.read(&mut buffer)).await {
        stdout.write_all(&buffer[..read]).await.context("writing a heartbeat")?;
        stdout.flush().await.context("writing a heartbeat")?;
    }
    Ok(())
}

/// Ids of the runs that go on; of one run alone, if it is given. Waits for two heartbeats of each lease that runs, or
/// its end: up to four seconds where the orchestrator lives, mostly at once where it has died, and a minute where the
/// engine did not end the lease's stdin, or the orchestrator is stopped. A lease that does neither is alive.
///
/// # Errors
/// If the engine does not answer.
pub async fn alive(docker: &Docker, run: Option<&str>) -> Result<BTreeSet<String>> {
    let deciding = begun(docker, run).await?.into_iter().map(|(id, run)| async move {
        let beats = beats(docker, &id);
        tokio::pin!(beats);
        let decided = match tokio::time::timeout(PATIENCE, &mut beats).await {
            Ok(decided) => decided,
            Err(_) => {
                log::warn!("waiting up to a minute for the lease of the run {run} to show a heartbeat or end");
                tokio::time::timeout(DECIDES_WITHIN, beats).await.unwrap_or(true)
            }
        };
        decided.then_some(run)
    });
    Ok(join_all(deciding).await.into_iter().flatten().collect())
}

/// The containers and the runs of the leases that run. One that was just made is waited for.
async fn begun(docker: &Docker, run: Option<&str>) -> Result<Vec<(String, String)>> {
    let since = Instant::now();
    loop {
        let mut leases = sweep::containers(docker, run).await?;
        leases.retain(is_lease);
        if since.elapsed() >= BEGINS_WITHIN || leases.iter().all(|lease| lease.state != Some(State::CREATED)) {
            leases.retain(|lease| matches!(lease.state, Some(State::RUNNING | State::PAUSED)));
            let known = |lease: ContainerSummary| Some((lease.id?, lease.labels?.remove(RUN_LABEL)?));
            return Ok(leases.into_iter().filter_map(known).collect());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Whether a lease shows two heartbeats, one after the other, before it ends.
async fn beats(docker: &Docker, id: &str) -> bool {
    let mut first = None;
    loop {
        let options = LogsOptions {
            follow: true,
            stdout: true,
            tail: "0".to_string(),
            ..LogsOptions::default()
        };
        let mut said = std::pin::pin!(docker.logs(id, Some(options)));
        while let Some(Ok(_)) = said.next().await {
            if first.get_or_insert_with(Instant::now).elapsed() >= APART {
                return true;
            }
        }
        // The engine may also end or fail to read the log of a lease that runs.
        let runs = match docker.inspect_container(id, None::<InspectContainerOptions>).await {
            Ok(lease) => lease.state.and_then(|state| state.running) == Some(true),
            Err(error) => !sweep::gone(&error),
        };
        if !runs {
            return false;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
