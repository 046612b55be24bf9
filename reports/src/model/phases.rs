//! Phases of a run: operations and faults, healing, recovery, final operations.

use zooquake_checkers::Event;

/// The beginning of a phase.
#[derive(Debug)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began.
    pub from: u64,
}

/// The phases in order.
pub fn find(events: &[Event]) -> Vec<Phase> {
    let phase = |event: &Event| {
        Some(Phase {
            name: crate::text::clip(event.entered()?, 24),
            from: event.time,
        })
    };
    events.iter().filter_map(phase).take(32).collect()
}
