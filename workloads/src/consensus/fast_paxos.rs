//! Single-decree Fast Paxos (Lamport, "Fast Paxos", Distributed Computing 19(2), 2006), with its roles on nodes of
//! their own. In a fast round acceptors vote for what proposers send to them, and a value is learned two message delays
//! after it was proposed (section 3.1); where proposals collide, the coordinator or the acceptors recover
//! (section 3.2).

mod acceptor;
mod coordinator;
mod rounds;
#[cfg(test)]
mod tests;

use super::protocol::{Input, InputOf, MessageFigure, Node, NodeRole, Output, OutputOf, Protocol};
use super::quorum::{LearnedVotes, PaxosDisk, PaxosGroup, PaxosRole, PaxosVote, ProposerAction, ProposerState, to_all};
use acceptor::FastAcceptor;
use coordinator::FastCoordinator;
use rounds::FastRounds;
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

/// Sizes of a group, how it recovers from collisions, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FastPaxosConfig {
    /// Number of acceptors, at most [`MAX_ACCEPTORS`](super::quorum::MAX_ACCEPTORS). Any majority is a classic quorum,
    /// any ⌈3n/4⌉ of n acceptors are a fast one.
    pub acceptors: u8,
    /// Number of coordinators, at least 1. The first begins a fast round when it starts, the others a classic one once
    /// they are asked, and when they start again.
    pub coordinators: u8,
    /// Number of learners, at least 1.
    pub learners: u8,
    /// Number of proposers.
    pub proposers: u8,
    /// How it recovers from collisions.
    pub recovery: CollisionRecovery,
    /// The planted bug.
    pub bug: FastPaxosBug,
}

/// What follows a fast round in which no value can be chosen any more, as acceptors have voted for different ones: the
/// ways of section 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CollisionRecovery {
    /// The coordinator begins a classic round with phase 1: four message delays.
    Restart,
    /// The coordinator takes the `2b` messages of fast round i for `1b` messages of classic round i + 1, and continues
    /// with phase 2: two message delays.
    #[default]
    Coordinated,
    /// Each acceptor takes the `2b` messages of fast round i for `1b` messages of fast round i + 1, picks a value as a
    /// coordinator would, and votes for it: one message delay.
    Uncoordinated,
}

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FastPaxosBug {
    #[default]
    None,
    /// Any majority is a fast quorum too. Violates part (b) of the Fast Quorum Requirement (section 3.1): "If j is a
    /// fast round number, then any i-quorum and any two j-quorums have a nonempty intersection." With four acceptors
    /// nothing is wrong, as three of them are the fast quorum anyway.
    PlainMajority,
}

/// What nodes send. Rounds begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FastPaxosMessage {
    /// Of a proposer to acceptors, and when it is not answered to a coordinator: it proposes this value.
    Request { value: u32 },
    /// Of a coordinator: it begins a round.
    Phase1a { round: u32 },
    /// Of an acceptor: it takes part in the round, and in none that is lower.
    Phase1b {
        /// The round of the `1a` that it answers.
        round: u32,
        /// The last vote of the acceptor.
        vote: PaxosVote,
    },
    /// Of a coordinator: it asks for votes for one value.
    Phase2a {
        /// The round and the value.
        proposal: PaxosVote,
    },
    /// Of a coordinator, the `2a` message of a fast round whose value is *any*: it asks for votes for whichever value
    /// an acceptor gets from a proposer.
    Any { round: u32 },
    /// Of an acceptor: it has voted. To learners, in a fast round that a coordinator began to that one too, and before
    /// uncoordinated recovery to the other acceptors.
    Phase2b { vote: PaxosVote },
    /// Of an acceptor to a coordinator: it takes part in a higher round.
    Nack {
        /// The round that it takes part in.
        promised: u32,
    },
    /// Of a learner to coordinators and proposers, or of a coordinator that is asked: a value is chosen.
    Learned { value: u32 },
}

/// The timers of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FastPaxosTimer {
    /// Of a proposer: it has no answer, proposes again, and asks the next coordinator.
    Request,
    /// Of a coordinator: its round has made no progress. Messages go out again, but a fast round in which there is
    /// anything to decide is given up for a classic one.
    Round,
    /// Of a coordinator that was refused: it begins a higher, classic round. The range is wide, so that one of several
    /// coordinators has the time that a round takes for itself.
    Backoff,
    /// The same after many rounds: messages take so long that [`Self::Backoff`] leaves no coordinator enough time.
    LongBackoff,
}

impl FastPaxosConfig {
    fn group(&self) -> PaxosGroup {
        PaxosGroup {
            acceptors: self.acceptors,
            leaders: self.coordinators,
            learners: self.learners,
            proposers: self.proposers,
        }
    }
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FastPaxos(FastPaxosNode);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FastPaxosNode {
    Acceptor(FastAcceptor),
    Coordinator(FastCoordinator),
    Learner { rounds: FastRounds, votes: LearnedVotes },
    Proposer { group: PaxosGroup, state: ProposerState },
}

impl Protocol for FastPaxos {
    type Config = FastPaxosConfig;
    type Message = FastPaxosMessage;
    type Timer = FastPaxosTimer;
    type Disk = PaxosDisk;

