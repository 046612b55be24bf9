//! The proxy between a client and the ensemble, which is part of the client's sidecar.

use super::cluster::joined;
use super::{DockerCluster, LOCAL};
use crate::Cluster;
use crate::sidecar::{DisconnectEffect, ExpiryEffect, ReconnectEffect, RuleEffect, SidecarRequest};
use anyhow::{Result, bail, ensure};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use zooquake_history::fault::Wire;
use zooquake_history::plan::Plan;
use zooquake_history::{FaultKind, Node};

/// The first port on the client's loopback; one for each server.
const PORT: u16 = 21811;

/// How long a client may take to come back before the proxy alone is tried.
const BACK_WITHIN: Duration = Duration::from_secs(2);

/// `host:port` of these servers, or of the one that the client is pinned to, as the client is to see them: through its
/// proxy, where the plan has something happen there.
pub(super) async fn connect_string(cluster: &DockerCluster, client: &Node, pinned: Option<&Node>) -> Result<String> {
    let mut servers = cluster.servers();
    let first = servers.iter().position(|server| Some(server) == pinned);
    servers.retain(|server| pinned.is_none_or(|pinned| server == pinned));
    let servers = cluster.client_ports(&servers)?;
    let beside = cluster.node(client)?.sidecar.is_some();
    if !(beside && is_proxied(&cluster.plan)) {
        return Ok(joined(&servers));
    }
    // Each server has its port, whichever of them the client may use.
    let port = PORT + u16::try_from(first.unwrap_or(0))?;
    let proxy = SidecarRequest::Proxy { servers, port };
    let ports: Vec<u16> = cluster.ask(client, proxy, LOCAL).await?;
    let addresses: Vec<SocketAddr> = ports
        .into_iter()
        .map(|port| (Ipv4Addr::LOCALHOST, port).into())
        .collect();
    Ok(joined(&addresses))
}

/// Whether something is to happen on the way of clients: by the windows, or, without a schedule, by the faults.
fn is_proxied(plan: &Plan) -> bool {
    let proxied = |fault: &String| FaultKind::by_name(fault).proxied;
    match plan.windows.is_empty() {
        true => plan.faults.iter().any(proxied),
        false => plan.windows.iter().any(|window| proxied(&window.fault)),
    }
}

pub(super) async fn lose(
    cluster: &DockerCluster,
    client: &Node,
    wire: Wire,
    limit: Duration,
) -> Result<Option<RuleEffect>> {
    let arm = SidecarRequest::Arm { wire, within: limit };
    cluster.ask(client, arm, limit + LOCAL).await
}

pub(super) async fn lose_nothing(cluster: &DockerCluster, client: &Node) -> Result<()> {
    cluster.ask(client, SidecarRequest::Disarm, LOCAL).await
}

pub(super) async fn disconnect(cluster: &DockerCluster, client: &Node, wire: Wire) -> Result<String> {
    let disconnect = SidecarRequest::Disconnect { wire };
    let DisconnectEffect { connections, refuses } = cluster.ask(client, disconnect, LOCAL).await?;
    ensure!(connections > 0, "{client} had no connection that could be cut");
    ensure!(refuses, "a new connection of {client} was let through");
    let how = if wire == Wire::Reset { "reset" } else { "closed" };
    Ok(format!("connections {how}: {connections}; another one was refused"))
}

pub(super) async fn reconnect(cluster: &DockerCluster, client: &Node) -> Result<String> {
    let reconnect = SidecarRequest::Reconnect { within: BACK_WITHIN };
    match cluster.ask(client, reconnect, LOCAL).await? {
        ReconnectEffect {
            client_after_ms: Some(ms),
            ..
        } => Ok(format!(
            "a server accepted the next connection of {client}, at most {ms} ms after healing began"
        )),
        ReconnectEffect { passes: true, .. } => Ok(format!(
            "{client} made no new connection within {} ms, but one that was tried reached a server",
            BACK_WITHIN.as_millis()
        )),
        ReconnectEffect { .. } => bail!("no connection of {client} reaches a server"),
    }
}

pub(super) async fn expire(cluster: &DockerCluster, client: &Node) -> Result<Option<String>> {
    let servers = cluster.client_ports(&cluster.servers())?;
    let expired: Option<ExpiryEffect> = cluster.ask(client, SidecarRequest::Expire { servers }, LOCAL).await?;
    let sentence = |ExpiryEffect { session, zxid }| {
        format!("session {session} was closed from another connection, as zxid {zxid:#x}, and is refused since")
    };
    Ok(expired.map(sentence))
}
