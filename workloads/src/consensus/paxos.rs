//! Single-decree Paxos (Lamport, "The Part-Time Parliament", 1998, section 2.3, the basic protocol; and "Paxos Made
//! Simple", 2001, sections 2.2 to 2.4), with its roles on nodes of their own. Messages have the names of the later
//! papers: phase 1 is `1a` (prepare request) and `1b` (its response), phase 2 `2a` (accept request) and `2b` (the vote
//! that it leads to).

mod acceptor;
mod leader;
#[cfg(test)]
mod tests;

use super::protocol::{Input, InputOf, MessageFigure, Node, NodeRole, Output, OutputOf, Protocol};
use super::quorum::{
    LearnedVotes, PaxosDisk, PaxosGroup, PaxosRole, PaxosVote, ProposerAction, ProposerState, majority,
};
use acceptor::PaxosAcceptor;
use leader::PaxosLeader;
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

/// Sizes of a group, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PaxosConfig {
    /// Number of acceptors, at most [`MAX_ACCEPTORS`](super::quorum::MAX_ACCEPTORS); any majority is a quorum.
    pub acceptors: u8,
    /// Number of leaders, at least 1. The first executes phase 1 when it starts, the others once they are asked, and
    /// when they start again.
    pub leaders: u8,
    /// Number of learners, at least 1.
    pub learners: u8,
    /// Number of proposers.
    pub proposers: u8,
    /// The planted bug.
    pub bug: PaxosBug,
}

impl PaxosConfig {
    fn group(&self) -> PaxosGroup {
        PaxosGroup {
            acceptors: self.acceptors,
            leaders: self.leaders,
            learners: self.learners,
            proposers: self.proposers,
        }
    }
}

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaxosBug {
    #[default]
    None,
    /// An acceptor does not compare the ballot of a `2a` with its promise, and votes in lower ballots than it promised.
    /// Violates P1a of "Paxos Made Simple", section 2.2: "An acceptor can accept a proposal numbered n iff it has not
    /// responded to a prepare request having a number greater than n."
    ForgetsPromise,
}

/// What nodes send. Ballots begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaxosMessage {
    /// Of a proposer to a leader: it seeks to have this value chosen.
    Request { value: u32 },
    /// Of a leader: it begins a ballot.
    Phase1a { ballot: u32 },
    /// Of an acceptor: it promises to vote in no ballot that is lower.
    Phase1b {
        /// The ballot of the `1a` that it answers.
        ballot: u32,
        /// The last vote of the acceptor.
        vote: PaxosVote,
    },
    /// Of a leader: it asks for votes.
    Phase2a {
        /// The ballot and the value.
        proposal: PaxosVote,
    },
    /// Of an acceptor to learners: it has voted.
    Phase2b { vote: PaxosVote },
    /// Of an acceptor: it refuses a `1a` or `2a` of a lower ballot.
    Nack {
        /// The ballot that it promised.
        promised: u32,
    },
    /// Of a learner to leaders and proposers, or of a leader that is asked: a value is chosen.
    Learned { value: u32 },
}

/// The timers of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaxosTimer {
    /// Of a proposer: it has no answer, and asks the next leader.
    Request,
    /// Of a leader: its ballot has made no progress, and its messages go out again.
    Ballot,
    /// Of a leader that was refused: it begins a higher ballot. The range is wide, so that one of several leaders has
    /// the time that a ballot takes for itself.
    Backoff,
    /// The same after many ballots: messages take so long that [`Self::Backoff`] leaves no leader enough time.
    LongBackoff,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Paxos(PaxosNode);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum PaxosNode {
    Acceptor(PaxosAcceptor),
    Leader(PaxosLeader),
    Learner { group: PaxosGroup, votes: LearnedVotes },
    Proposer { group: PaxosGroup, state: ProposerState },
}

impl Protocol for Paxos {
    type Config = PaxosConfig;
    type Message = PaxosMessage;
    type Timer = PaxosTimer;
    type Disk = PaxosDisk;

    fn roles(config: &Self::Config) -> Vec<NodeRole> {
        config.group().roles("leader")
    }

