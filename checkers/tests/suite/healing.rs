//! Windows of random worlds that are healed, or not, and what of them forbids to judge liveness.

use std::collections::BTreeSet;
use zooquake_checkers::Event;

/// The events of a window: phases, and whether each was verified; none in half of the worlds.
pub fn phases(random: &mut fastrand::Rng) -> &'static [(&'static str, bool)] {
    match random.u32(..20) {
        0..3 => &[("begin", true), ("on", true), ("off", true)],
        3..5 => &[("begin", true), ("skipped", true)],
        5..7 => &[("begin", true), ("off", false), ("off", true)],
        7 => &[("begin", true), ("on", true), ("off", false)],
        8 => &[("begin", true), ("on", true)],
        9 => &[("begin", true)],
        _ => &[],
    }
}

/// Whether a window was not seen healed by `recovered`, or the harness stalled before `end`.
pub fn doubtful(events: &[Event], recovered: usize, end: usize) -> bool {
    let windows: BTreeSet<i64> = events.iter().filter_map(|event| event.window()).collect();
    let unhealed = |window: &i64| {
        let phase = |event: &&Event, name: &str| event.window() == Some(*window) && event.phase() == Some(name);
        let skipped = events.iter().any(|event| phase(&event, "skipped"));
        let off = events[..recovered].iter().rfind(|event| phase(event, "off"));
        !skipped && off.is_none_or(|off| off.verified() != Some(true))
    };
    windows.iter().any(unhealed) || events[recovered..end].iter().any(|event| event.f == "stall")
}
