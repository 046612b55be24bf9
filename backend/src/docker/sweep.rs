//! The sweep that removes what a run has created, by its label.

use super::labels::{RUN_LABEL, filter, is_lease};
use crate::retry::again;
use anyhow::{Context, Result};
use futures_util::future::join_all;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::{ContainerSummary, Network, NetworkDisconnectRequest};
use testcontainers::bollard::query_parameters::{
    InspectNetworkOptions, ListContainersOptions, ListNetworksOptions, ListVolumesOptions, RemoveContainerOptions,
    RemoveVolumeOptions,
};

/// How often what cannot be removed is tried again.
const ATTEMPTS: usize = 4;

/// Pause before the next attempt. After it a request that a program sent before it died has mostly been carried out.
const BETWEEN: Duration = Duration::from_secs(1);

/// After this time nothing is tried again: the engine does not answer.
const LONG: Duration = Duration::from_secs(90);

/// What a run has on the engine, or what a sweep removed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SweepCount {
    /// Containers.
    pub containers: usize,
    /// Networks.
    pub networks: usize,
    /// Volumes.
    pub volumes: usize,
    /// Endpoints of other containers, or of none any more, that kept a network.
    pub disconnected: usize,
    /// Networks that the engine keeps although it lists nothing in them, by name; a later run uses them again.
    pub kept: Vec<String>,
    /// What is left, each with the reason.
    #[serde(skip)]
    pub left: Vec<String>,
}

impl SweepCount {
    /// An error that names what is left, if anything is.
    ///
    /// # Errors
    /// If something is left.
    pub fn complete(self) -> Result<()> {
        anyhow::ensure!(
            self.left.is_empty(),
            "could not remove everything:\n{}",
            self.left.join("\n")
        );
        Ok(())
    }

    /// What a pass that failed comes to.
    fn failed(error: anyhow::Error) -> Self {
        Self {
            left: vec![format!("{error:#}")],
            ..Self::default()
        }
    }

    fn is_nothing(&self) -> bool {
        self.containers + self.networks + self.volumes + self.left.len() + self.kept.len() == 0
    }

    /// Adds what a later pass removed; what is left is what that one has left.
    fn and_then(&mut self, later: Self) {
        self.containers += later.containers;
        self.networks += later.networks;
        self.volumes += later.volumes;
        self.disconnected += later.disconnected;
        self.kept = later.kept;
        self.left = later.left;
    }
}

/// Ids of all runs that have a container, a network or a volume here.
///
/// # Errors
/// If the engine does not answer.
pub async fn runs(docker: &Docker) -> Result<BTreeSet<String>> {
    let label = |mut labels: HashMap<String, String>| labels.remove(RUN_LABEL);
    let containers = containers(docker, None).await?.into_iter().filter_map(|one| one.labels);
    let networks = networks(docker, None)
        .await
        .context("listing the networks of zooquake")?;
    let networks = networks.into_iter().filter_map(|one| one.labels);
    let volumes = volumes(docker, None).await?.into_iter().map(|(_, labels)| labels);
    Ok(containers.chain(networks).chain(volumes).filter_map(label).collect())
}

/// Lists the containers of one run, or of all runs, whatever their state.
///
/// # Errors
/// If the engine does not answer.
pub async fn containers(docker: &Docker, run: Option<&str>) -> Result<Vec<ContainerSummary>> {
    let options = ListContainersOptions {
        all: true,
        filters: filter(run),
        ..Default::default()
    };
    again(|| docker.list_containers(Some(options.clone())))
        .await
        .context("listing the containers of zooquake")
}

/// Lists the networks of one run, or of all runs.
///
/// # Errors
/// If the engine does not answer.
pub async fn networks(docker: &Docker, run: Option<&str>) -> Result<Vec<Network>, Error> {
    again(|| docker.list_networks(Some(ListNetworksOptions { filters: filter(run) }))).await
}

/// Names and labels of volumes.
async fn volumes(docker: &Docker, run: Option<&str>) -> Result<Vec<(String, HashMap<String, String>)>> {
    let found = again(|| docker.list_volumes(Some(ListVolumesOptions { filters: filter(run) })))
        .await
        .context("listing the volumes of zooquake")?;
    let found = found.volumes.unwrap_or_default().into_iter();
    Ok(found.map(|volume| (volume.name, volume.labels)).collect())
}

/// What a run has on the engine.
///
/// # Errors
/// If the engine does not answer.
pub async fn inventory(docker: &Docker, run: &str) -> Result<SweepCount> {
    Ok(SweepCount {
        containers: containers(docker, Some(run)).await?.len(),
        networks: networks(docker, Some(run)).await.context("listing its networks")?.len(),
        volumes: volumes(docker, Some(run)).await?.len(),
        ..SweepCount::default()
    })
}

/// Removes the cluster of a run that goes on: everything but its lease.
///
/// # Errors
/// If something is left after several attempts.
pub async fn cluster(docker: &Docker, run: &str) -> Result<()> {
    let (mut swept, begun) = (SweepCount::default(), Instant::now());
    for _ in 0..ATTEMPTS {
        let now = pass(docker, run, true).await.unwrap_or_else(SweepCount::failed);
        // A list that was damaged on its way may have named what is not there, which counts as removed.
        let (quiet, rest) = (now.is_nothing(), !(now.left.is_empty() && now.kept.is_empty()));
        swept.and_then(now);
        if quiet || begun.elapsed() > LONG {
            break;
        }
        if rest {
            tokio::time::sleep(BETWEEN).await;
        }
    }
    for name in &swept.kept {
        log::info!("the engine keeps the network {name}, in which it lists nothing: a later run uses it again");
    }
    swept.complete()
}

