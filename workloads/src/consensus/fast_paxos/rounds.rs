//! Which rounds there are, the quorums of each, and the value that may be voted for in one.

use super::{CollisionRecovery, FastPaxosBug, FastPaxosConfig};
use crate::consensus::protocol::{Node, NodeSet};
use crate::consensus::quorum::{PaxosGroup, PaxosVote, VotesByAcceptor, majority, three_quarters};

/// A round's place among the three consecutive rounds that a coordinator owns together; coordinators own such triples
/// by turns, the first coordinator the rounds 1 to 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundPlace {
    /// A fast round.
    Opening,
    /// The round in which a collision of the opening one is recovered from: fast in uncoordinated recovery, else
    /// classic.
    Recovery,
    /// A classic round.
    Closing,
}

/// What acceptors may vote for in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickedValue {
    /// This value alone: it may be chosen already.
    Bound(u32),
    /// Any value that was proposed. Those who have to agree on one without a proposer take this, for which the most
    /// acceptors voted, of several the lowest; `None` if nobody voted.
    Free(Option<u32>),
}

/// The rounds of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FastRounds {
    /// The nodes.
    pub group: PaxosGroup,
    /// How collisions are recovered from.
    pub recovery: CollisionRecovery,
    fast_quorum: u8,
}

impl FastRounds {
    /// Those of a group.
    pub fn new(config: &FastPaxosConfig) -> Self {
        let fast_quorum = match config.bug {
            FastPaxosBug::None => three_quarters(config.acceptors),
            FastPaxosBug::PlainMajority => majority(config.acceptors),
        };
        Self {
            group: config.group(),
            recovery: config.recovery,
            fast_quorum: fast_quorum as u8,
        }
    }

    /// The coordinator of a round.
    pub fn owner(self, round: u32) -> Node {
        let turn = (round - 1) / 3 % u32::from(self.group.leaders);
        self.group.leaders().start + turn as Node
    }

    /// The place of a round.
    pub fn place(self, round: u32) -> RoundPlace {
        match (round - 1) % 3 {
            0 => RoundPlace::Opening,
            1 => RoundPlace::Recovery,
            _ => RoundPlace::Closing,
        }
    }

    /// Whether a round is fast.
    pub fn is_fast(self, round: u32) -> bool {
        match self.place(round) {
            RoundPlace::Opening => true,
            RoundPlace::Recovery => self.recovery == CollisionRecovery::Uncoordinated,
            RoundPlace::Closing => false,
        }
    }

    /// The lowest round above another that a coordinator begins with phase 1, an opening or a closing one.
    pub fn next(self, above: u32, coordinator: Node, place: RoundPlace) -> u32 {
        let mut round = above + 1;
        while self.owner(round) != coordinator || self.place(round) != place {
            round += 1;
        }
        round
    }

    /// The size of a classic quorum.
    pub fn classic_quorum(self) -> usize {
        majority(self.group.acceptors)
    }

    /// The size of the quorums of a round.
    pub fn quorum(self, round: u32) -> usize {
        match self.is_fast(round) {
            true => usize::from(self.fast_quorum),
            false => self.classic_quorum(),
        }
    }

    /// Whether no value can be chosen in a fast round any more, by those votes that have arrived.
    pub fn collided(self, votes: &VotesByAcceptor, round: u32) -> bool {
        let silent = usize::from(self.group.acceptors) - votes.voters(round).len();
        let of_round = votes.iter().filter(|vote| vote.ballot == round);
        let most = of_round.map(|vote| votes.count(vote)).max();
        most.unwrap_or(0) + silent < self.quorum(round)
    }

    /// The rule of figure 2, for the last votes of the acceptors of a quorum Q.
    ///
    /// With k the highest round of such a vote and V the values of the votes in k: if nobody voted, any value may be
    /// picked; the only element of V, if there is one; the v in V that satisfies O4(v), if there is one: "There exists
    /// a k-quorum R such that vr\[a\] = k and vv\[a\] = v for all acceptors a in R ∩ Q"; else any. O4(v) holds exactly
    /// if the acceptors of Q without such a vote and a k-quorum fit into the group together.
    pub fn pick(self, votes: &VotesByAcceptor, quorum: NodeSet) -> PickedValue {
        let cast = || (0..).zip(votes.iter()).filter(|&(node, _)| quorum.contains(node));
        let highest = cast().map(|(_, vote)| vote.ballot).max().unwrap_or(0);
        if highest == 0 {
            return PickedValue::Free(None);
        }
        let count = |value| {
            let vote = PaxosVote { ballot: highest, value };
            cast().filter(|&(_, cast)| cast == vote).count()
        };
        let values = || {
            cast()
                .filter(|(_, vote)| vote.ballot == highest)
                .map(|(_, vote)| vote.value)
        };
        let single = values().all(|value| values().all(|other| other == value));
        let outside = usize::from(self.group.acceptors) - self.quorum(highest);
        let satisfies = |&value: &u32| single || quorum.len() - count(value) <= outside;
        if let Some(value) = values().filter(satisfies).min() {
            return PickedValue::Bound(value);
        }
        PickedValue::Free(values().min_by_key(|&value| (std::cmp::Reverse(count(value)), value)))
    }
}
