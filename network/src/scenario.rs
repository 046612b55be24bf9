//! What a run on a network consists of.

use crate::disturbance::Disturbance;
use crate::queue::{EventQueue, QueuedEvent};
use crate::script::NodeScript;
use crate::transit::Transit;
use zooquake_workloads::consensus::protocol::{Node, Protocol};

/// What a run consists of, beside its seed.
#[derive(Debug)]
pub struct Scenario<'a, P: Protocol> {
    /// Sizes and options of the protocol.
    pub config: &'a P::Config,
    /// What is wrong, and when.
    pub disturbances: &'a [Disturbance],
    /// What clients are asked for: when (microseconds), which node, for which value.
    pub requests: &'a [(u32, Node, u32)],
    /// When the run ends at the latest, in microseconds.
    pub until: u32,
}

/// What decides when messages arrive and timers run out.
#[derive(Debug)]
pub enum Pace<'a> {
    /// Times that are drawn.
    Drawn(Transit),
    /// A script, beside which nothing happens but disturbances.
    Script(&'a NodeScript),
}

/// What is to happen by itself: disturbances, requests, the steps of a script.
pub(crate) fn planned<P: Protocol>(scenario: &Scenario<'_, P>, pace: &Pace<'_>) -> EventQueue<P::Message> {
    let mut queue = EventQueue::default();
    for (id, disturbance) in scenario.disturbances.iter().enumerate() {
        queue.push(disturbance.from, QueuedEvent::Begin(id));
        queue.push(disturbance.until, QueuedEvent::End(id));
    }
    for &(at, node, value) in scenario.requests {
        queue.push(at, QueuedEvent::Request { node, value });
    }
    if let Pace::Script(script) = pace {
        for (step, &(at, _)) in script.iter().enumerate() {
            queue.push(at, QueuedEvent::Step(step));
        }
    }
    queue
}
