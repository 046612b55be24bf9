//! What a consensus protocol is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a consensus protocol is to bring about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConsensusGoal {
    /// The variant is no such protocol.
    #[default]
    Nothing,
    /// One value that was proposed is chosen, and all learners learn it.
    Value,
    /// A leader, with the greatest credentials of those that elected it; several may lead at a time.
    Election,
    /// The same, and of each epoch one leader at most.
    EpochLeader,
    /// A leader, and at any time one at most.
    OneLeader,
    /// A log in which every message stays that was acknowledged.
    Log,
}
