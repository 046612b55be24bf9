//! The proxy between a client and the ensemble, which is part of the client's sidecar.

use super::cluster::joined;
use super::{DockerCluster, LOCAL};
use crate::sidecar::{
    DisconnectEffect, ExpiryEffect, HoldEffect, LatencyEffect, PassageEffect, ReconnectEffect, RouteEffect, RuleEffect,
    SidecarRequest, StallEffect,
};
use crate::{Cluster, Passage};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use zooquake_history::fault::{Latency, Wire};
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

pub(super) async fn arm(
    cluster: &DockerCluster,
    client: &Node,
    wire: Wire,
    limit: Duration,
) -> Result<Option<RuleEffect>> {
    let arm = SidecarRequest::Arm { wire, within: limit };
    cluster.ask(client, arm, limit + LOCAL).await
}

pub(super) async fn disarm(cluster: &DockerCluster, client: &Node) -> Result<()> {
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

pub(super) async fn delay(cluster: &DockerCluster, client: &Node, latency: Latency) -> Result<String> {
    let delay = SidecarRequest::Delay { latency };
    let LatencyEffect { past_us, through_us } = cluster.ask(client, delay, LOCAL).await?;
    let Latency { ms, jitter_ms } = latency;
    let seen = format!(
        "a probe through the proxy was answered after {}, one past it after {}",
        milliseconds(through_us),
        milliseconds(past_us)
    );
    // There and back it is late by at least this much.
    let least_us = 2_000 * ms.saturating_sub(jitter_ms);
    ensure!(through_us >= least_us && through_us > past_us, "{seen}");
    Ok(format!(
        "all that passes between {client} and the servers is {ms} ms late each way, give or take {jitter_ms} ms: {seen}"
    ))
}

pub(super) async fn stall(cluster: &DockerCluster, client: &Node) -> Result<String> {
    let StallEffect {
        connections,
        bytes,
        past_us,
        unanswered_ms,
    } = cluster.ask(client, SidecarRequest::Stall, LOCAL).await?;
    ensure!(connections > 0, "{client} had no connection that could be stalled");
    let unanswered_ms = unanswered_ms.with_context(|| format!("a probe through the proxy of {client} was answered"))?;
    ensure!(
        bytes > 0,
        "nothing that {client} or a server has sent waited in the proxy"
    );
    Ok(format!(
        "nothing passes between {client} and the servers, connections open: {connections}, bytes that wait: {bytes}; a probe through \
         the proxy had no answer for {unanswered_ms} ms, one past it had one after {}",
        milliseconds(past_us)
    ))
}

pub(super) async fn pass_on(cluster: &DockerCluster, client: &Node, delayed: Option<Latency>) -> Result<Passage> {
    let pass_on = SidecarRequest::PassOn { within: BACK_WITHIN };
    let PassageEffect {
        held,
        client_after_ms,
        anew,
        through_us,
    } = cluster.ask(client, pass_on, LOCAL).await?;
    let kept_back = held.map(|held| match held {
        HoldEffect {
            bytes,
            ms,
            delivered: true,
        } => format!("the reply was kept back for {ms} ms and delivered, {bytes} bytes with what followed it"),
        HoldEffect { bytes, ms, .. } => {
            format!("{client} gave the connection up after {ms} ms, with {bytes} bytes kept back")
        }
    });
    let through_us = through_us.with_context(|| format!("no connection of {client} reaches a server"))?;
    if let Some(Latency { ms, .. }) = delayed {
        let late = milliseconds(through_us);
        ensure!(
            through_us < 1_000 * ms,
            "a probe through the proxy of {client} still took {late}"
        );
    }
    let connection = if anew {
        "a connection made meanwhile"
    } else {
        "the same connection"
    };
    let reached = match client_after_ms {
        Some(ms) => {
            format!("an answer of a server reached {client} over {connection}, at most {ms} ms after healing began")
        }
        None => format!(
            "no answer of a server reached {client} within {} ms",
            BACK_WITHIN.as_millis()
        ),
    };
    let probed = format!(
        "a probe through the proxy was answered after {}",
        milliseconds(through_us)
    );
    let sentences: Vec<String> = kept_back.into_iter().chain([reached, probed]).collect();
    Ok(Passage {
        detail: sentences.join("; "),
        evidence: held.map(|held| json!(held)),
    })
}

/// Microseconds as milliseconds, with one digit after the point.
fn milliseconds(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
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

pub(super) async fn route(cluster: &DockerCluster, client: &Node, server: &Node) -> Result<String> {
    let [address] = cluster.client_ports(std::slice::from_ref(server))?[..] else {
        bail!("{server} has no one address for clients");
    };
    let route = SidecarRequest::Route {
        server: address,
        within: BACK_WITHIN,
    };
    let RouteEffect {
        ended,
        refuses,
        served_after_ms,
    } = cluster.ask(client, route, LOCAL).await?;
    ensure!(
        refuses,
        "a connection of {client} to another server than {server} was let through"
    );
    let served = served_after_ms.with_context(|| {
        let limit = BACK_WITHIN.as_millis();
        format!("{server} did not serve {client} within {limit} ms; connections to others that were ended: {ended}")
    })?;
    Ok(format!(
        "connections to other servers closed: {ended}; others to them are refused; {server} served {client} after {served} ms"
    ))
}

pub(super) async fn unroute(cluster: &DockerCluster, client: &Node) -> Result<String> {
    let reached: Vec<SocketAddr> = cluster.ask(client, SidecarRequest::Unroute, LOCAL).await?;
    ensure!(
        reached.len() > 1,
        "connections of {client} reach {} servers, not several",
        reached.len()
    );
    Ok(format!("connections of {client} reach {} servers", reached.len()))
}

pub(super) async fn expire(cluster: &DockerCluster, client: &Node) -> Result<Option<String>> {
    let servers = cluster.client_ports(&cluster.servers())?;
    let expired: Option<ExpiryEffect> = cluster.ask(client, SidecarRequest::Expire { servers }, LOCAL).await?;
    let sentence = |ExpiryEffect { session, zxid }| {
        format!("session {session} was closed from another connection, as zxid {zxid:#x}, and is refused since")
    };
    Ok(expired.map(sentence))
}
