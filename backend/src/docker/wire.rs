//! The proxy between a client and the ensemble, which is part of the client's sidecar.

use super::{DockerCluster, LOCAL};
use crate::Cluster;
use crate::sidecar::{DisconnectEffect, ExpiryEffect, ReconnectEffect, RuleEffect};
use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::FaultKind;
use zooquake_history::fault::Wire;
use zooquake_history::plan::Plan;

/// The first port on the client's loopback; one for each server.
const PORT: u16 = 21811;

/// How long a client may take to come back before the proxy alone is tried.
const BACK_WITHIN_MS: u64 = 2_000;

/// `host:port` of these servers, or of the one that the client is pinned to, as the client is to see them: through its
/// proxy, where the plan has something happen there.
pub(super) async fn connect_string(cluster: &DockerCluster, client: &str, pinned: Option<&str>) -> Result<String> {
    let mut servers = cluster.servers();
    let first = servers.iter().position(|server| Some(server.as_str()) == pinned);
    servers.retain(|server| pinned.is_none_or(|pinned| server == pinned));
    let direct = cluster.connect_string(&servers)?;
    let beside = cluster.node(client)?.sidecar.is_some();
    if !(beside && is_proxied(&cluster.plan)) {
        return Ok(direct);
    }
    let servers: Vec<&str> = direct.split(',').collect();
    // Each server has its port, whichever of them the client may use.
    let port = usize::from(PORT) + first.unwrap_or(0);
    let value = json!({ "servers": servers, "port": port });
    let answer = cluster.ask(client, "proxy", value, LOCAL).await?;
    let ports: Vec<u16> = part(&answer, "ports")?;
    let addresses: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    Ok(addresses.join(","))
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
    client: &str,
    wire: Wire,
    limit: Duration,
) -> Result<Option<RuleEffect>> {
    let value = json!({ "wire": wire, "timeout_ms": limit.as_millis() as u64 });
    let answer = cluster.ask(client, "arm", value, limit + LOCAL).await?;
    part(&answer, "dropped")
}

pub(super) async fn lose_nothing(cluster: &DockerCluster, client: &str) -> Result<()> {
    cluster.ask(client, "disarm", json!({}), LOCAL).await?;
    Ok(())
}

pub(super) async fn disconnect(cluster: &DockerCluster, client: &str, wire: Wire) -> Result<String> {
    let (value, what) = (json!({ "wire": wire }), "what was disconnected");
    let effect: DisconnectEffect = cluster.ask_for(client, "disconnect", value, LOCAL, what).await?;
    let DisconnectEffect { connections, refuses } = effect;
    ensure!(connections > 0, "{client} had no connection that could be cut");
    ensure!(refuses, "a new connection of {client} was let through");
    let how = if wire == Wire::Reset { "reset" } else { "closed" };
    Ok(format!("connections {how}: {connections}; another one was refused"))
}

pub(super) async fn reconnect(cluster: &DockerCluster, client: &str) -> Result<String> {
    let value = json!({ "timeout_ms": BACK_WITHIN_MS });
    let what = "who came back";
    match cluster.ask_for(client, "reconnect", value, LOCAL, what).await? {
        ReconnectEffect {
            client_after_ms: Some(ms),
            ..
        } => Ok(format!(
            "a server accepted the next connection of {client}, at most {ms} ms after healing began"
        )),
        ReconnectEffect { passes: true, .. } => Ok(format!(
            "{client} made no new connection within {BACK_WITHIN_MS} ms, but one that was tried reached a server"
        )),
        ReconnectEffect { .. } => bail!("no connection of {client} reaches a server"),
    }
}

pub(super) async fn expire(cluster: &DockerCluster, client: &str) -> Result<Option<String>> {
    let servers = cluster.connect_string(&cluster.servers())?;
    let value = json!({ "servers": servers.split(',').collect::<Vec<_>>() });
    let answer = cluster.ask(client, "expire", value, LOCAL).await?;
    let expired: Option<ExpiryEffect> = part(&answer, "expired")?;
    let sentence = |ExpiryEffect { session, zxid }| {
        format!("session {session} was closed from another connection, as zxid {zxid:#x}, and is refused since")
    };
    Ok(expired.map(sentence))
}

fn part<T: DeserializeOwned>(answer: &Value, name: &str) -> Result<T> {
    serde_json::from_value(answer[name].clone()).with_context(|| format!("the proxy's `{name}`"))
}
