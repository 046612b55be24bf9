//! What is recorded beside the clients' operations: the faults of the nemesis, the steps of scenes, stalls, clocks and
//! phases of the run.

use super::{AnyType, fields};
use crate::event::Event;
use crate::node::Node;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// How far a fault's window, or a step of a scene, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowPhase {
    /// It is about to begin.
    Begin,
    /// The fault is in effect; `verified` states whether that was seen.
    On,
    /// The fault is about to be healed.
    Heal,
    /// The fault was taken away; `verified` states whether that was seen.
    Off,
    /// The fault never began.
    Skipped,
    /// The step is over.
    Done,
}

/// What is recorded of a fault's window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowEvent {
    /// Its number in the plan.
    pub window: usize,
    /// How far it is.
    pub phase: WindowPhase,
    /// The nodes that the fault hits, joined by commas; `None` before they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether the effect was seen, or the healing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// What was seen, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What a fault on the wire took or kept back, and, where it is healed, what became of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    /// On a network, of a window that is healed: how many messages, timers and requests it hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<u32>,
}

/// What is recorded of a step of a scene.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepEvent {
    /// The name of the scene.
    pub scene: String,
    /// The number of the step, from 1.
    pub step: usize,
    /// The servers that it is about.
    pub servers: Vec<Node>,
    /// How far it is.
    pub phase: WindowPhase,
    /// Whether its effect was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// What was seen, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Each server's last zxid as it reported it when the step was over; of those that serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zxids: Option<BTreeMap<Node, String>>,
    /// The server that leads; `None` unless the step was about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<Node>,
}

/// What is recorded when the harness stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// Milliseconds for which it did.
    pub ms: u64,
}

/// A reading of the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockReading {
    /// Microseconds since 1970.
    pub unix_us: u64,
}

/// The name of the events of the run that record which engines of containers do not answer.
pub const UNREACHABLE: &str = "unreachable";

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
    /// What a fault on the wire took or kept back, and, where it is healed, what became of that.
    EVIDENCE, evidence: AnyType = "evidence";
    /// Of a window on a network that is healed: how many messages, timers and requests it hit.
    HIT, hit: i64 = "hit";
    /// The name of the scene.
    SCENE, scene: str = "scene";
    /// The number of the scene's step, from 1.
    STEP, step: i64 = "step";
    /// The server that a step saw elected.
    LEADER, leader: str = "leader";
    /// Of a stall: the milliseconds for which the harness stood still.
    STALLED_MS, stalled_ms: i64 = "ms";
    /// Of an event `unreachable` of the run: the engines of containers that do not answer from then on, in words; none
    /// if all do.
    ENGINES, engines: [AnyType] = "engines";
    /// Of a reading of the wall clock: microseconds since 1970.
    UNIX_US, unix_us: i64 = "unix_us";
}

impl Event {
    /// The engines of containers that do not answer from the event on, in words; `None` if it does not record that.
    pub fn unreachable(&self) -> Option<impl Iterator<Item = &str>> {
        let engines = self.engines().filter(|_| self.f == UNREACHABLE && self.is_of("run"))?;
        Some(engines.iter().filter_map(crate::Value::as_str))
    }

    /// The phase of the run that begins with the event; `None` if none does, or if its name is no text.
    pub fn entered(&self) -> Option<&str> {
        let phase = self.f == "phase" && self.is_of("run");
        self.value.as_str().filter(|_| phase)
    }
}
