//! Operations of a two-phase commit.

use super::{
    AnyType, Delay, Family, FieldContent, FieldSource, FinishRule, OpSpec, Operation, Replacement, RequiredField, Role,
    StrikePoint, fields,
};
use crate::plan::ClientState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names of the operations.
pub mod f {
    /// Of the coordinator: to begin a transaction.
    pub const BEGIN: &str = "begin";
    /// Of the coordinator: to collect the votes, and to decide.
    pub const DECIDE: &str = "decide";
    /// Of a site: to vote.
    pub const VOTE: &str = "vote";
    /// Of a site: to learn the decision.
    pub const DECIDED: &str = "decided";
}

/// Two-phase commits.
pub const FAMILY: Family = Family {
    name: "commit",
    recipes: true,
    grants: false,
    ops: &[
        OpSpec {
            finishes: FinishRule::WithOthers,
            struck: &[StrikePoint {
                state: ClientState::Releasing,
                ..STRUCK
            }],
            ..OpSpec::new(f::BEGIN, Role::Work)
        },
        OpSpec {
            again: Replacement::Same,
            struck: &[
                StrikePoint {
                    state: ClientState::Working,
                    ..STRUCK
                },
                // While votes are still coming in, so that no site can decide by itself: over as many steps as an
                // acquire's first milliseconds.
                StrikePoint {
                    state: ClientState::Acquiring,
                    delay: Delay::Times(40),
                    ..STRUCK
                },
            ],
            ..OpSpec::new(f::DECIDE, Role::Wait)
        },
        OpSpec {
            finishes: FinishRule::WithOthers,
            struck: &[StrikePoint {
                state: ClientState::Working,
                share: 2,
                ..STRUCK
            }],
            ..OpSpec::new(f::VOTE, Role::Work)
        },
        OpSpec {
            waits: true,
            again: Replacement::Same,
            struck: &[StrikePoint {
                state: ClientState::Waiting,
                ..STRUCK
            }],
            ..OpSpec::new(f::DECIDED, Role::Wait)
        },
    ],
    fields: &[&[
        RequiredField::new(
            FieldSource::Answer(&[f::VOTE]),
            &["voted"],
            FieldContent::Text,
            "commit-without-votes",
        ),
        RequiredField::new(
            FieldSource::Answer(&[f::DECIDE, f::DECIDED]),
            &["decision"],
            FieldContent::Text,
            "split-decision",
        ),
    ]],
};

/// As long after it was sent as in a lock.
const STRUCK: StrikePoint = StrikePoint {
    state: ClientState::Working,
    answered: false,
    share: 1,
    delay: Delay::Same,
    of: |_| true,
};

/// What is decided about a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It happens at all sites.
    Commit,
    /// It happens at none.
    Abort,
}

impl Decision {
    /// As it is written in znodes: as a site's vote, or as the decision.
    pub fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Abort => "abort",
        }
    }

    /// Reads what is written in a znode; `None` for what is not written yet.
    pub fn read(data: impl AsRef<[u8]>) -> Option<Self> {
        [Self::Commit, Self::Abort]
            .into_iter()
            .find(|decision| decision.word().as_bytes() == data.as_ref())
    }
}

/// A site's vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vote {
    /// It can commit, and will if all can.
    Yes,
    /// It cannot.
    No,
}

impl Vote {
    /// The word that the site's znode gets.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => Decision::Commit.word(),
            Self::No => Decision::Abort.word(),
        }
    }
}

/// A transaction, as its znode has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionZnode {
    /// Its name, `t7`.
    pub tx: String,
    pub sites: Vec<String>,
    /// What it is about.
    #[serde(default)]
    pub payload: Value,
}

impl TransactionZnode {
    /// What is written in its znode.
    pub fn data(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a transaction is plain data with string keys")
    }
}

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum CommitRequest {
    /// Of the coordinator: to begin a transaction.
    Begin(TransactionZnode),
    /// Of the coordinator: to collect the votes, and to decide.
    Decide(TransactionZnode),
    /// Of a site: to vote.
    Vote {
        /// The transaction.
        tx: String,
        /// How it is to vote, unless it has voted before.
        vote: Vote,
        /// Milliseconds that it works before.
        #[serde(default)]
        work_ms: u64,
    },
    /// Of a site: to learn the decision.
    Decided {
        /// The transaction.
        tx: String,
    },
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CommitAnswer {
    /// To `decide` and `decided`.
    Decided {
        /// The transaction.
        tx: String,
        /// What was decided.
        decision: Decision,
    },
    /// To `vote`.
    Voted {
        /// The transaction.
        tx: String,
        /// The vote that the site has given.
        voted: Vote,
    },
    /// To `begin`; also what an operation was about that did not end as `ok`.
    About {
        /// The transaction.
        tx: String,
    },
}

impl CommitRequest {
    /// The name of the transaction.
    pub fn tx(&self) -> &str {
        match self {
            Self::Begin(transaction) | Self::Decide(transaction) => &transaction.tx,
            Self::Vote { tx, .. } | Self::Decided { tx } => tx,
        }
    }
}

impl Operation for CommitRequest {}

fields! {
    /// The name of the transaction.
    TX, tx: str = "tx";
    /// The sites that a `begin` names.
    SITES, sites: [AnyType] = "sites";
    /// The vote that a site was asked for.
    VOTE, vote: str = "vote";
    /// The vote that a site has given.
    VOTED, voted: str = "voted";
    /// What was decided.
    DECISION, decision: str = "decision";
}
