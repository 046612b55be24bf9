//! Containers as hosts: their PID 1 outlives the process under test, so address, disk and rules survive a kill.

use super::confinement::{CLIENT, Confinement, SERVER, SIDECAR};
use super::sweep::RUN_LABEL;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::net::IpAddr;
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::NetworkCreateRequest;
use testcontainers::bollard::query_parameters::InspectContainerOptions;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage, ImageExt};

/// A container that runs nothing but its keeper until a process is started in it.
#[derive(Debug)]
pub struct Host {
    /// Id of the container.
    pub id: String,
    /// Its address in the run's network; that of the host for a sidecar.
    pub address: Option<IpAddr>,
}

/// Gives a container up to the sweep by label, or to the user with `--keep`; returns its id.
fn give_up(container: ContainerAsync<GenericImage>) -> String {
    let id = container.id().to_string();
    // Dropping it would remove it.
    std::mem::forget(container);
    id
}

fn split(image: &str) -> (String, String) {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name.to_string(), tag.to_string()),
        _ => (image.to_string(), "latest".to_string()),
    }
}

/// Creates the run's network.
///
/// # Errors
/// If the engine refuses, such as when its address pools are used up.
pub async fn create_network(docker: &Docker, run: &str) -> Result<String> {
    let name = format!("zooquake-{run}");
    let request = NetworkCreateRequest {
        name: name.clone(),
        labels: Some(HashMap::from([(RUN_LABEL.to_string(), run.to_string())])),
        // No way out. The host that runs the engine still reaches the containers, as a cluster that is kept needs.
        internal: Some(true),
        ..Default::default()
    };
    docker.create_network(request).await.with_context(|| {
        format!("creating the network {name}; `zooquake clean` removes networks that crashed runs left behind")
    })?;
    Ok(name)
}

/// A container that runs nothing yet.
fn idle(run: &str, name: &str, image: &str, confinement: &Confinement) -> ContainerRequest<GenericImage> {
    let (repository, tag) = split(image);
    let request = GenericImage::new(repository, tag)
        .with_entrypoint("sleep")
        .with_cmd(["infinity"])
        .with_container_name(format!("zooquake-{run}-{name}"))
        .with_label(RUN_LABEL, run);
    match confinement.user {
        Some(user) => request.with_user(user),
        None => request,
    }
}

/// Starts a host in the run's network.
///
/// # Errors
/// If the container cannot be created or started.
pub async fn start_host(docker: &Docker, run: &str, name: &str, image: &str, network: &str) -> Result<Host> {
    let confinement = if name.starts_with('c') { &CLIENT } else { &SERVER };
    let request = idle(run, name, image, confinement)
        .with_hostname(name)
        .with_network(network)
        .with_host_config_modifier(|config| {
            confinement.apply(config);
            config.init = Some(true);
        });
    let container = request
        .start()
        .await
        .with_context(|| format!("starting the container of {name} from {image}, which needs the program `sleep`"))?;
    let id = give_up(container);
    let details = docker
        .inspect_container(&id, None::<InspectContainerOptions>)
        .await
        .with_context(|| format!("inspecting the container of {name}"))?;
    let address = details
        .network_settings
        .and_then(|settings| settings.networks)
        .and_then(|mut networks| networks.remove(network))
        .and_then(|endpoint| endpoint.ip_address)
        .and_then(|address| address.parse().ok())
        .with_context(|| format!("the container of {name} has no address in the network {network}"))?;
    Ok(Host {
        id,
        address: Some(address),
    })
}

/// Starts a sidecar that shares network and processes of a host and may change its network.
///
/// # Errors
/// If the container cannot be created or started.
pub async fn start_sidecar(run: &str, name: &str, image: &str, host: &Host) -> Result<Host> {
    let beside = format!("container:{}", host.id);
    let request = idle(run, &format!("{name}-sidecar"), image, &SIDECAR)
        .with_label("zooquake.sidecar", name)
        .with_host_config_modifier(move |config| {
            SIDECAR.apply(config);
            // Not by `with_network`: testcontainers 0.28 would create a network of this name, and leave it behind.
            config.network_mode = Some(beside.clone());
            config.pid_mode = Some(beside.clone());
        });
    let container = request
        .start()
        .await
        .with_context(|| format!("starting the sidecar of {name} from {image}"))?;
    Ok(Host {
        id: give_up(container),
        address: None,
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn splits_names_and_tags() {
        let parts = |image| split(image);
        assert_eq!(parts("zookeeper:3.9"), ("zookeeper".into(), "3.9".into()));
        assert_eq!(
            parts("host:5000/zookeeper"),
            ("host:5000/zookeeper".into(), "latest".into())
        );
        assert_eq!(
            parts("host:5000/zookeeper:3.8"),
            ("host:5000/zookeeper".into(), "3.8".into())
        );
    }
}
