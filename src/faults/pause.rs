//! A frozen node: its processes run no instruction, its kernel goes on.

use super::{Fault, Victims, WindowDraft, any_server, no_payload, no_shortfall, servers};
use zooquake_history::fault;
use zooquake_history::plan::{ClientState, Target};

/// Pause.
pub const FAULT: Fault = Fault {
    kind: &fault::PAUSE,
    draw: |rng, topology, round| {
        if topology.workload.pinned {
            return servers::pause(rng, topology, round);
        }
        let case = if round == 0 { 0 } else { rng.usize(0..6) };
        let (target, state) = match case {
            0..3 => (Target::Client, Some((ClientState::Working, 200))),
            3 => (Target::Leader, None),
            4 => (Target::Client, Some((ClientState::Waiting, rng.u64(0..60)))),
            _ => (any_server(rng, topology), None),
        };
        // Expiry takes up to the timeout and a tick; what is left lets the next holder work while this one is frozen.
        let timing = topology.timing;
        WindowDraft {
            target,
            payload: None,
            state,
            duration_ms: timing.session_ms + timing.tick_ms + rng.u64(1_200..2_200),
        }
    },
    victims: Victims::Nodes,
    payload: no_payload,
    longest_ms: servers::longest_ms,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(async move { Ok(strike.cluster.pause(victim).await?.into()) }),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.resume(victim).await?.into()) }),
};
