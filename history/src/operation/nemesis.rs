//! What is recorded beside the clients' operations: the faults of the nemesis, the steps of scenes, stalls, clocks and phases
//! of the run.

use super::{Field, fields};
use crate::event::Event;
use serde_json::Value;

/// Of [`EVIDENCE`]: whether the `reply` was lost or the `request`.
pub const LOST: Field<str> = Field::new("lost");
/// Of [`EVIDENCE`]: the kind of the request.
pub const OP: Field<str> = Field::new("op");

fields! {
    /// The number of the window in the plan.
    WINDOW, window: i64 = "window";
    /// Of a window: `begin`, `on`, `heal`, `off` or `skipped`. Of a step of a scene: `begin` or `done`.
    PHASE, phase: str = "phase";
    /// The nodes that a fault hits, joined by commas.
    TARGET, target: str = "target";
    /// Whether the effect was seen, or the healing.
    VERIFIED, verified: bool = "verified";
    /// What was seen, in words.
    DETAIL, detail: str = "detail";
    /// What a fault on the wire took.
    EVIDENCE, evidence: Value = "evidence";
    /// The name of the scene.
    SCENE, scene: str = "scene";
    /// The number of the scene's step, from 1.
    STEP, step: i64 = "step";
    /// The server that a step saw elected.
    LEADER, leader: str = "leader";
    /// Of a stall: the milliseconds for which the harness stood still.
    STALLED_MS, stalled_ms: i64 = "ms";
    /// Of a reading of the wall clock: microseconds since 1970.
    UNIX_US, unix_us: i64 = "unix_us";
}

impl Event {
    /// The phase of the run that begins with the event; `None` if none does, or if its name is no text.
    pub fn entered(&self) -> Option<&str> {
        let phase = self.f == "phase" && self.on_lane("run");
        self.value.as_str().filter(|_| phase)
    }
}
