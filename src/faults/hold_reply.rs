//! One reply that is kept back after the request was applied, with all that follows it on the connection, and delivered
//! later: to the client it is slow, or lost with the connection that the client gives up.

use super::strike::{Strike, StrikeEffect};
use super::{Fault, Victims, WindowDraft, any_client, drop_reply, no_shortfall};
use anyhow::{Result, bail};
use serde_json::json;
use std::ops::Range;
use zooquake_backend::sidecar::RuleEffect;
use zooquake_history::Node;
use zooquake_history::fault::{self, NthRequest, Payload, Wire};

/// So short that the client does not notice: less than a third of the session timeout, in hundredths of it.
const UNNOTICED: Range<u64> = 5..25;

/// Long enough for a client to give the connection up: more than two thirds of the session timeout.
const GIVEN_UP: Range<u64> = 70..95;

/// Longer than the session timeout.
const OUTLASTS: Range<u64> = 105..150;

/// Hold one reply.
pub const FAULT: Fault = Fault {
    kind: &fault::HOLD_REPLY,
    draw: |rng, topology, round| {
        let op = drop_reply::kind_of_request(rng, topology, round);
        // The first two are the certain ones: the reply to the very next request that fits.
        let nth = if round < 2 { 1 } else { rng.u32(1..3) };
        let share = match if round < 3 { round } else { rng.usize(0..3) } {
            0 => GIVEN_UP,
            1 => UNNOTICED,
            _ => OUTLASTS,
        };
        WindowDraft {
            target: any_client(rng, topology),
            payload: Some(Payload::Wire(Wire::HoldReply(NthRequest { op, nth }))),
            state: None,
            duration_ms: topology.timing.session_ms * rng.u64(share) / 100,
        }
    },
    victims: Victims::Client,
    payload: |payload| match payload {
        Some(Payload::Wire(Wire::HoldReply(which))) if which.nth > 0 => Ok(payload),
        _ => Err(
            "has a `wire` that states what is kept back, such as { hold-reply = { op = \"create\", nth = 1 } }".into(),
        ),
    },
    longest_ms: |topology| topology.timing.session_ms * OUTLASTS.end / 100,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(hold(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.pass_on(victim, None).await?.into()) }),
};

async fn hold(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let Some(Payload::Wire(wire @ Wire::HoldReply(_))) = strike.window.payload else {
        bail!("the plan does not state which reply is kept back");
    };
    let held = drop_reply::armed(strike, victim, wire).await?;
    Ok(StrikeEffect {
        detail: sentence(&held),
        evidence: Some(json!(held)),
    })
}

fn sentence(held: &RuleEffect) -> String {
    let RuleEffect {
        op, path, xid, zxid, ..
    } = held;
    let path = path.as_deref().map(|path| format!(" {path}")).unwrap_or_default();
    let applied = zxid
        .map(|zxid| format!(", applied as zxid {zxid:#x},"))
        .unwrap_or_default();
    format!("the reply to {op}{path} (xid {xid}){applied} is kept back, with all that follows it on the connection")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Topology;
    use zooquake_history::fault::WireOp;
    use zooquake_history::plan::{ClusterPlan, Workload};

    #[test]
    fn replies_are_kept_back_unnoticed_or_until_the_connection_is_given_up_or_beyond_the_session() {
        let lock = Workload {
            family: "lock".into(),
            variant: "fenced".into(),
            ..Workload::default()
        };
        let topology = Topology::new(&lock, &ClusterPlan::default());
        let mut rng = fastrand::Rng::with_seed(1);
        let drawn: Vec<(NthRequest, u64)> = (0..60)
            .map(|round| {
                let window = FAULT.draw(&mut rng, &topology, round, round + 1, 2_000);
                match window.payload {
                    Some(Payload::Wire(Wire::HoldReply(which))) => (which, window.duration_ms),
                    other => panic!("{other:?}"),
                }
            })
            .collect();
        let which = |op| NthRequest { op, nth: 1 };
        assert_eq!(
            (drawn[0].0, drawn[1].0),
            (which(WireOp::Create), which(WireOp::Removal))
        );
        let session_ms = topology.timing.session_ms;
        let lasts = |ms: u64| match ms * 100 / session_ms {
            5..25 => "unnoticed",
            70..95 => "given up",
            105..150 => "beyond the session",
            other => panic!("{other} %"),
        };
        let all: Vec<&str> = drawn.iter().map(|(_, ms)| lasts(*ms)).collect();
        assert_eq!(all[..3], ["given up", "unnoticed", "beyond the session"]);
        let longest = drawn.iter().map(|(_, ms)| *ms).max();
        assert!(longest <= Some((FAULT.longest_ms)(&topology)), "{longest:?}");
    }
}
