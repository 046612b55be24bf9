//! One pass of the sweep over all machines of a run.

use super::super::POLL;
use super::super::labels::{RUN_LABEL, is_lease};
use super::super::machines::Machines;
use super::{LONG, SweepCount, containers, going, gone, networks, volumes};
use crate::retry::again;
use anyhow::{Context, Result};
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::time::Instant;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::{ContainerSummary, NetworkDisconnectRequest};
use testcontainers::bollard::query_parameters::{
    InspectContainerOptions, InspectNetworkOptions, RemoveContainerOptions, RemoveVolumeOptions,
};

/// Removes containers (also paused ones and those that never started), their volumes, then networks.
///
/// Networks of a Swarm go once no machine has a container in them, so containers go first on all machines. Where an
/// engine does not answer, what is on its machine is left, which the result has with the reason.
pub async fn pass(machines: &Machines, run: &str, spare_lease: bool) -> SweepCount {
    let mut swept = SweepCount::default();
    let all = &machines.all;
    let removed = join_all(all.iter().map(|one| remove_containers(&one.docker, run, spare_lease))).await;
    let mut reached = Vec::new();
    for (machine, removed) in all.iter().zip(removed) {
        if removed.is_ok() {
            reached.push(machine);
        }
        swept.add(machine.explain(removed).unwrap_or_else(SweepCount::failed));
    }
    for machine in reached {
        let rest = machine.explain(remove_rest(&machine.docker, run).await);
        swept.add(rest.unwrap_or_else(SweepCount::failed));
    }
    swept
}

async fn remove_containers(docker: &Docker, run: &str, spare_lease: bool) -> Result<SweepCount> {
    let mut swept = SweepCount::default();
    let options = RemoveContainerOptions {
        force: true,
        v: true,
        ..Default::default()
    };
    let mut found = containers(docker, Some(run)).await?;
    found.retain(|container| !(spare_lease && is_lease(container)));
    for (network, inside) in joined_networks(&found) {
        disconnect(docker, network, inside).await;
    }
    let ids: Vec<String> = found.into_iter().filter_map(|container| container.id).collect();
    let removed = join_all(ids.iter().map(|id| docker.remove_container(id, Some(options.clone())))).await;
    for (id, result) in ids.iter().zip(removed) {
        let result = match result {
            Err(error) if going(&error) => wait_until_gone(docker, id).await,
            result => result,
        };
        swept.containers += count(&mut swept.left, &format!("container {id}"), result);
    }
    Ok(swept)
}

/// Waits for a container that the engine is removing for somebody else; the engine's refusal if it stays.
async fn wait_until_gone(docker: &Docker, id: &str) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        match docker.inspect_container(id, None::<InspectContainerOptions>).await {
            Err(error) if begun.elapsed() > LONG || gone(&error) => return Err(error),
            Ok(_) if begun.elapsed() > LONG => {
                return Err(Error::DockerResponseServerError {
                    status_code: 409,
                    message: format!("its removal was in progress for {} s, and it is there", LONG.as_secs()),
                });
            }
            Ok(_) | Err(_) => tokio::time::sleep(POLL).await,
        }
    }
}

/// Running containers by the network that they are in. They leave it one by one, and are then removed at once.
///
/// Docker 20.10 loses a decrement of a network's count of endpoints where several containers leave it at once while
/// networks are looked up, and then keeps the network (moby#42119). The cause: a look-up hands out the cached network
/// and replaces its counter (libnetwork, `getNetworksFromStore`), so that one counter is decremented by two requests;
/// if one of them has to read the count again (`atomicIncDecEpCnt`), the decrement of the other is overwritten.
fn joined_networks(containers: &[ContainerSummary]) -> BTreeMap<&str, Vec<&String>> {
    let mut joined: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for container in containers {
        let networks = container
            .network_settings
            .as_ref()
            .and_then(|settings| settings.networks.as_ref());
        // No container leaves the networks of these names, which count nothing.
        let counting = networks
            .into_iter()
            .flatten()
            .filter(|(name, _)| !["none", "host"].contains(&name.as_str()));
        for (_, endpoint) in counting {
            let network = endpoint.network_id.as_deref().unwrap_or_default();
            let is_inside = endpoint.endpoint_id.as_ref().is_some_and(|id| !id.is_empty());
            if let Some(id) = container.id.as_ref().filter(|_| is_inside && !network.is_empty()) {
                joined.entry(network).or_default().push(id);
            }
        }
    }
    joined
}

async fn remove_rest(docker: &Docker, run: &str) -> Result<SweepCount> {
    let mut swept = SweepCount::default();
    for network in networks(docker, Some(run)).await.context("listing its networks")? {
        let name = network.name.unwrap_or_default();
        let id = network.id.unwrap_or_else(|| name.clone());
        let mut result = docker.remove_network(&id).await;
        let stays = result
            .as_ref()
            .is_err_and(|error| !gone(error) && !is_the_managers(error));
        let inside = match stays {
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
        Err(error) if gone(&error) || is_the_managers(&error) => 0,
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

/// Takes endpoints out of a network by force, one by one, until the engine does not answer. Returns how many.
async fn disconnect(docker: &Docker, network: &str, names: impl IntoIterator<Item = &String>) -> usize {
    let mut disconnected = 0;
    for name in names {
        let request = NetworkDisconnectRequest {
            container: name.clone(),
            force: Some(true),
        };
        // What fails here shows when the network is removed.
        match docker.disconnect_network(network, request).await {
            Ok(()) => disconnected += 1,
            Err(Error::DockerResponseServerError { .. }) => {}
            Err(_) => break,
        }
    }
    disconnected
}

/// Whether the engine has the network of a Swarm that another one manages, which removes it everywhere.
fn is_the_managers(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. } if message.contains("swarm manager"))
}

/// Whether the engine refuses to remove a network because endpoints are in it. It may refuse so where it lists none,
/// because it has lost count: see [`crate::docker::run_network`].
pub fn miscounted(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. } if message.contains("has active endpoints"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use testcontainers::bollard::models::{ContainerSummaryNetworkSettings, EndpointSettings};

    fn container(id: &str, network: &str, endpoint: &str) -> ContainerSummary {
        let settings = EndpointSettings {
            network_id: Some(format!("id-{network}")),
            endpoint_id: Some(endpoint.to_string()),
            ..EndpointSettings::default()
        };
        ContainerSummary {
            id: Some(id.to_string()),
            network_settings: Some(ContainerSummaryNetworkSettings {
                networks: Some(HashMap::from([(network.to_string(), settings)])),
            }),
            ..ContainerSummary::default()
        }
    }

    #[test]
    fn running_containers_leave_the_network_that_they_are_in() {
        let containers = [
            container("server", "zooquake-run", "e1"),
            container("client", "zooquake-run", "e2"),
            container("exited", "zooquake-run", ""),
            container("claim", "none", "e3"),
            ContainerSummary::default(),
        ];
        let (server, client) = ("server".to_string(), "client".to_string());
        let expected = BTreeMap::from([("id-zooquake-run", vec![&server, &client])]);
        assert_eq!(joined_networks(&containers), expected);
    }
}
