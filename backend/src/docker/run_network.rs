//! The network of a run: a new one, or one that the engine could not remove with its run.
//!
//! The engine keeps a count of the endpoints in a network beside the endpoints themselves, and loses decrements of it
//! where several containers leave the network at once (moby#42119; Docker 20.10; the sweep lets them leave one by one).
//! It then refuses to remove the network until it is restarted, and its address pools have room for some thirty
//! networks. Such a network takes containers as before.

use super::labels::{KEEP_LABEL, RUN_LABEL, of_run};
use super::machines::Machines;
use super::sweep;
use crate::retry::{Attempts, again, create};
use anyhow::{Context, Result};
use std::collections::{BTreeSet, HashMap};
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::{
    ContainerCreateBody, ContainerSummary, HostConfig, Network, NetworkCreateRequest, NetworkInspect,
};
use testcontainers::bollard::query_parameters::InspectNetworkOptions;

/// The name of a network for a run whose lease is taken: one that is left of a dead run and cannot be removed, else a
/// new one.
///
/// # Errors
/// If the engine refuses, such as when its address pools are used up.
pub async fn network_for_run(machines: &Machines, (run, keep): (&str, bool), image: &str) -> Result<String> {
    // Networks of a Swarm are removed by its manager, which keeps no count of endpoints. One that is to be left
    // standing has a label, and is of another kind.
    let deserted = match machines.are_several() || keep {
        true => None,
        false => deserted_network(machines.first(), run, image).await?,
    };
    match deserted {
        Some(name) => {
            log::info!("the network {name} is used again: the engine has lost count of what is in it, and keeps it");
            Ok(name)
        }
        None => create_network(machines, run, keep).await,
    }
}

/// A network of a dead run that the engine does not remove though it lists nothing in it, claimed for this run.
async fn deserted_network(docker: &Docker, run: &str, image: &str) -> Result<Option<String>> {
    let all = sweep::networks(docker, None).await;
    let all = all.context("listing the networks of zooquake")?;
    if all.is_empty() {
        return Ok(None);
    }
    for (name, id) in deserted(all, &sweep::containers(docker, None).await?) {
        if !is_apart(&docker.inspect_network(&id, None::<InspectNetworkOptions>).await?) {
            continue;
        }
        // What can be removed is of a run that crashed.
        let refused = docker.remove_network(&id).await;
        if !refused.as_ref().is_err_and(sweep::miscounted) || !sweep::endpoints(docker, &id).await?.is_empty() {
            continue;
        }
        if claim(docker, run, (&id, image)).await? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Names and ids of the networks of runs that have no container: a run's lease is there before its network, and is
/// removed after it.
fn deserted(networks: Vec<Network>, containers: &[ContainerSummary]) -> Vec<(String, String)> {
    let owners = containers.iter().filter_map(|one| one.labels.as_ref()?.get(RUN_LABEL));
    let owners: BTreeSet<&String> = owners.collect();
    let of_dead = |network: &Network| {
        let owner = network.labels.as_ref().and_then(|labels| labels.get(RUN_LABEL));
        owner.is_some_and(|owner| !owners.contains(owner))
    };
    let networks = networks.into_iter().filter(of_dead);
    networks
        .filter_map(|network| Some((network.name?, network.id?)))
        .collect()
}

/// Claims a network for a run; false if another run has. The claim is a container of a name that only one can have,
/// which is never started and goes with the run's others.
async fn claim(docker: &Docker, run: &str, (network, image): (&str, &str)) -> Result<bool> {
    let body = ContainerCreateBody {
        image: Some(image.to_string()),
        labels: Some(of_run(run)),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_string()),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    match create(docker, &format!("zooquake-network-{network}"), &body).await {
        Ok(_) => Ok(true),
        Err(Error::DockerResponseServerError { status_code: 409, .. }) => Ok(false),
        Err(error) => Err(error).with_context(|| format!("claiming the network {network}")),
    }
}

/// From this version of its interface on (Engine 28) the engine has a mode of bridges without an address of the host.
const HAS_ISOLATED: (u32, u32) = (1, 48);

/// That mode, and what has the same effect on engines before it.
const APART: [(&str, &str); 2] = [
    ("com.docker.network.bridge.gateway_mode_ipv4", "isolated"),
    ("com.docker.network.bridge.inhibit_ipv4", "true"),
];

/// Whether the host has no address in a network.
fn is_apart(network: &NetworkInspect) -> bool {
    let options = network.options.as_ref();
    options.is_some_and(|options| {
        APART
            .iter()
            .any(|(name, value)| options.get(*name).is_some_and(|v| v == value))
    })
}

/// The options by which the host has no address in a bridge: containers reach nothing that listens on the host.
async fn apart(docker: &Docker) -> Result<HashMap<String, String>> {
    let version = again(|| docker.version())
        .await
        .context("asking the engine for its version")?;
    let number = version.api_version.unwrap_or_default();
    let number = number
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let (name, value) = match number {
        Some(number) if number >= HAS_ISOLATED => APART[0],
        _ => APART[1],
    };
    Ok(HashMap::from([(name.to_string(), value.to_string())]))
}

/// Creates the run's network, over all its machines. There is no way out of it. Of a cluster that is to be left
/// standing the host has an address in it; else it has none, and an overlay has none anyway.
async fn create_network(machines: &Machines, run: &str, keep: bool) -> Result<String> {
    let name = format!("zooquake-{run}");
    let mut labels = of_run(run);
    if keep {
        labels.insert(KEEP_LABEL.to_string(), run.to_string());
    }
    let request = NetworkCreateRequest {
        name: name.clone(),
        labels: Some(labels),
        internal: Some(true),
        options: match keep || machines.are_several() {
            true => None,
            false => Some(apart(machines.manager()).await?),
        },
        // Over several machines it is one of the Swarm, which containers of our own may join.
        driver: machines.are_several().then(|| "overlay".to_string()),
        attachable: machines.are_several().then_some(true),
        ..Default::default()
    };
    let created = create_once(machines.manager(), run, request).await;
    created.with_context(|| {
        let clean = sweep::clean_line(machines, None);
        format!("creating the network {name}; `{clean}` removes networks that crashed runs left behind")
    })?;
    Ok(name)
}

/// Creates the network, unless an attempt did whose answer was lost: names of networks need not be unique.
async fn create_once(docker: &Docker, run: &str, request: NetworkCreateRequest) -> Result<(), Error> {
    let mut attempts = Attempts::new();
    loop {
        match docker.create_network(request.clone()).await {
            Err(error) if attempts.another(&error).await => {}
            created => return created.map(drop),
        }
        if !sweep::networks(docker, Some(run)).await?.is_empty() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(run: &str) -> Option<HashMap<String, String>> {
        Some(HashMap::from([(RUN_LABEL.to_string(), run.to_string())]))
    }

    #[test]
    fn networks_of_runs_that_go_on_are_not_deserted() {
        let network = |run: &str| Network {
            name: Some(format!("zooquake-{run}")),
            id: Some(format!("id-{run}")),
            labels: labelled(run),
            ..Network::default()
        };
        let lease = ContainerSummary {
            labels: labelled("alive"),
            ..ContainerSummary::default()
        };
        let found = deserted(vec![network("alive"), network("dead"), Network::default()], &[lease]);
        assert_eq!(found, [("zooquake-dead".to_string(), "id-dead".to_string())]);
    }
}
