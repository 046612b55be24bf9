//! Containers as hosts: their PID 1 outlives the process under test, so address, disk and rules survive a kill.

use super::confinement::{CLIENT, Confinement, SERVER, SIDECAR};
use super::labels::of_run;
use crate::retry::{again, create};
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::net::IpAddr;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, MountVolumeOptions};
use testcontainers::bollard::query_parameters::{InspectContainerOptions, StartContainerOptions};
use zooquake_history::Node;

/// Label of a sidecar's container; its value is the node that it stands beside.
pub const SIDECAR_LABEL: &str = "zooquake.sidecar";

/// A container that runs nothing but its keeper until a process is started in it.
#[derive(Debug)]
pub struct HostContainer {
    /// Id of the container.
    pub id: String,
    /// Its address in the run's network; that of the host for a sidecar.
    pub address: Option<IpAddr>,
}

/// Starts a container that runs nothing yet, and returns its id.
async fn start_idle(
    docker: &Docker,
    (run, name): (&str, &str),
    image: &str,
    confinement: &Confinement,
    own: ContainerCreateBody,
) -> Result<String, Error> {
    let mut labels = of_run(run);
    labels.extend(own.labels.unwrap_or_default());
    let mut host_config = own.host_config.unwrap_or_default();
    host_config.mounts = Some(volumes(docker, (run, name), image).await?);
    confinement.apply(&mut host_config);
    let body = ContainerCreateBody {
        image: Some(image.to_string()),
        entrypoint: Some(vec!["sleep".to_string()]),
        cmd: Some(vec!["infinity".to_string()]),
        user: confinement.user.map(str::to_string),
        labels: Some(labels),
        host_config: Some(host_config),
        hostname: own.hostname,
        ..ContainerCreateBody::default()
    };
    let id = create(docker, &format!("zooquake-{run}-{name}"), &body).await?;
    // One that runs already is left as it is.
    again(|| docker.start_container(&id, None::<StartContainerOptions>)).await?;
    Ok(id)
}

/// The volumes that an image asks for: those that the engine makes itself have neither a name nor a label, so that one
/// which a crash left behind could not be distinguished from those of others.
async fn volumes(docker: &Docker, (run, name): (&str, &str), image: &str) -> Result<Vec<Mount>, Error> {
    let image = again(|| docker.inspect_image(image)).await?;
    let folders = image.config.and_then(|config| config.volumes).unwrap_or_default();
    let volume = |(number, folder)| Mount {
        typ: Some(MountType::VOLUME),
        source: Some(format!("zooquake-{run}-{name}-{number}")),
        target: Some(folder),
        volume_options: Some(MountVolumeOptions {
            labels: Some(of_run(run)),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    };
    Ok((1..).zip(folders).map(volume).collect())
}

/// Starts a host in the run's network.
///
/// # Errors
/// If the container cannot be created or started.
pub async fn start_host(docker: &Docker, run: &str, node: &Node, image: &str, network: &str) -> Result<HostContainer> {
    let confinement = if node.is_client() { &CLIENT } else { &SERVER };
    let name = &node.to_string();
    let own = ContainerCreateBody {
        hostname: Some(name.to_string()),
        host_config: Some(HostConfig {
            network_mode: Some(network.to_string()),
            init: Some(true),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    let id = start_idle(docker, (run, name), image, confinement, own)
        .await
        .with_context(|| format!("starting the container of {name} from {image}, which needs the program `sleep`"))?;
    let details = again(|| docker.inspect_container(&id, None::<InspectContainerOptions>))
        .await
        .with_context(|| format!("inspecting the container of {name}"))?;
    let address = details
        .network_settings
        .and_then(|settings| settings.networks)
        .and_then(|mut networks| networks.remove(network))
        .and_then(|endpoint| endpoint.ip_address)
        .and_then(|address| address.parse().ok())
        .with_context(|| format!("the container of {name} has no address in the network {network}"))?;
    Ok(HostContainer {
        id,
        address: Some(address),
    })
}

/// Starts a sidecar that shares network and processes of a host and may change its network.
///
/// # Errors
/// If the container cannot be created or started.
pub async fn start_sidecar(
    docker: &Docker,
    run: &str,
    node: &Node,
    image: &str,
    host: &HostContainer,
) -> Result<HostContainer> {
    let beside = format!("container:{}", host.id);
    let own = ContainerCreateBody {
        labels: Some(HashMap::from([(SIDECAR_LABEL.to_string(), node.to_string())])),
        host_config: Some(HostConfig {
            network_mode: Some(beside.clone()),
            pid_mode: Some(beside),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    let id = start_idle(docker, (run, &format!("{node}-sidecar")), image, &SIDECAR, own)
        .await
        .with_context(|| format!("starting the sidecar of {node} from {image}"))?;
    Ok(HostContainer { id, address: None })
}
