//! What proposers, learners and leaders keep of a decision, and when they pass it on.

use zooquake_history::operation::consensus::Announcement;

use super::{PaxosDisk, PaxosGroup, PaxosVote, VoteNews, VotesByAcceptor, to_all};
use crate::consensus::protocol::{Node, NodeSet, Output};

/// What a learner does about a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearnerAction {
    /// Nothing.
    Ignore,
    /// It learns that the value of this vote is chosen, having learned none or another before.
    Learn(PaxosVote),
    /// The leader that conducts the ballot of this vote has to be informed that a value is chosen.
    Inform(PaxosVote),
}

impl LearnerAction {
    /// What the learner puts out: `learned` makes the message with a value, `owner` leads the ballot of the vote.
    pub fn outputs<M: Copy, T>(
        self,
        group: PaxosGroup,
        owner: Node,
        learned: fn(u32) -> M,
    ) -> Vec<Output<M, T, PaxosDisk>> {
        match self {
            Self::Ignore => Vec::new(),
            Self::Learn(vote) => {
                let PaxosVote { ballot: round, value } = vote;
                let mut outputs = vec![
                    Output::Write(PaxosDisk { ballot: 0, vote }),
                    Output::Announce(Announcement::Learned { value, round }),
                ];
                outputs.extend(to_all(group.leaders(), learned(value)));
                outputs.extend(to_all(group.proposers(), learned(value)));
                outputs
            }
            Self::Inform(vote) => vec![Output::Send {
                to: owner,
                message: learned(vote.value),
            }],
        }
    }
}

/// A learner's votes and what it has learned by them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LearnedVotes {
    votes: VotesByAcceptor,
    /// What the learner has learned; none before.
    pub learned: PaxosVote,
    /// Acceptors that have voted since it last informed a leader: their next vote is a repeated one, which a leader
    /// asked for.
    informed: NodeSet,
}

impl LearnedVotes {
    /// Those of a learner that starts with this on its disk.
    pub fn boot(learned: PaxosVote) -> Self {
        Self {
            votes: VotesByAcceptor::default(),
            learned,
            informed: NodeSet::EMPTY,
        }
    }

    /// Takes in a vote of a ballot with quorums of this size.
    ///
    /// A vote that is repeated once a value is learned was asked for by a leader without a report of it. Of all
    /// the votes that it asked for at one time only the first has an effect.
    pub fn take(&mut self, acceptor: Node, vote: PaxosVote, quorum: usize) -> LearnerAction {
        let inform = LearnerAction::Inform(PaxosVote {
            value: self.learned.value,
            ..vote
        });
        match self.votes.record(acceptor, vote) {
            VoteNews::Outdated => LearnerAction::Ignore,
            VoteNews::Repeated => {
                if self.learned.is_none() || self.informed.insert(acceptor) {
                    return LearnerAction::Ignore;
                }
                self.informed = NodeSet::from_iter([acceptor]);
                inform
            }
            VoteNews::Later => {
                let count = self.votes.count(vote);
                if count < quorum {
                    return LearnerAction::Ignore;
                }
                self.informed.insert(acceptor);
                if self.learned.value != vote.value {
                    self.learned = vote;
                    self.informed = self.votes.voters(vote.ballot);
                    return LearnerAction::Learn(vote);
                }
                if count > quorum {
                    return LearnerAction::Ignore;
                }
                self.informed = self.votes.voters(vote.ballot);
                inform
            }
        }
    }
}

/// Which learners have reported to a leader that they learned a value, and which value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DecisionReports {
    value: u32,
    learners: NodeSet,
}

impl DecisionReports {
    /// Takes in that a learner has learned a value; whether it is the first report of this learner.
    pub fn record(&mut self, learner: Node, value: u32) -> bool {
        if self.value == 0 {
            self.value = value;
        }
        self.learners.insert(learner)
    }

    /// The value that is chosen, once any learner has reported one.
    pub fn value(self) -> Option<u32> {
        (self.value > 0).then_some(self.value)
    }

    /// Whether every learner of the group has learned the value.
    pub fn are_complete(self, group: PaxosGroup) -> bool {
        self.learners.len() == usize::from(group.learners)
    }
}

/// What a proposer does about a request of its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposerAction {
    /// Nothing: an earlier request is under way, and its answer is one to both.
    Ignore,
    /// It proposes the value.
    Propose,
    /// It answers that this value is chosen.
    Answer(u32),
}

/// What a proposer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProposerState {
    /// It was not asked for anything.
    Idle,
    /// It seeks to have a value chosen.
    Asking {
        value: u32,
        /// The leader whose turn it is to be asked.
        turn: Node,
    },
    /// It was informed of the value that is chosen.
    Informed { value: u32 },
}

impl ProposerState {
    /// The application asks for a value.
    pub fn request(&mut self, value: u32, group: PaxosGroup) -> ProposerAction {
        match *self {
            Self::Idle => {
                *self = Self::Asking {
                    value,
                    turn: group.leaders().start,
                };
                ProposerAction::Propose
            }
            Self::Asking { .. } => ProposerAction::Ignore,
            Self::Informed { value } => ProposerAction::Answer(value),
        }
    }

    /// The value that it seeks to have chosen and the leader to ask, where the next one gets its turn; `None` if it
    /// seeks nothing.
    pub fn ask(&mut self, group: PaxosGroup) -> Option<(u32, Node)> {
        let Self::Asking { value, turn: leader } = *self else {
            return None;
        };
        let leaders = group.leaders();
        let turn = if leader + 1 < leaders.end {
            leader + 1
        } else {
            leaders.start
        };
        *self = Self::Asking { value, turn };
        Some((value, leader))
    }

    /// It is informed of the value that is chosen; whether it has an answer to give.
    pub fn learned(&mut self, value: u32) -> bool {
        let asking = matches!(self, Self::Asking { .. });
        if !matches!(self, Self::Informed { .. }) {
            *self = Self::Informed { value };
        }
        asking
    }
}
