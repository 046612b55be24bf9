//! Runs that follow a script: which messages arrive and which timers run out, in which order, and nothing else.

use zooquake_history::Node as NodeName;
use zooquake_history::plan::{ScriptAct, ScriptStep};
use zooquake_workloads::consensus::protocol::Node;

/// The steps of a script with their moments, in microseconds.
pub type NodeScript = [(u32, NodeStep)];

/// What happens in a step; nodes are numbers.
pub type NodeStep = ScriptAct<Node>;

/// The number of the node of this name.
pub fn node_named(names: &[NodeName], name: &NodeName) -> Option<Node> {
    names.iter().position(|other| other == name).map(|node| node as Node)
}

/// The script of a plan; its steps that name a node which is not among these are left out.
pub fn node_script(steps: &[ScriptStep], names: &[NodeName]) -> Vec<(u32, NodeStep)> {
    let step = |step: &ScriptStep| {
        let at = u32::try_from(step.at_ms.saturating_mul(1_000)).unwrap_or(u32::MAX);
        Some((at, step.act.with_nodes(|name| node_named(names, name))?))
    };
    steps.iter().filter_map(step).collect()
}

/// The messages that were sent, by link, as a script names them.
#[derive(Debug)]
pub struct HeldMessages<M> {
    held: Vec<HeldMessage<M>>,
}

#[derive(Debug, Clone, Copy)]
struct HeldMessage<M> {
    link: (Node, Node),
    number: u32,
    message: M,
    delivered: bool,
}

/// A message that a script delivers.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedDelivery<M> {
    /// Its number among all messages.
    pub number: u32,
    pub message: M,
    /// Whether it was delivered before, so that this is a second copy.
    pub again: bool,
}

impl<M> Default for HeldMessages<M> {
    fn default() -> Self {
        Self { held: Vec::new() }
    }
}

impl<M: Copy> HeldMessages<M> {
    /// Holds a message with its number.
    pub fn hold(&mut self, link: (Node, Node), number: u32, message: M) {
        self.held.push(HeldMessage {
            link,
            number,
            message,
            delivered: false,
        });
    }

    /// Delivers the n-th message that was held on a link, from 1; `None` if there is none yet.
    pub fn deliver(&mut self, link: (Node, Node), nth: u32) -> Option<ScriptedDelivery<M>> {
        let mut on_link = self.held.iter_mut().filter(|message| message.link == link);
        let held = on_link.nth(nth.checked_sub(1)? as usize)?;
        let again = std::mem::replace(&mut held.delivered, true);
        Some(ScriptedDelivery {
            number: held.number,
            message: held.message,
            again,
        })
    }
}
