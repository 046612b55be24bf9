//! How a simulated ensemble decides what happens next.

use crate::node::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scheduler of a simulated ensemble. It decides whose step comes next: a client's, which goes on after each of its
/// awaits, or a server's, which takes a message or does what is due. A real ensemble has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// A random walk: messages take a time that is drawn, and so is the step that comes next of those that are ready.
    #[default]
    Walk,
    /// By priorities that are drawn, and that fall at points that are drawn (PCT: Burckhardt, Kothari, Musuvathi,
    /// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
    Pct {
        /// The depth of the failures looked for: it has one point less at which a priority falls. At least 1.
        depth: u32,
        /// How many steps a schedule is taken to have: the points are drawn from so many.
        steps: u32,
    },
    /// In the order of time, but for these steps, counted from 0 and ascending, at each of which the party whose turn
    /// it is is delayed (Emmi, Qadeer, Rakamarić, "Delay-Bounded Scheduling", POPL 2011).
    Delays(Vec<u32>),
    /// On a network: these steps at these moments and no other; what is not named happens after the run, if ever.
    Script(Vec<ScriptStep>),
}

/// One step of a network that follows a script.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ScriptStep {
    /// When, in milliseconds of virtual time.
    pub at_ms: u64,
    /// What.
    #[serde(flatten)]
    pub act: ScriptAct,
}

/// What happens in a step of a network, whose nodes have names in plans, and numbers while it runs. One that is not
/// possible then does not happen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptAct<N = Node> {
    /// A message arrives; a copy of it if it has arrived before.
    Deliver {
        /// The node that sent it.
        from: N,
        /// The node that it is for.
        to: N,
        /// Its number among all that the one sent to the other, from 1.
        nth: u32,
    },
    /// A timer runs out.
    Timer {
        /// The node that set it.
        node: N,
        /// Its kind, as it prints itself.
        timer: String,
    },
    /// The application asks a node for an operation.
    Request {
        node: N,
        /// The value of the operation.
        value: u32,
    },
}

impl<N> ScriptAct<N> {
    /// The same with other nodes; `None` where there is none for one of its own.
    pub fn with_nodes<M>(&self, other: impl Fn(&N) -> Option<M>) -> Option<ScriptAct<M>> {
        Some(match self {
            Self::Deliver { from, to, nth } => ScriptAct::Deliver {
                from: other(from)?,
                to: other(to)?,
                nth: *nth,
            },
            Self::Timer { node, timer } => ScriptAct::Timer {
                node: other(node)?,
                timer: timer.clone(),
            },
            Self::Request { node, value } => ScriptAct::Request {
                node: other(node)?,
                value: *value,
            },
        })
    }
}

impl ScriptAct<u8> {
    /// The act of a plan's script, in which nodes have these names.
    ///
    /// # Panics
    /// If one of its nodes has no name.
    pub fn act(&self, names: &[Node]) -> ScriptAct {
        let named = self.with_nodes(|node| names.get(usize::from(*node)).cloned());
        named.expect("each node has a name")
    }
}
