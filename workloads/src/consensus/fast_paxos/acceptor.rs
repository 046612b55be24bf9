//! The acceptor: it votes for what a coordinator or a proposer proposes, and may recover from collisions by itself.

use super::rounds::{FastRounds, PickedValue, RoundPlace};
use super::{CollisionRecovery, FastPaxos, FastPaxosMessage};
use crate::consensus::protocol::{Node, Output, OutputOf};
use crate::consensus::quorum::{PaxosDisk, PaxosVote, VotesByAcceptor, to_all};

/// An acceptor, by sections 2.2.1 and 3.1. It writes its round and its vote before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FastAcceptor {
    rounds: FastRounds,
    node: Node,
    /// The highest round that it takes part in; rnd\[a\] in the paper.
    round: u32,
    /// Its last vote; vr\[a\] and vv\[a\] in the paper.
    vote: PaxosVote,
    /// Whether it may vote in its round for what a proposer sends, and has not voted in it.
    any: bool,
    /// The first value that it got from a proposer.
    proposed: Option<u32>,
    /// For uncoordinated recovery the votes in opening rounds, its own among them.
    opening: VotesByAcceptor,
}

impl FastAcceptor {
    /// The acceptor that starts with this disk.
    pub fn boot(rounds: FastRounds, node: Node, disk: &PaxosDisk) -> Self {
        Self {
            rounds,
            node,
            round: disk.ballot,
            vote: disk.vote,
            any: false,
            proposed: None,
            opening: VotesByAcceptor::default(),
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, from: Node, message: FastPaxosMessage) -> Vec<OutputOf<FastPaxos>> {
        match message {
            FastPaxosMessage::Request { value } => self.request(value),
            FastPaxosMessage::Phase1a { round }
            | FastPaxosMessage::Any { round }
            | FastPaxosMessage::Phase2a {
                proposal: PaxosVote { ballot: round, .. },
            } if round < self.round => vec![Output::Send {
                to: from,
                message: FastPaxosMessage::Nack { promised: self.round },
            }],
            FastPaxosMessage::Phase1a { round } => self.join(from, round),
            FastPaxosMessage::Any { round } => self.open(from, round),
            FastPaxosMessage::Phase2a { proposal } if proposal == self.vote => self.inform_learners(),
            FastPaxosMessage::Phase2a { proposal } => self.vote_for(proposal),
            FastPaxosMessage::Phase2b { vote } => self.see(from, vote),
            FastPaxosMessage::Phase1b { .. } | FastPaxosMessage::Nack { .. } | FastPaxosMessage::Learned { .. } => {
                Vec::new()
            }
        }
    }

    /// Section 3.1, phase 2b of a fast round: it votes for the first value that a proposer sends.
    fn request(&mut self, value: u32) -> Vec<OutputOf<FastPaxos>> {
        if self.proposed.is_some() {
            return Vec::new();
        }
        self.proposed = Some(value);
        let ballot = self.round;
        match self.any {
            true => self.vote_for(PaxosVote { ballot, value }),
            false => Vec::new(),
        }
    }

    fn join(&mut self, coordinator: Node, round: u32) -> Vec<OutputOf<FastPaxos>> {
        let vote = self.vote;
        let answer = Output::Send {
            to: coordinator,
            message: FastPaxosMessage::Phase1b { round, vote },
        };
        if round == self.round {
            return vec![answer];
        }
        self.round = round;
        self.any = false;
        vec![self.write(), answer]
    }

    /// It may vote for what proposers send. As it promises nothing to anyone by that, it writes nothing. A coordinator
    /// that repeats itself lacks the vote.
    fn open(&mut self, coordinator: Node, round: u32) -> Vec<OutputOf<FastPaxos>> {
        if self.vote.ballot == round {
            return vec![Output::Send {
                to: coordinator,
                message: FastPaxosMessage::Phase2b { vote: self.vote },
            }];
        }
        self.round = round;
        self.any = true;
        match self.proposed {
            Some(value) => self.vote_for(PaxosVote { ballot: round, value }),
            None => Vec::new(),
        }
    }

    fn vote_for(&mut self, vote: PaxosVote) -> Vec<OutputOf<FastPaxos>> {
        self.round = vote.ballot;
        self.vote = vote;
        self.any = false;
        let mut outputs = vec![self.write()];
        outputs.extend(self.inform_learners());
        if self.rounds.place(vote.ballot) != RoundPlace::Opening {
            return outputs;
        }
        let message = FastPaxosMessage::Phase2b { vote };
        let to = self.rounds.owner(vote.ballot);
        outputs.push(Output::Send { to, message });
        if self.rounds.recovery == CollisionRecovery::Uncoordinated {
            let others = self.rounds.group.acceptors().filter(|&node| node != self.node);
            outputs.extend(others.map(|to| Output::Send { to, message }));
            outputs.extend(self.see(self.node, vote));
        }
        outputs
    }

    fn inform_learners(&self) -> Vec<OutputOf<FastPaxos>> {
        let message = FastPaxosMessage::Phase2b { vote: self.vote };
        to_all(self.rounds.group.learners(), message).collect()
    }

    /// Section 3.2, uncoordinated recovery: votes of a quorum in fast round i are the `1b` messages of round i + 1. Q
    /// is a quorum of that round, a fast one too, so that acceptors rarely pick by different sets of votes.
    fn see(&mut self, acceptor: Node, vote: PaxosVote) -> Vec<OutputOf<FastPaxos>> {
        self.opening.record(acceptor, vote);
        let (opening, ballot) = (vote.ballot, vote.ballot + 1);
        let voters = self.opening.voters(opening);
        let open = self.round <= ballot && self.vote.ballot < ballot;
        if !open || voters.len() < self.rounds.quorum(ballot) || !self.rounds.collided(&self.opening, opening) {
            return Vec::new();
        }
        match self.rounds.pick(&self.opening, voters) {
            PickedValue::Bound(value) | PickedValue::Free(Some(value)) => self.vote_for(PaxosVote { ballot, value }),
            PickedValue::Free(None) => Vec::new(),
        }
    }

    fn write(&self) -> OutputOf<FastPaxos> {
        Output::Write(PaxosDisk {
            ballot: self.round,
            vote: self.vote,
        })
    }
}
