//! What strikes where each client uses one server only and holds nothing: mostly servers, and what their clients see
//! then.

use super::partition::minority;
use super::{Topology, WindowDraft, any_server};
use zooquake_history::fault::{Cut, Payload};
use zooquake_history::plan::{ClientState, Target};

/// At the next operation of any client.
const OPERATION: (ClientState, u64) = (ClientState::Working, 0);

fn sketch(target: Target, duration_ms: u64) -> WindowDraft {
    WindowDraft {
        target,
        payload: None,
        state: None,
        duration_ms,
    }
}

/// Long enough for another leader to be elected and to work, while the old one is away: the followers miss it for
/// syncLimit × tickTime, and agree on another one in about as long again. Not so long that the clients of the old one
/// have given up their first attempt to come back: they miss it for 2/5 of their session timeout, and that attempt
/// lasts as long again.
fn reign(rng: &mut fastrand::Rng, topology: &Topology) -> u64 {
    2 * topology.timing.sync_ms() + rng.u64(600..1_300)
}

/// The longest that a pause or a partition is drawn to last, in milliseconds.
pub(super) fn longest_ms(topology: &Topology) -> u64 {
    match topology.workload.pinned {
        true => 2 * topology.timing.sync_ms() + 1_300,
        false => topology.timing.session_ms + topology.timing.tick_ms + 2_200,
    }
}

/// Draws a kill.
pub(super) fn kill(rng: &mut fastrand::Rng, topology: &Topology, round: usize) -> WindowDraft {
    let case = if round < 3 { round } else { rng.usize(0..5) };
    let duration_ms = rng.u64(1_000..2_500);
    match case {
        0 | 3 => sketch(Target::Leader, duration_ms),
        2 => WindowDraft {
            state: Some(OPERATION),
            ..sketch(Target::Client, duration_ms)
        },
        _ => sketch(any_server(rng, topology), duration_ms),
    }
}

/// Draws a pause: a leader that is deposed meanwhile answers for a moment when it is thawed.
pub(super) fn pause(rng: &mut fastrand::Rng, topology: &Topology, round: usize) -> WindowDraft {
    let case = if round == 0 { 0 } else { rng.usize(0..6) };
    let duration_ms = reign(rng, topology);
    match case {
        0..4 => sketch(Target::Leader, duration_ms),
        4 => WindowDraft {
            state: Some(OPERATION),
            ..sketch(Target::Client, duration_ms)
        },
        _ => sketch(any_server(rng, topology), duration_ms),
    }
}

/// Draws a partition: a server that is cut off from the others only goes on answering its clients' reads.
pub(super) fn partition(rng: &mut fastrand::Rng, topology: &Topology, round: usize) -> WindowDraft {
    let case = if round < 3 { round } else { rng.usize(0..7) };
    let (target, cut) = match case {
        0 => (Target::Leader, Cut::FromServers),
        1 => (any_server(rng, topology), Cut::FromServers),
        2 => (Target::Leader, Cut::Isolate),
        3 => (minority(rng, topology), Cut::FromServers),
        4 => (any_server(rng, topology), Cut::Isolate),
        5 => (Target::Leader, if rng.bool() { Cut::Deaf } else { Cut::Mute }),
        _ => (Target::Client, Cut::Isolate),
    };
    WindowDraft {
        payload: Some(Payload::Cut(cut)),
        state: (target == Target::Client).then_some(OPERATION),
        ..sketch(target, reign(rng, topology))
    }
}
