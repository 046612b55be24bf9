//! Labels on everything that a run creates, and the sweep that removes it by them.

use anyhow::{Context, Result};
use futures_util::future::join_all;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::ContainerSummary;
use testcontainers::bollard::query_parameters::{
    ListContainersOptions, ListNetworksOptions, ListVolumesOptions, RemoveContainerOptions, RemoveVolumeOptions,
};

/// Label that every container, network and volume of a run carries; its value is the run's id.
pub const RUN_LABEL: &str = "zooquake.run";

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Containers.
    pub containers: usize,
    /// Networks.
    pub networks: usize,
    /// Volumes.
    pub volumes: usize,
}

fn filter(run: Option<&str>) -> Option<HashMap<String, Vec<String>>> {
    let label = match run {
        Some(id) => format!("{RUN_LABEL}={id}"),
        None => RUN_LABEL.to_string(),
    };
    Some(HashMap::from([("label".to_string(), vec![label])]))
}

/// Ids of all runs that have a container or a network here.
///
/// # Errors
/// If the engine does not answer.
pub async fn runs(docker: &Docker) -> Result<BTreeSet<String>> {
    let label = |labels: Option<HashMap<String, String>>| labels.and_then(|mut labels| labels.remove(RUN_LABEL));
    let found = containers(docker, None)
        .await?
        .into_iter()
        .filter_map(|container| label(container.labels));
    let networks = docker
        .list_networks(Some(ListNetworksOptions { filters: filter(None) }))
        .await
        .context("listing the networks of zooquake")?;
    Ok(found
        .chain(networks.into_iter().filter_map(|network| label(network.labels)))
        .collect())
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
    docker
        .list_containers(Some(options))
        .await
        .context("listing the containers of zooquake")
}

/// Removes containers (also paused ones and those that never started), their volumes, then networks, of one run or of
/// all runs.
///
/// # Errors
/// If something cannot be removed; everything else is removed all the same.
pub async fn sweep(docker: &Docker, run: Option<&str>) -> Result<Swept> {
    let found = containers(docker, run).await?;
    let force = || {
        Some(RemoveContainerOptions {
            force: true,
            v: true,
            ..Default::default()
        })
    };
    let ids: Vec<String> = found.into_iter().filter_map(|c| c.id).collect();
    let removed = join_all(ids.iter().map(|id| docker.remove_container(id, force()))).await;
    let mut problems: Vec<String> = Vec::new();
    // A container that another sweep has removed meanwhile is as gone as we want it.
    for (id, result) in ids.iter().zip(removed) {
        if let Err(error) = result
            && !gone(&error)
        {
            problems.push(format!("container {id}: {error}"));
        }
    }
    let networks = docker
        .list_networks(Some(ListNetworksOptions { filters: filter(run) }))
        .await
        .context("listing the networks of zooquake")?;
    let names: Vec<String> = networks.into_iter().filter_map(|n| n.id).collect();
    for name in &names {
        if let Err(error) = docker.remove_network(name).await
            && !gone(&error)
        {
            problems.push(format!("network {name}: {error}"));
        }
    }
    let volumes = docker
        .list_volumes(Some(ListVolumesOptions { filters: filter(run) }))
        .await
        .context("listing the volumes of zooquake")?
        .volumes
        .unwrap_or_default();
    for volume in &volumes {
        if let Err(error) = docker.remove_volume(&volume.name, None::<RemoveVolumeOptions>).await
            && !gone(&error)
        {
            problems.push(format!("volume {}: {error}", volume.name));
        }
    }
    anyhow::ensure!(
        problems.is_empty(),
        "could not remove everything:\n{}",
        problems.join("\n")
    );
    Ok(Swept {
        containers: ids.len(),
        networks: names.len(),
        volumes: volumes.len(),
    })
}

/// Whether the engine says that the thing is not there any more, or is being removed by somebody else.
fn gone(error: &testcontainers::bollard::errors::Error) -> bool {
    use testcontainers::bollard::errors::Error::DockerResponseServerError;
    matches!(error, DockerResponseServerError { message, .. }
        if ["No such", "not found", "already in progress"].iter().any(|sign| message.contains(sign)))
}
