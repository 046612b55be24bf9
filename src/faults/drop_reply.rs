//! One reply that is lost after the request was applied; sometimes the request itself, which no client can distinguish
//! from it.

use super::strike::{MissedStrike, Strike, StrikeEffect};
use super::{Fault, Topology, Victims, WindowDraft, any_client, no_shortfall};
use anyhow::{Result, bail};
use serde_json::json;
use std::time::Duration;
use zooquake_backend::sidecar::{LossKind, RuleAction, RuleEffect};
use zooquake_history::Node;
use zooquake_history::fault::{self, NthRequest, Payload, Wire, WireOp};
use zooquake_history::operation;

/// How long the proxy waits for a request that fits.
const PATIENCE: Duration = Duration::from_secs(8);

/// Drop one reply.
pub const FAULT: Fault = Fault {
    kind: &fault::DROP_REPLY,
    draw: |rng, topology, round| {
        let op = kind_of_request(rng, topology, round);
        // The first two are the certain ones: a reply to the very next request that fits.
        let (nth, request) = if round < 2 {
            (1, false)
        } else {
            (rng.u32(1..3), rng.u32(0..4) == 0)
        };
        let which = NthRequest { op, nth };
        WindowDraft {
            target: any_client(rng, topology),
            payload: Some(Payload::Wire(if request {
                Wire::DropRequest(which)
            } else {
                Wire::DropReply(which)
            })),
            state: None,
            // It is over when it has happened.
            duration_ms: 0,
        }
    },
    victims: Victims::Client,
    payload: |payload| match payload {
        Some(Payload::Wire(Wire::DropReply(which) | Wire::DropRequest(which))) if which.nth > 0 => Ok(payload),
        _ => Err("has a `wire` that states what is lost, such as { drop-reply = { op = \"create\", nth = 1 } }".into()),
    },
    longest_ms: |_| 0,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(lose(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.reconnect(victim).await?.into()) }),
};

/// The kind of request that is struck: first a create, then what removes a znode, later drawn at random.
pub(super) fn kind_of_request(rng: &mut fastrand::Rng, topology: &Topology, round: usize) -> WireOp {
    match if round < 2 { round } else { rng.usize(0..4) } {
        // What the other families write has no such common names.
        _ if !operation::family(&topology.workload.family).is_some_and(|family| family.grants) => WireOp::AnyWrite,
        0 | 3 => WireOp::Create,
        1 => WireOp::Removal,
        _ => WireOp::AnyWrite,
    }
}

async fn lose(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let Some(Payload::Wire(wire)) = strike.window.payload else {
        bail!("the plan does not state what is lost");
    };
    let dropped = armed(strike, victim, wire).await?;
    Ok(StrikeEffect {
        detail: sentence(&dropped),
        evidence: Some(json!(dropped)),
    })
}

/// Arms the victim's proxy, and waits until it has acted.
///
/// # Errors
/// [`MissedStrike`] if it did not in time or before the operations were over.
pub(super) async fn armed(strike: &Strike<'_>, victim: &Node, wire: Wire) -> Result<RuleEffect> {
    let mut over = strike.over.clone();
    let mut acting = strike.cluster.arm(victim, wire, PATIENCE);
    let acted = tokio::select! {
        biased;
        acted = &mut acting => acted,
        () = async { drop(over.wait_for(|over| *over).await) } => {
            strike.cluster.disarm(victim).await?;
            acting.await
        }
    };
    Ok(acted?.ok_or_else(|| MissedStrike(format!("no request of {victim} that fits was applied in time")))?)
}

fn sentence(dropped: &RuleEffect) -> String {
    let RuleEffect { op, path, xid, .. } = dropped;
    let path = path.as_deref().map(|path| format!(" {path}")).unwrap_or_default();
    match (dropped.action, dropped.zxid) {
        (RuleAction::Lost(LossKind::Reply), Some(zxid)) => format!(
            "the reply to {op}{path} (xid {xid}), applied as zxid {zxid:#x}, was dropped and the connection closed"
        ),
        _ => format!("{op}{path} (xid {xid}) was dropped before a server saw it, and the connection closed"),
    }
}
