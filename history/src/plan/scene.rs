//! Scenes: a fresh ensemble each, brought into a given state step by step, to see what it then does.

use crate::node::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One scene on an ensemble of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scene {
    /// Its name, and that of the folder of its logs.
    pub name: String,
    /// The server that the scene is to end with as leader.
    pub winner: Node,
    /// The rule by which it is to win: `epoch`, `zxid` or `sid`.
    pub rule: String,
    /// What is done and waited for, in order; the last step is the election that the scene is about.
    pub steps: Vec<Step>,
}

/// One step of a scene. It is over when its effect was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What is done.
    pub act: Act,
    /// To whom, by whom or by whose leave, as the act has it.
    pub servers: Vec<Node>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// Starts the processes of these servers.
    Start,
    /// Waits until all of these serve, under the first of them as leader.
    Lead,
    /// Creates a znode through this server, acknowledged by a quorum.
    Write,
    /// Waits until all of these have the same last zxid, and it no longer changes.
    Level,
    /// SIGKILL to the processes of these, one after the other.
    Kill,
    /// Cuts each of these off from everyone.
    Cut,
    /// Waits until none of these serves: each has found that it lost its leader.
    Lose,
    /// Lets these be heard and hear again.
    Heal,
    /// Waits until all of these serve, one of them as leader.
    Elect,
}

impl Act {
    /// Its name in plans and histories.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Lead => "lead",
            Self::Write => "write",
            Self::Level => "level",
            Self::Kill => "kill",
            Self::Cut => "cut",
            Self::Lose => "lose",
            Self::Heal => "heal",
            Self::Elect => "elect",
        }
    }
}
