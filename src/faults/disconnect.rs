//! A client's connections, ended at its proxy and refused for less than its session lasts.

use super::strike::{Seen, Strike};
use super::{Fault, WindowDraft};
use anyhow::{Result, bail};
use zooquake_history::fault::{self, Payload, Wire};
use zooquake_history::plan::{State, Target};

/// Disconnect.
pub const FAULT: Fault = Fault {
    kind: &fault::DISCONNECT,
    draw: |rng, topology, round| {
        let case = if round < 2 { round } else { rng.usize(0..4) };
        let state = match case {
            0 => (State::Working, 200),
            1 => (State::Waiting, rng.u64(0..60)),
            2 => (State::Acquiring, rng.u64(0..6)),
            _ => (State::Releasing, rng.u64(0..3)),
        };
        WindowDraft {
            target: Target::Client,
            payload: Some(Payload::Wire(if rng.bool() { Wire::Close } else { Wire::Reset })),
            state: Some(state),
            duration_ms: topology.timing.session_ms * rng.u64(60..80) / 100,
        }
    },
    longest_ms: |topology| topology.timing.session_ms * 80 / 100,
    strike: |strike, victim| Box::pin(disconnect(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.reconnect(victim).await?.into()) }),
};

async fn disconnect(strike: &Strike<'_>, victim: &str) -> Result<Seen> {
    let Some(Payload::Wire(wire)) = strike.window.payload else {
        bail!("the plan does not say how the connections end");
    };
    Ok(strike.cluster.disconnect(victim, wire).await?.into())
}
