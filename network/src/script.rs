//! Runs that follow a script: which messages arrive and which timers run out, in which order, and nothing else.

use zooquake_history::plan::{ScriptAct, ScriptStep};
use zooquake_workloads::consensus::protocol::Node;

/// The steps of a script with their moments, in microseconds; nodes are numbers.
pub type NodeScript = [(u32, NodeStep)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeStep {
    /// A message arrives; for the second time if it has arrived before.
    Deliver {
        /// The node that sent it.
        from: Node,
        /// The node that it is for.
        to: Node,
        /// Its number among all that the one sent to the other, from 1.
        nth: u32,
    },
    /// A timer runs out.
    Timer {
        /// The node that set it.
        node: Node,
        /// Its kind, as it prints itself.
        timer: String,
    },
    /// The application asks a node for an operation.
    Request {
        node: Node,
        /// The value of the operation.
        value: u32,
    },
}

impl NodeStep {
    /// The step of a plan's script; `None` if it names a node that is not among these.
    pub fn from_act(act: &ScriptAct, names: &[String]) -> Option<Self> {
        let node = |name: &String| names.iter().position(|other| other == name).map(|node| node as Node);
        Some(match act {
            ScriptAct::Deliver { from, to, nth } => Self::Deliver {
                from: node(from)?,
                to: node(to)?,
                nth: *nth,
            },
            ScriptAct::Timer { node: name, timer } => Self::Timer {
                node: node(name)?,
                timer: timer.clone(),
            },
            ScriptAct::Request { node: name, value } => Self::Request {
                node: node(name)?,
                value: *value,
            },
        })
    }

    /// The step of a plan's script.
    pub fn act(&self, names: &[String]) -> ScriptAct {
        let name = |node: Node| names[usize::from(node)].clone();
        match self {
            Self::Deliver { from, to, nth } => ScriptAct::Deliver {
                from: name(*from),
                to: name(*to),
                nth: *nth,
            },
            Self::Timer { node, timer } => ScriptAct::Timer {
                node: name(*node),
                timer: timer.clone(),
            },
            Self::Request { node, value } => ScriptAct::Request {
                node: name(*node),
                value: *value,
            },
        }
    }
}

/// The script of a plan; its steps that name a node which is not among these are left out.
pub fn node_script(steps: &[ScriptStep], names: &[String]) -> Vec<(u32, NodeStep)> {
    let step = |step: &ScriptStep| {
        let at = u32::try_from(step.at_ms.saturating_mul(1_000)).unwrap_or(u32::MAX);
        Some((at, NodeStep::from_act(&step.act, names)?))
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
