//! The acceptor: it promises, and votes.

use super::{Paxos, PaxosBug, PaxosConfig, PaxosDisk, PaxosMessage};
use crate::consensus::protocol::{Node, Output, OutputOf};
use crate::consensus::quorum::{PaxosGroup, PaxosVote, to_all};

/// An acceptor, by "Paxos Made Simple", section 2.2. It writes its promise and its vote before it answers (section
/// 2.5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PaxosAcceptor {
    group: PaxosGroup,
    bug: PaxosBug,
    promised: u32,
    vote: PaxosVote,
}

impl PaxosAcceptor {
    /// The acceptor that starts with this disk.
    pub fn boot(config: &PaxosConfig, disk: &PaxosDisk) -> Self {
        Self {
            group: config.group(),
            bug: config.bug,
            promised: disk.ballot,
            vote: disk.vote,
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, from: Node, message: PaxosMessage) -> Vec<OutputOf<Paxos>> {
        match message {
            PaxosMessage::Phase1a { ballot } => self.promise(from, ballot),
            PaxosMessage::Phase2a { proposal } => self.accept(from, proposal),
            _ => Vec::new(),
        }
    }

    fn promise(&mut self, leader: Node, ballot: u32) -> Vec<OutputOf<Paxos>> {
        if ballot < self.promised {
            return self.refuse(leader);
        }
        let vote = self.vote;
        let answer = Output::Send {
            to: leader,
            message: PaxosMessage::Phase1b { ballot, vote },
        };
        if ballot == self.promised {
            return vec![answer];
        }
        self.promised = ballot;
        vec![self.write(), answer]
    }

    fn accept(&mut self, leader: Node, proposal: PaxosVote) -> Vec<OutputOf<Paxos>> {
        if proposal.ballot < self.promised && self.bug != PaxosBug::ForgetsPromise {
            return self.refuse(leader);
        }
        let mut outputs = Vec::with_capacity(1 + usize::from(self.group.learners));
        if self.vote != proposal {
            self.promised = self.promised.max(proposal.ballot);
            self.vote = proposal;
            outputs.push(self.write());
        }
        outputs.extend(to_all(self.group.learners(), PaxosMessage::Phase2b { vote: proposal }));
        outputs
    }

    fn refuse(&self, leader: Node) -> Vec<OutputOf<Paxos>> {
        let promised = self.promised;
        vec![Output::Send {
            to: leader,
            message: PaxosMessage::Nack { promised },
        }]
    }

    fn write(&self) -> OutputOf<Paxos> {
        Output::Write(PaxosDisk {
            ballot: self.promised,
            vote: self.vote,
        })
    }
}