    fn new_disk(_config: &Self::Config, _node: Node) -> Self::Disk {
        PaxosDisk::default()
    }

    fn boot(config: &Self::Config, node: Node, disk: &Self::Disk) -> Self {
        let group = config.group();
        Self(match group.role(node) {
            PaxosRole::Acceptor => PaxosNode::Acceptor(PaxosAcceptor::boot(config, disk)),
            PaxosRole::Leader => PaxosNode::Leader(PaxosLeader::boot(group, node, disk)),
            PaxosRole::Learner => PaxosNode::Learner {
                group,
                votes: LearnedVotes::boot(disk.vote),
            },
            PaxosRole::Proposer => PaxosNode::Proposer {
                group,
                state: ProposerState::Idle,
            },
        })
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>> {
        match (&mut self.0, input) {
            (PaxosNode::Acceptor(acceptor), Input::Receive { from, message }) => acceptor.receive(from, message),
            (PaxosNode::Leader(leader), input) => leader.step(input),
            // "Paxos Made Simple", section 2.3: a learner gets each vote from its acceptor.
            (
                PaxosNode::Learner { group, votes },
                Input::Receive {
                    from,
                    message: PaxosMessage::Phase2b { vote },
                },
            ) => {
                let action = votes.take(from, vote, majority(group.acceptors));
                action.outputs(*group, leader::owner(*group, vote.ballot), |value| {
                    PaxosMessage::Learned { value }
                })
            }
            (PaxosNode::Proposer { group, state }, input) => proposer_step(*group, state, input),
            (PaxosNode::Acceptor(_) | PaxosNode::Learner { .. }, _) => Vec::new(),
        }
    }

    fn duration(timer: Self::Timer) -> Range<u32> {
        match timer {
            PaxosTimer::Request => 120_000..240_000,
            PaxosTimer::Ballot => 60_000..100_000,
            PaxosTimer::Backoff => 20_000..400_000,
            PaxosTimer::LongBackoff => 100_000..2_500_000,
        }
    }

    fn figure(message: &Self::Message) -> MessageFigure {
        let (kind, detail, round) = match *message {
            PaxosMessage::Request { value } => ("request", value.to_string(), None),
            PaxosMessage::Phase1a { ballot } => ("1a", String::new(), Some(ballot)),
            PaxosMessage::Phase1b { ballot, vote } => ("1b", vote.to_string(), Some(ballot)),
            PaxosMessage::Phase2a { proposal } => ("2a", proposal.value.to_string(), Some(proposal.ballot)),
            PaxosMessage::Phase2b { vote } => ("2b", vote.value.to_string(), Some(vote.ballot)),
            PaxosMessage::Nack { promised } => ("nack", String::new(), Some(promised)),
            PaxosMessage::Learned { value } => ("learned", value.to_string(), None),
        };
        MessageFigure { kind, detail, round }
    }
}

fn proposer_step(group: PaxosGroup, state: &mut ProposerState, input: InputOf<Paxos>) -> Vec<OutputOf<Paxos>> {
    match input {
        Input::Request(value) => match state.request(value, group) {
            ProposerAction::Ignore => Vec::new(),
            ProposerAction::Propose => ask(group, state),
            ProposerAction::Answer(value) => vec![Output::Announce(Announcement::Answered { value })],
        },
        Input::Timer(PaxosTimer::Request) => ask(group, state),
        Input::Receive {
            message: PaxosMessage::Learned { value },
            ..
        } if state.learned(value) => vec![
            Output::CancelTimer(PaxosTimer::Request),
            Output::Announce(Announcement::Answered { value }),
        ],
        _ => Vec::new(),
    }
}

fn ask(group: PaxosGroup, state: &mut ProposerState) -> Vec<OutputOf<Paxos>> {
    let asked = state.ask(group).map(|(value, to)| {
        let message = PaxosMessage::Request { value };
        vec![Output::Send { to, message }, Output::SetTimer(PaxosTimer::Request)]
    });
    asked.unwrap_or_default()
}
