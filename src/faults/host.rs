//! Faults of whole hosts: all servers and clients on one host are killed, frozen or cut off together. Each of them is
//! struck, seen struck and healed as by the fault of single nodes.

use super::{Fault, Topology, Victims, WindowDraft, kill, no_payload, no_shortfall, partition, pause};
use std::ops::Range;
use zooquake_history::plan::Target;
use zooquake_history::{Host, fault};

pub const KILL: Fault = Fault {
    kind: &fault::HOST_KILL,
    draw: |rng, topology, _| sketch(rng, topology, 1_000..2_500),
    longest_ms: |_| 2_500,
    victims: Victims::Host,
    payload: no_payload,
    shortfall: no_shortfall,
    ..kill::FAULT
};

/// Pause, for longer than the session timeout.
pub const PAUSE: Fault = Fault {
    kind: &fault::HOST_PAUSE,
    draw: |rng, topology, _| {
        let expired = topology.timing.session_ms + topology.timing.tick_ms;
        sketch(rng, topology, expired + 1_200..expired + 2_200)
    },
    longest_ms: |topology| topology.timing.session_ms + topology.timing.tick_ms + 2_200,
    victims: Victims::Host,
    payload: no_payload,
    shortfall: no_shortfall,
    ..pause::FAULT
};

/// Partition, for longer than the session timeout.
pub const PARTITION: Fault = Fault {
    kind: &fault::HOST_PARTITION,
    draw: |rng, topology, _| {
        let expired = topology.timing.session_ms + topology.timing.tick_ms;
        sketch(rng, topology, expired + 800..expired + 2_200)
    },
    longest_ms: |topology| topology.timing.session_ms + topology.timing.tick_ms + 2_200,
    victims: Victims::Host,
    payload: no_payload,
    shortfall: no_shortfall,
    ..partition::FAULT
};

/// A window of so many milliseconds that hits a host drawn at random. A run without several has no such window.
fn sketch(rng: &mut fastrand::Rng, topology: &Topology, lasts: Range<u64>) -> WindowDraft {
    let host = rng.usize(1..=topology.hosts.max(1));
    WindowDraft {
        target: Target::Host(Host::new(host)),
        payload: None,
        state: None,
        duration_ms: rng.u64(lasts),
    }
}
