//! A client's connections, ended at its proxy and refused for much less than its session lasts.

use super::strike::{Strike, StrikeEffect};
use super::{Fault, Victims, WindowDraft, client_state, no_shortfall};
use anyhow::{Result, bail};
use zooquake_history::Node;
use zooquake_history::fault::{self, Payload, Wire};
use zooquake_history::plan::Target;

/// How long it lasts, in hundredths of the session timeout.
const SHARE: std::ops::Range<u64> = 20..40;

/// Disconnect.
pub const FAULT: Fault = Fault {
    kind: &fault::DISCONNECT,
    draw: |rng, topology, round| {
        let state = client_state(rng, round);
        WindowDraft {
            target: Target::Client,
            payload: Some(Payload::Wire(if rng.bool() { Wire::Close } else { Wire::Reset })),
            state: Some(state),
            // The session lasts from the last heartbeat, which may be a third of it old, and the way back takes its
            // time.
            duration_ms: topology.timing.session_ms * rng.u64(SHARE) / 100,
        }
    },
    victims: Victims::Client,
    payload: |payload| match payload {
        None => Ok(Some(Payload::Wire(Wire::Close))),
        Some(Payload::Wire(Wire::Close | Wire::Reset)) => Ok(payload),
        Some(_) => Err("has the `wire` close or reset".into()),
    },
    longest_ms: |topology| topology.timing.session_ms * SHARE.end / 100,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(disconnect(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.reconnect(victim).await?.into()) }),
};

async fn disconnect(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let Some(Payload::Wire(wire)) = strike.window.payload else {
        bail!("the plan does not state how the connections end");
    };
    Ok(strike.cluster.disconnect(victim, wire).await?.into())
}