/// Removes everything of runs whose programs have died or failed, and looks again until nothing turns up: the engine
/// may still be carrying out what they asked of it. What cannot be removed of one keeps none of the others.
pub async fn dead(docker: &Docker, runs: impl IntoIterator<Item = String>) -> BTreeMap<String, SweepCount> {
    let mut swept: BTreeMap<String, SweepCount> = runs.into_iter().map(|run| (run, SweepCount::default())).collect();
    let begun = Instant::now();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(BETWEEN).await;
        }
        let passes = swept
            .keys()
            .map(|run| async move { pass(docker, run, false).await.unwrap_or_else(SweepCount::failed) });
        let passes = join_all(passes).await;
        let quiet = passes.iter().all(SweepCount::is_nothing);
        swept.values_mut().zip(passes).for_each(|(all, now)| all.and_then(now));
        if quiet || begun.elapsed() > LONG {
            break;
        }
    }
    swept
}

/// The same for one run.
///
/// # Errors
/// If something is left.
pub async fn dead_run(docker: &Docker, run: &str) -> Result<()> {
    let mut swept = dead(docker, [run.to_string()]).await.into_values();
    swept.try_for_each(SweepCount::complete)
}

/// Removes containers (also paused ones and those that never started), their volumes, then networks.
async fn pass(docker: &Docker, run: &str, spare_lease: bool) -> Result<SweepCount> {
    let mut swept = SweepCount::default();
    let options = RemoveContainerOptions {
        force: true,
        v: true,
        ..Default::default()
    };
    let found = containers(docker, Some(run)).await?.into_iter();
    let ids: Vec<String> = found
        .filter(|container| !(spare_lease && is_lease(container)))
        .filter_map(|container| container.id)
        .collect();
    let removed = join_all(ids.iter().map(|id| docker.remove_container(id, Some(options.clone())))).await;
    for (id, result) in ids.iter().zip(removed) {
        swept.containers += count(&mut swept.left, &format!("container {id}"), result);
    }
    for network in networks(docker, Some(run)).await.context("listing its networks")? {
        let name = network.name.unwrap_or_default();
        let id = network.id.unwrap_or_else(|| name.clone());
        let mut result = docker.remove_network(&id).await;
        let inside = match result.as_ref().is_err_and(|error| !gone(error)) {
            true => endpoints(docker, &id).await.unwrap_or_default(),
            false => BTreeMap::new(),
        };
        // Another run uses it again.
        let used = !inside.is_empty() && of_other_runs(docker, run, &inside).await?;
        if !(inside.is_empty() || used) {
            swept.disconnected += disconnect(docker, &id, inside.values()).await;
            result = docker.remove_network(&id).await;
        }
        match used || inside.is_empty() && result.as_ref().is_err_and(miscounted) {
            true => swept.kept.push(name),
            false => swept.networks += count(&mut swept.left, &format!("network {name}"), result),
        }
    }
    for (name, _) in volumes(docker, Some(run)).await? {
        let result = docker.remove_volume(&name, None::<RemoveVolumeOptions>).await;
        swept.volumes += count(&mut swept.left, &format!("volume {name}"), result);
    }
    Ok(swept)
}

/// 1 if the thing was removed, 0 if it was gone already; notes any other error in `left`.
fn count(left: &mut Vec<String>, what: &str, result: Result<(), Error>) -> usize {
    match result {
        Ok(()) => 1,
        Err(error) if gone(&error) => 0,
        Err(error) => {
            left.push(format!("{what}: {error}"));
            0
        }
    }
}

/// What the engine lists in a network: the names by which it takes endpoints out, by the id of the container, or of the
/// endpoint that a crash of the engine left without one.
///
/// # Errors
/// If the engine does not answer.
pub async fn endpoints(docker: &Docker, network: &str) -> Result<BTreeMap<String, String>> {
    let details = again(|| docker.inspect_network(network, None::<InspectNetworkOptions>)).await;
    let inside = details.context("inspecting a network")?.containers.unwrap_or_default();
    let named = inside.into_iter().map(|(id, endpoint)| {
        let name = endpoint.name.filter(|name| !name.is_empty());
        (id.clone(), name.unwrap_or(id))
    });
    Ok(named.collect())
}

/// Whether a container of another run is among these endpoints.
async fn of_other_runs(docker: &Docker, run: &str, inside: &BTreeMap<String, String>) -> Result<bool> {
    let others = containers(docker, None).await?.into_iter().filter(|one| {
        let owner = one.labels.as_ref().and_then(|labels| labels.get(RUN_LABEL));
        owner.is_some_and(|owner| owner != run)
    });
    Ok(others.filter_map(|one| one.id).any(|id| inside.contains_key(&id)))
}

/// Takes endpoints out of a network by force: of containers that are not ours, and those that a crash of the engine
/// left without a container. Returns how many.
async fn disconnect(docker: &Docker, network: &str, names: impl Iterator<Item = &String>) -> usize {
    let mut disconnected = 0;
    for name in names {
        let request = NetworkDisconnectRequest {
            container: name.clone(),
            force: Some(true),
        };
        // What fails here shows when the network is removed.
        disconnected += usize::from(docker.disconnect_network(network, request).await.is_ok());
    }
    disconnected
}

/// Whether the engine refuses to remove a network because endpoints are in it. It may refuse so where it lists none,
/// because it has lost count: see [`super::run_network`].
pub(super) fn miscounted(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. } if message.contains("has active endpoints"))
}

/// Whether the engine's error means that the object does not exist any more.
pub(super) fn gone(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. }
        if ["No such", "not found"].iter().any(|sign| message.contains(sign)))
}
