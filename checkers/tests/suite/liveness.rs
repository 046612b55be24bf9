//! What definitions of liveness take from the bare events: when a run had recovered, and how long is too long.

use std::collections::BTreeSet;
use zooquake_history::Event;

/// The client of an event; no text if it is of none.
pub fn node(event: &Event) -> &str {
    event.node.as_deref().unwrap_or_default()
}

/// Where the last phase of this name began.
pub fn phase(events: &[Event], name: &str) -> Option<usize> {
    events
        .iter()
        .rposition(|event| event.f == "phase" && event.value == name)
}

/// Where a run had recovered and where its audit began, if there were both and nothing puts the recovery in doubt.
pub fn recovery(events: &[Event]) -> Option<(usize, usize)> {
    let (recovered, audit) = (phase(events, "recovered")?, phase(events, "audit")?);
    (!doubtful(events, recovered, audit)).then_some((recovered, audit))
}

/// Whether a window was not seen healed by `recovered`, or the harness stalled before `end`.
fn doubtful(events: &[Event], recovered: usize, end: usize) -> bool {
    let windows: BTreeSet<i64> = events.iter().filter_map(|event| event.window()).collect();
    let unhealed = |window: &i64| {
        let phase = |event: &&Event, name: &str| event.window() == Some(*window) && event.phase() == Some(name);
        let skipped = events.iter().any(|event| phase(&event, "skipped"));
        let off = events[..recovered].iter().rfind(|event| phase(event, "off"));
        !skipped && off.is_none_or(|off| off.verified() != Some(true))
    };
    windows.iter().any(unhealed) || events[recovered..end].iter().any(|event| event.f == "stall")
}

/// The median of these, the upper one of two; 0 if there are none.
pub fn median(all: impl Iterator<Item = u64>) -> u64 {
    let mut all: Vec<u64> = all.collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// The bound of liveness, in nanoseconds, where operations took so long: ten medians, and ten seconds at the least.
pub fn bound(took: impl Iterator<Item = u64>) -> u64 {
    (10 * median(took)).max(10_000_000_000)
}
