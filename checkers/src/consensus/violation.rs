//! Violations of the properties of consensus protocols, and their description in words.

use super::logs::LogDivergence;
use super::voting_word;
use crate::analysis::Analysis;
use zooquake_history::Node;

/// A violation of a property of consensus protocols. Places are those that were given with the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsensusViolation {
    /// What is violated, and by whom.
    pub kind: ViolationKind,
    /// The places of the steps that prove it, in any order.
    pub witness: Vec<usize>,
}

impl ConsensusViolation {
    /// What happened, in one paragraph.
    pub(super) fn words(&self, names: &[Node], run: &Analysis<'_>) -> String {
        let name = |node: u8| {
            names
                .get(usize::from(node))
                .map_or_else(|| "a node".to_owned(), Node::to_string)
        };
        let at = |nth: usize| self.witness.get(nth).map_or(String::new(), |&place| run.at(place));
        match &self.kind {
            ViolationKind::Disagreement {
                nodes: (first, second),
                values: ((one, round), (other, later)),
            } => {
                let word = voting_word(names);
                let public = |nth: usize, node: u8, value: u32, round: Option<u32>| match round {
                    Some(round) => format!(
                        "{} learned at {} that the value {value} is chosen, by the votes of {word} {round}",
                        name(node),
                        at(nth)
                    ),
                    None => format!(
                        "{} was answered at {} that the value {value} is chosen",
                        name(node),
                        at(nth)
                    ),
                };
                format!(
                    "{}; {}. One value at most is chosen.",
                    public(0, *first, *one, *round),
                    public(1, *second, *other, *later)
                )
            }
            ViolationKind::InvalidValue { node, value } => format!(
                "{} made public at {} that the value {value} is chosen, which nobody had proposed.",
                name(*node),
                at(0)
            ),
            ViolationKind::Leader(violation) => leader(*violation, &name, &at, run),
            ViolationKind::LostMessage { value, leader, round } => format!(
                "Message {value} was acknowledged at {}. {}, which leads the latest epoch, {round}, from {} on, does not have it in its \
                 log.",
                at(0),
                name(*leader),
                at(1)
            ),
            ViolationKind::DivergingReplicas(divergence) => diverging(divergence, &name, run),
            ViolationKind::NoDecision { lacking } => {
                let lacking: Vec<String> = (0..32).filter(|node| lacking >> node & 1 == 1).map(name).collect();
                format!(
                    "Every fault was healed at {}, and by the end of the run, {} later, {} had neither learned what was chosen nor been \
                     answered.",
                    healed(run),
                    patience(run),
                    lacking.join(", ")
                )
            }
        }
    }
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

fn leader(
    violation: LeaderViolation,
    name: &impl Fn(u8) -> String,
    at: &impl Fn(usize) -> String,
    run: &Analysis<'_>,
) -> String {
    match violation {
        LeaderViolation::TwoAtOnce { first, second } => format!(
            "{} led from {} on, and had neither resigned nor died when {} began to lead at {}: two led at one moment.",
            name(first),
            at(0),
            name(second),
            at(1)
        ),
        LeaderViolation::TwoOfEpoch { first, second, round }
        | LeaderViolation::TwoOfPartition { first, second, round } => format!(
            "{} led epoch {round} from {} on, and {} led the same epoch from {} on.",
            name(first),
            at(0),
            name(second),
            at(1)
        ),
        LeaderViolation::LesserVote {
            leader: (leader, own),
            voter: (voter, theirs),
        } => format!(
            "{} was elected at {} with {}. {}, one of those whose votes elected it, has {}, which is the greater vote.",
            name(leader),
            at(2),
            credentials(own),
            name(voter),
            credentials(theirs)
        ),
        LeaderViolation::None => format!(
            "Every fault was healed at {}, and at the end of the run, {} later, there was no one leader that a majority followed.",
            healed(run),
            patience(run)
        ),
    }
}

fn diverging(divergence: &LogDivergence, name: &impl Fn(u8) -> String, run: &Analysis<'_>) -> String {
    let LogDivergence {
        replicas: (one, other),
        offset,
        values: (first, second),
        shared,
        round,
        places: (here, there),
        ..
    } = *divergence;
    let both = match shared == offset {
        true => format!("both records are of epoch {round}, in which an offset has one record"),
        false => format!(
            "both have a record of epoch {round} at offset {shared}, before which their logs are to be the same"
        ),
    };
    format!(
        "At the end {} has message {first} at offset {offset}, stored at {}, and {} has message {second} there, stored at {}; {both}. \
         Both run, and are in sync by the last state of the register, of {}.",
        name(one),
        run.at(here),
        name(other),
        run.at(there),
        run.at(divergence.register)
    )
}

fn credentials((epoch, zxid, _): Credentials) -> String {
    format!("epoch {epoch}, zxid {zxid}")
}

/// When all faults were healed.
fn healed(run: &Analysis<'_>) -> String {
    run.phase("recovered").map_or(String::new(), |place| run.at(place))
}

/// How long the run went on after that.
fn patience(run: &Analysis<'_>) -> String {
    let time = |name: &str| run.phase(name).map_or(0, |place| run.events[place].time);
    crate::text::seconds(time("done").saturating_sub(time("recovered")))
}
