//! What clients of a run do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What one client does: its cycles in order, and again from the first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientPlan {
    /// The cycles; the first follows the last.
    pub cycles: Vec<Cycle>,
    /// How many operations it is asked for before the faults are healed: after these it only ends what it has begun.
    /// `None` for as many as there is time for. Operations are over early where every client has done its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
}

impl ClientPlan {
    /// Its cycle of this number, counted from 0; `None` if it has none at all.
    pub fn cycle(&self, number: usize) -> Option<&Cycle> {
        self.cycles.get(number % self.cycles.len().max(1))
    }

    /// How long it waits before that cycle.
    pub fn think(&self, number: usize) -> Duration {
        Duration::from_millis(self.cycle(number).map_or(0, |cycle| cycle.think_ms))
    }
}

/// Acquire, write, release.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cycle {
    /// Milliseconds to wait before the acquire.
    pub think_ms: u64,
    /// The writes while holding, each by the milliseconds it works between its check and its write.
    pub writes: Vec<u64>,
}
