//! A client's connections, let to one server alone: it is moved to another one, or pinned.

use super::strike::{Strike, StrikeEffect, leader};
use super::{Fault, Victims, WindowDraft, client_state, no_payload};
use anyhow::{Context, Result, bail};
use futures_util::future::join_all;
use std::ops::Range;
use zooquake_backend::Cluster;
use zooquake_history::Node;
use zooquake_history::fault::{self, Payload, Pin};
use zooquake_history::plan::{Plan, Target};

/// How long it lasts once it was seen, in milliseconds.
const LASTS: Range<u64> = 500..2_500;

/// Move.
pub const MOVE: Fault = Fault {
    kind: &fault::MOVE,
    draw: |rng, _, round| WindowDraft {
        target: Target::Client,
        payload: None,
        state: Some(client_state(rng, round)),
        duration_ms: rng.u64(LASTS),
    },
    victims: Victims::Client,
    payload: no_payload,
    longest_ms: |_| LASTS.end,
    shortfall: one_way,
    strike: |strike, victim| Box::pin(move_to_another(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.unroute(victim).await?.into()) }),
};

/// Pin.
pub const PIN: Fault = Fault {
    kind: &fault::PIN,
    draw: |rng, _, round| WindowDraft {
        target: Target::Client,
        payload: Some(Payload::To(if rng.bool() { Pin::Leader } else { Pin::Follower })),
        state: Some(client_state(rng, round)),
        duration_ms: rng.u64(LASTS),
    },
    victims: Victims::Client,
    payload: |payload| match payload {
        Some(Payload::To(_)) => Ok(payload),
        _ => Err("has the server `to` which it pins: \"leader\", \"follower\" or { server = \"n2\" }".into()),
    },
    longest_ms: |_| LASTS.end,
    shortfall: one_way,
    strike: |strike, victim| Box::pin(pin(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.unroute(victim).await?.into()) }),
};

/// Why a client of the plan cannot be let to one server alone, as a clause: it uses a single one anyway, or a window
/// pins it to a server that the ensemble has not. `None` if it can.
fn one_way(plan: &Plan) -> Option<String> {
    let servers = plan.cluster.ensemble();
    if plan.workload.pinned {
        return Some(format!("each client of {} uses one server alone", plan.workload.name()));
    }
    if servers.len() < 2 {
        return Some("a client of one server cannot go to another".to_string());
    }
    plan.windows.iter().find_map(|window| match &window.payload {
        Some(Payload::To(Pin::Server(server))) if !servers.contains(server) => Some(format!(
            "window {} pins to {server}, which the ensemble has not",
            window.id
        )),
        _ => None,
    })
}

async fn move_to_another(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let at = strike.cluster.server_of(victim).await?;
    let at = at.with_context(|| format!("{victim} was not connected to a server"))?;
    let to = furthest_behind(strike.cluster, &at).await?;
    Ok(strike.cluster.route(victim, &to).await?.into())
}

async fn pin(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let leads = || async { leader(strike.cluster).await.context("no server led") };
    let to = match &strike.window.payload {
        Some(Payload::To(Pin::Leader)) => leads().await?,
        Some(Payload::To(Pin::Follower)) => furthest_behind(strike.cluster, &leads().await?).await?,
        Some(Payload::To(Pin::Server(server))) => server.clone(),
        _ => bail!("the plan does not state which server is the one"),
    };
    Ok(strike.cluster.route(victim, &to).await?.into())
}

/// Of the servers that serve, but for this one, that with the lowest zxid; of several the first one.
async fn furthest_behind(cluster: &dyn Cluster, but: &Node) -> Result<Node> {
    let others: Vec<Node> = cluster.servers().into_iter().filter(|server| server != but).collect();
    let states = join_all(others.iter().map(|server| cluster.server_state(server))).await;
    let serving = others.into_iter().zip(states);
    let serving = serving.filter_map(|(server, state)| Some((server, state.ok()?.zxid)));
    let behind = serving.min_by_key(|(_, zxid)| *zxid);
    behind
        .map(|(server, _)| server)
        .with_context(|| format!("no server but {but} served"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::{ClusterPlan, Trigger, Window, Workload};

    fn plan(servers: usize, pinned: bool, to: Option<Pin>) -> Plan {
        let window = Window {
            id: 1,
            fault: "pin".into(),
            target: Target::Client,
            payload: to.map(Payload::To),
            trigger: Trigger::At { at_ms: 0 },
            duration_ms: 500,
            beside: false,
        };
        Plan {
            cluster: ClusterPlan {
                servers,
                ..ClusterPlan::default()
            },
            workload: Workload {
                pinned,
                ..Workload::default()
            },
            windows: vec![window],
            ..Plan::default()
        }
    }

    #[test]
    fn a_client_needs_two_servers_and_one_that_is_there() {
        let server = |name: &str| Some(Pin::Server(name.into()));
        for (plan, why) in [
            (plan(3, false, Some(Pin::Leader)), None),
            (plan(3, false, server("n3")), None),
            (plan(3, false, server("n4")), Some("window 1 pins to n4")),
            (plan(1, false, None), Some("a client of one server")),
            (plan(3, true, None), Some("uses one server alone")),
        ] {
            let shortfall = one_way(&plan);
            let shown = shortfall.as_deref().unwrap_or_default();
            assert_eq!(shortfall.is_some(), why.is_some(), "{shown}");
            assert!(shown.contains(why.unwrap_or_default()), "{shown}");
        }
    }
}
