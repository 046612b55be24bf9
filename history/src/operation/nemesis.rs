//! What is recorded beside the clients' operations: the faults of the nemesis, the steps of scenes, stalls of the run.

use crate::event::Event;

/// Fields of the events on the lanes `nemesis`, `scene` and `run`.
impl Event {
    /// The number of the window in the plan.
    pub fn window(&self) -> Option<i64> {
        self.int("window")
    }

    /// Of a window: `begin`, `on`, `heal`, `off` or `skipped`. Of a step of a scene: `begin` or `done`.
    pub fn phase(&self) -> Option<&str> {
        self.str("phase")
    }

    /// The nodes that a fault hits, joined by commas.
    pub fn target(&self) -> Option<&str> {
        self.str("target")
    }

    /// Whether the effect was seen, or the healing.
    pub fn verified(&self) -> Option<bool> {
        self.bool("verified")
    }

    /// What was seen, in words.
    pub fn detail(&self) -> Option<&str> {
        self.str("detail")
    }

    /// The name of the scene.
    pub fn scene(&self) -> Option<&str> {
        self.str("scene")
    }

    /// The number of the scene's step, from 1.
    pub fn step(&self) -> Option<i64> {
        self.int("step")
    }

    /// The server that a step saw elected.
    pub fn leader(&self) -> Option<&str> {
        self.str("leader")
    }

    /// Of a stall: the milliseconds for which the harness stood still.
    pub fn stalled_ms(&self) -> Option<i64> {
        self.int("ms")
    }
}