    fn roles(config: &Self::Config) -> Vec<NodeRole> {
        config.group().roles("coordinator")
    }

    fn new_disk(_config: &Self::Config, _node: Node) -> Self::Disk {
        PaxosDisk::default()
    }

    fn boot(config: &Self::Config, node: Node, disk: &Self::Disk) -> Self {
        let (group, rounds) = (config.group(), FastRounds::new(config));
        Self(match group.role(node) {
            PaxosRole::Acceptor => FastPaxosNode::Acceptor(FastAcceptor::boot(rounds, node, disk)),
            PaxosRole::Leader => FastPaxosNode::Coordinator(FastCoordinator::boot(rounds, node, disk)),
            PaxosRole::Learner => FastPaxosNode::Learner {
                rounds,
                votes: LearnedVotes::boot(disk.vote),
            },
            PaxosRole::Proposer => FastPaxosNode::Proposer {
                group,
                state: ProposerState::Idle,
            },
        })
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>> {
        match (&mut self.0, input) {
            (FastPaxosNode::Acceptor(acceptor), Input::Receive { from, message }) => acceptor.receive(from, message),
            (FastPaxosNode::Coordinator(coordinator), input) => coordinator.step(input),
            // Section 2.2: a value is chosen once a quorum of a round has voted for it in that round.
            (
                FastPaxosNode::Learner { rounds, votes },
                Input::Receive {
                    from,
                    message: FastPaxosMessage::Phase2b { vote },
                },
            ) => {
                let action = votes.take(from, vote, rounds.quorum(vote.ballot));
                action.outputs(rounds.group, rounds.owner(vote.ballot), |value| {
                    FastPaxosMessage::Learned { value }
                })
            }
            (FastPaxosNode::Proposer { group, state }, input) => proposer_step(*group, state, input),
            (FastPaxosNode::Acceptor(_) | FastPaxosNode::Learner { .. }, _) => Vec::new(),
        }
    }

    fn duration(timer: Self::Timer) -> Range<u32> {
        match timer {
            FastPaxosTimer::Request => 120_000..240_000,
            FastPaxosTimer::Round => 60_000..100_000,
            FastPaxosTimer::Backoff => 20_000..400_000,
            FastPaxosTimer::LongBackoff => 100_000..2_500_000,
        }
    }

    fn figure(message: &Self::Message) -> MessageFigure {
        let (kind, detail, round) = match *message {
            FastPaxosMessage::Request { value } => ("request", value.to_string(), None),
            FastPaxosMessage::Phase1a { round } => ("1a", String::new(), Some(round)),
            FastPaxosMessage::Phase1b { round, vote } => ("1b", vote.to_string(), Some(round)),
            FastPaxosMessage::Phase2a { proposal } => ("2a", proposal.value.to_string(), Some(proposal.ballot)),
            FastPaxosMessage::Any { round } => ("2a", "any".to_owned(), Some(round)),
            FastPaxosMessage::Phase2b { vote } => ("2b", vote.value.to_string(), Some(vote.ballot)),
            FastPaxosMessage::Nack { promised } => ("nack", String::new(), Some(promised)),
            FastPaxosMessage::Learned { value } => ("learned", value.to_string(), None),
        };
        MessageFigure { kind, detail, round }
    }
}

fn proposer_step(group: PaxosGroup, state: &mut ProposerState, input: InputOf<FastPaxos>) -> Vec<OutputOf<FastPaxos>> {
    match input {
        Input::Request(value) => match state.request(value, group) {
            ProposerAction::Ignore => Vec::new(),
            ProposerAction::Propose => propose(group, value),
            ProposerAction::Answer(value) => vec![Output::Announce(Announcement::Answered { value })],
        },
        Input::Timer(FastPaxosTimer::Request) => {
            let Some((value, to)) = state.ask(group) else {
                return Vec::new();
            };
            let message = FastPaxosMessage::Request { value };
            let mut outputs = propose(group, value);
            outputs.push(Output::Send { to, message });
            outputs
        }
        Input::Receive {
            message: FastPaxosMessage::Learned { value },
            ..
        } if state.learned(value) => vec![
            Output::CancelTimer(FastPaxosTimer::Request),
            Output::Announce(Announcement::Answered { value }),
        ],
        _ => Vec::new(),
    }
}

fn propose(group: PaxosGroup, value: u32) -> Vec<OutputOf<FastPaxos>> {
    let proposed = to_all(group.acceptors(), FastPaxosMessage::Request { value });
    proposed.chain([Output::SetTimer(FastPaxosTimer::Request)]).collect()
}
