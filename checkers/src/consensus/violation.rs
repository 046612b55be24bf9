//! Violations of the properties of consensus protocols.

use super::divergence::LogDivergence;

/// A violation of a property of consensus protocols. Places are those that were given with the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsensusViolation {
    /// What is violated, and by whom.
    pub kind: ViolationKind,
    /// The places of the steps that prove it, in any order.
    pub witness: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViolationKind {
    /// Two nodes made different values public as the chosen one, or one did two: learners what they learned, proposers
    /// what they were answered.
    Disagreement {
        /// Who made them public.
        nodes: (u8, u8),
        /// What each made public, and in which round that was chosen; an answer names no round.
        values: ((u32, Option<u32>), (u32, Option<u32>)),
    },
    /// A learner learned, or a client's node was answered with, a value that nobody had proposed.
    InvalidValue { node: u8, value: u32 },
    /// One of the violations of elections.
    Leader(LeaderViolation),
    /// A message that was acknowledged is not in the log of a leader of the latest epoch.
    LostMessage {
        /// The message.
        value: u32,
        leader: u8,
        /// Its epoch.
        round: u32,
    },
    /// The logs of two replicas in sync differ.
    DivergingReplicas(LogDivergence),
    /// After healing a learner has not learned a value, or a client's node was not answered.
    NoDecision {
        /// The nodes that lack something: bit `n` is node `n`.
        lacking: u32,
    },
}

/// The name of the anomaly that the logs of two replicas in sync differ.
pub(super) const DIVERGING_REPLICAS: &str = "diverging-replicas";

impl ViolationKind {
    /// The name of its anomaly.
    pub fn anomaly(&self) -> &'static str {
        match self {
            Self::Disagreement { .. } => "disagreement",
            Self::InvalidValue { .. } => "invalid-value",
            Self::Leader(violation) => violation.anomaly(),
            Self::LostMessage { .. } => "lost-message",
            Self::DivergingReplicas(_) => DIVERGING_REPLICAS,
            Self::NoDecision { .. } => "no-decision",
        }
    }

    /// The property that is violated.
    pub fn property(&self) -> &'static str {
        match self {
            Self::Disagreement { .. } => "agreement",
            Self::InvalidValue { .. } => "validity",
            Self::Leader(violation) => violation.property(),
            Self::LostMessage { .. } => "nothing is lost",
            Self::DivergingReplicas(_) => "one log",
            Self::NoDecision { .. } => "liveness",
        }
    }
}

/// The credentials of a server: epoch, then zxid, then its number decide which vote is the greater one.
pub type Credentials = (u32, u32, u8);

/// A violation of what a protocol promises of its leaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderViolation {
    /// Two nodes led at one moment.
    TwoAtOnce {
        /// The one that led.
        first: u8,
        /// The one that began to lead.
        second: u8,
    },
    /// Two nodes led one epoch.
    TwoOfEpoch {
        first: u8,
        second: u8,
        /// The epoch.
        round: u32,
    },
    /// Two replicas led one epoch of a partition.
    TwoOfPartition {
        first: u8,
        second: u8,
        /// The epoch.
        round: u32,
    },
    /// A server was elected by one whose credentials are greater.
    LesserVote {
        /// Who was elected, with its credentials.
        leader: (u8, Credentials),
        /// One of those that elected it, with its credentials.
        voter: (u8, Credentials),
    },
    /// After healing there is no leader that a majority follows, or several.
    None,
}

impl LeaderViolation {
    /// The name of its anomaly.
    pub fn anomaly(self) -> &'static str {
        match self {
            Self::TwoAtOnce { .. } | Self::TwoOfPartition { .. } => "two-leaders",
            Self::TwoOfEpoch { .. } => "two-ensemble-leaders",
            Self::LesserVote { .. } => "lesser-vote-won",
            Self::None => "no-leader",
        }
    }

    /// The property that is violated.
    pub fn property(self) -> &'static str {
        match self {
            Self::TwoAtOnce { .. } | Self::TwoOfEpoch { .. } | Self::TwoOfPartition { .. } => "single leadership",
            Self::LesserVote { .. } => "election",
            Self::None => "liveness",
        }
    }
}
