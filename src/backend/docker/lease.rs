//! A run's lease: a container that runs as long as the orchestrator lives. It shows on the engine that the run goes on,
//! for runs of other machines, containers and temporary folders too.
//!
//! Its stdin is attached to the orchestrator, which writes a heartbeat. It ends by itself when its stdin does (the
//! orchestrator has died), or after a minute without a heartbeat (a connection that broke without an end).

use super::confinement;
use super::sweep::{self, RUN_LABEL};
use anyhow::{Context, Result};
use futures_util::StreamExt;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::container::AttachContainerResults;
use testcontainers::bollard::models::{
    ContainerCreateBody, ContainerSummary, ContainerSummaryStateEnum as State, HostConfig,
};
use testcontainers::bollard::query_parameters::{
    AttachContainerOptions, CreateContainerOptions, RemoveContainerOptions, StartContainerOptions,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

/// Label of a lease's container.
const LEASE_LABEL: &str = "zooquake.lease";

/// How often the orchestrator says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long a lease lasts without a heartbeat: a stopped orchestrator that goes on within this keeps it.
const LASTS: Duration = Duration::from_secs(60);

/// Pause before a lease that has ended is taken again.
const AGAIN: Duration = Duration::from_secs(2);

/// A lease whose orchestrator has died runs no longer than this.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

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
            ..HostConfig::default()
        };
        confinement::LEASE.apply(&mut host_config);
        let labels = [(RUN_LABEL, run), (LEASE_LABEL, run)];
        let body = ContainerCreateBody {
            image: Some(image.to_string()),
            entrypoint: Some(vec!["zooquake".to_string(), "lease".to_string()]),
            cmd: Some(Vec::new()),
            user: confinement::LEASE.user.map(str::to_string),
            labels: Some(labels.map(|(name, value)| (name.to_string(), value.to_string())).into()),
            // Once: its stdin ends with the first connection to it.
            open_stdin: Some(true),
            stdin_once: Some(true),
            attach_stdin: Some(true),
            host_config: Some(host_config),
            ..ContainerCreateBody::default()
        };
        let options = CreateContainerOptions {
            name: Some(format!("zooquake-{run}-lease")),
            ..CreateContainerOptions::default()
        };
        let made = docker.create_container(Some(options), body).await;
        let id = made
            .with_context(|| format!("creating the lease of the run from {image}"))?
            .id;
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
        match self.docker.remove_container(&self.id, Some(options)).await {
            Err(error) if !sweep::gone(&error) => Err(error).context("removing the run's lease"),
            _ => Ok(()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Keeps the lease running until the task is aborted. One that ended although this program lives (it was stopped for too
/// long, the connection broke) is taken again.
async fn keep(docker: Docker, id: String) {
    let mut held = true;
    loop {
        let ended = beat(&docker, &id).await;
        if let Err(error) = &ended
            && held
        {
            eprintln!("zooquake: the run's lease does not hold, `zooquake clean` takes it for dead: {error:#}");
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
            // It says nothing: this is its end.
            _ = output.next() => return Ok(()),
        }
    }
}

/// The program in the container: returns when its stdin ends, or after a minute without anything to read.
pub async fn hold() {
    let (mut stdin, mut buffer) = (tokio::io::stdin(), [0; 64]);
    while let Ok(Ok(1..)) = tokio::time::timeout(LASTS, stdin.read(&mut buffer)).await {}
}

/// Whether a container is a lease.
pub fn is_lease(container: &ContainerSummary) -> bool {
    let labels = container.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(LEASE_LABEL))
}

/// Ids of the runs that go on. Takes a moment if there is any: a lease whose orchestrator has just died is waited for, and
/// one that was just made.
///
/// # Errors
/// If the engine does not answer.
pub async fn alive(docker: &Docker) -> Result<BTreeSet<String>> {
    let begun = Instant::now();
    loop {
        let containers = sweep::containers(docker, None).await?;
        let leases: Vec<&ContainerSummary> = containers.iter().filter(|one| is_lease(one)).collect();
        let in_state = |states: &[State]| {
            let found = leases
                .iter()
                .filter(|lease| lease.state.is_some_and(|state| states.contains(&state)));
            let run = |labels: &HashMap<String, String>| labels.get(RUN_LABEL).cloned();
            found
                .filter_map(|lease| run(lease.labels.as_ref()?))
                .collect::<BTreeSet<String>>()
        };
        let (runs, begins) = (in_state(&[State::RUNNING, State::PAUSED]), in_state(&[State::CREATED]));
        let settled = match begins.is_empty() {
            true => runs.is_empty() || begun.elapsed() >= ENDS_WITHIN,
            false => begun.elapsed() >= BEGINS_WITHIN,
        };
        if settled {
            return Ok(runs);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
