//! What Paxos and Fast Paxos have in common: the group of nodes, the sizes of quorums, votes, and what proposers,
//! learners and leaders keep of a decision.

mod decision;
#[cfg(test)]
pub(super) mod harness;
#[cfg(test)]
mod tests;

use super::protocol::{Node, NodeRole, NodeSet, Output};
pub use decision::{DecisionReports, LearnedVotes, LearnerAction, ProposerAction, ProposerState};
use std::fmt;
use std::ops::Range;

/// The most acceptors of a group.
pub const MAX_ACCEPTORS: usize = 7;

/// The size of the smallest majority of so many acceptors: a classic quorum.
pub fn majority(acceptors: u8) -> usize {
    usize::from(acceptors) / 2 + 1
}

/// The size of a fast quorum, ⌈3n/4⌉ of n acceptors: with majorities as classic quorums it satisfies the Fast Quorum
/// Requirement (Lamport, "Fast Paxos", 2006, sections 3.1 and 3.4.1), by which any classic quorum and any two fast
/// quorums have an acceptor in common.
pub fn three_quarters(acceptors: u8) -> usize {
    (usize::from(acceptors) * 3).div_ceil(4)
}

/// How many nodes play each role. They are numbered role by role: acceptors, leaders, learners, proposers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PaxosGroup {
    /// Number of acceptors, at most [`MAX_ACCEPTORS`].
    pub acceptors: u8,
    /// Number of leaders, which Fast Paxos names coordinators.
    pub leaders: u8,
    /// Number of learners.
    pub learners: u8,
    /// Number of proposers.
    pub proposers: u8,
}

/// The part that a node of a group plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaxosRole {
    /// Votes.
    Acceptor,
    /// Conducts ballots.
    Leader,
    /// Learns which value is chosen.
    Learner,
    /// Proposes a value for a client.
    Proposer,
}

impl PaxosGroup {
    pub fn acceptors(self) -> Range<Node> {
        0..self.acceptors
    }

    pub fn leaders(self) -> Range<Node> {
        self.acceptors..self.acceptors + self.leaders
    }

    pub fn learners(self) -> Range<Node> {
        let first = self.leaders().end;
        first..first + self.learners
    }

    pub fn proposers(self) -> Range<Node> {
        let first = self.learners().end;
        first..first + self.proposers
    }

    /// The role of a node of the group.
    pub fn role(self, node: Node) -> PaxosRole {
        match node {
            _ if node < self.acceptors => PaxosRole::Acceptor,
            _ if node < self.leaders().end => PaxosRole::Leader,
            _ if node < self.learners().end => PaxosRole::Learner,
            _ => PaxosRole::Proposer,
        }
    }

    /// The roles by number of node, where leaders have this name.
    pub fn roles(self, leader: &'static str) -> Vec<NodeRole> {
        let role = |node| {
            let (name, client) = match self.role(node) {
                PaxosRole::Acceptor => ("acceptor", false),
                PaxosRole::Leader => (leader, false),
                PaxosRole::Learner => ("learner", false),
                PaxosRole::Proposer => ("proposer", true),
            };
            NodeRole { name, client }
        };
        (0..self.proposers().end).map(role).collect()
    }
}

/// The vote of an acceptor, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PaxosVote {
    /// The ballot, which Fast Paxos names round; 0 if it is no vote.
    pub ballot: u32,
    /// The value; 0 if it is no vote.
    pub value: u32,
}

impl PaxosVote {
    /// No vote.
    pub const NONE: Self = Self { ballot: 0, value: 0 };

    /// Whether it is none.
    pub fn is_none(self) -> bool {
        self.ballot == 0
    }
}

impl fmt::Display for PaxosVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ballot {
            0 => f.write_str("no vote"),
            ballot => write!(f, "{} in {ballot}", self.value),
        }
    }
}

/// What survives a crash of a node, whichever its role.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PaxosDisk {
    /// Of an acceptor the highest ballot that it takes part in, of a leader the highest that it has begun.
    pub ballot: u32,
    /// Of an acceptor its last vote, of a learner one that stands for the value that it has learned.
    pub vote: PaxosVote,
}

/// How a vote compares with the one of the same acceptor in [`VotesByAcceptor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteNews {
    /// It is of a higher ballot, and has replaced the other.
    Later,
    /// It is of the same ballot.
    Repeated,
    /// It is of a lower ballot.
    Outdated,
}

/// The vote of each acceptor that is of the highest ballot, among those that have arrived somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct VotesByAcceptor([PaxosVote; MAX_ACCEPTORS]);

impl VotesByAcceptor {
    /// Takes in the vote of an acceptor.
    pub fn record(&mut self, acceptor: Node, vote: PaxosVote) -> VoteNews {
        let kept = &mut self.0[usize::from(acceptor)];
        if vote.ballot < kept.ballot {
            return VoteNews::Outdated;
        }
        if vote.ballot == kept.ballot {
            return VoteNews::Repeated;
        }
        *kept = vote;
        VoteNews::Later
    }

    /// The acceptors whose vote is of this ballot.
    pub fn voters(&self, ballot: u32) -> NodeSet {
        let votes = (0..).zip(&self.0);
        votes
            .filter(|(_, vote)| vote.ballot == ballot)
            .map(|(node, _)| node)
            .collect()
    }

    /// Number of acceptors with exactly this vote.
    pub fn count(&self, vote: PaxosVote) -> usize {
        self.0.iter().filter(|&&kept| kept == vote).count()
    }

    /// The votes, by acceptor.
    pub fn iter(&self) -> impl Iterator<Item = PaxosVote> {
        self.0.iter().copied()
    }
}

/// A message to each of some nodes.
pub fn to_all<M: Copy, T, D>(nodes: Range<Node>, message: M) -> impl Iterator<Item = Output<M, T, D>> {
    nodes.map(move |to| Output::Send { to, message })
}
