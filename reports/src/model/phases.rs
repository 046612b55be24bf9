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
    let phases = events.iter().filter(|e| e.on_lane("run") && e.f == "phase");
    phases
        .filter_map(|e| {
            Some(Phase {
                name: crate::text::clip(e.value.as_str()?, 24),
                from: e.time,
            })
        })
        .take(32)
        .collect()
}
