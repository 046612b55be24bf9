//! Who was elected, who led, and who followed whom.

use super::judge::NodeSets;
use super::violation::{ConsensusViolation, Credentials, LeaderViolation, ViolationKind};
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ConsensusGoal;

/// A node that leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadingNode {
    pub node: u8,
    /// Its epoch or term.
    pub round: u32,
    /// Where it began.
    pub place: usize,
}

/// The leaders of one run.
#[derive(Debug, Clone)]
pub struct Leaders {
    goal: ConsensusGoal,
    voters: u32,
    /// The nodes that lead now.
    leading: Vec<LeadingNode>,
    /// The latest epoch or term that any led; 0 before the first.
    latest_round: u32,
    /// Who led each epoch first, where that is judged.
    epochs: Vec<LeadingNode>,
    /// By node the leader that it follows now, and in which round.
    following: [Option<(u8, u32)>; 32],
    /// By node its credentials, and where it made them public.
    credentials: [Option<(Credentials, usize)>; 32],
    /// By node and round in which it looked, the lowest credentials that it had then, and where it had them.
    looks: Vec<RoundLook>,
}

/// The looks of a node in one round.
#[derive(Debug, Clone, Copy)]
struct RoundLook {
    node: u8,
    round: u32,
    lowest: (Credentials, usize),
}

impl Leaders {
    /// No leader yet.
    pub fn new(goal: ConsensusGoal, nodes: NodeSets) -> Self {
        Self {
            goal,
            voters: nodes.voters,
            leading: Vec::new(),
            latest_round: 0,
            epochs: Vec::new(),
            following: [None; 32],
            credentials: [None; 32],
            looks: Vec::new(),
        }
    }

    /// A node's process dies.
    pub fn died(&mut self, node: u8) {
        self.leading.retain(|leading| leading.node != node);
        if let Some(following) = self.following.get_mut(usize::from(node)) {
            *following = None;
        }
    }

    /// A node makes something public; the violation that it completes.
    pub fn announced(&mut self, place: usize, node: u8, announcement: Announcement) -> Option<ConsensusViolation> {
        if node >= 32 {
            return None;
        }
        match announcement {
            Announcement::Credentials { epoch, zxid } => {
                self.credentials[usize::from(node)] = Some(((epoch, zxid, node), place));
            }
            Announcement::Looking { round } => {
                self.died(node);
                self.looks(node, round);
            }
            Announcement::Resigned { .. } => self.died(node),
            Announcement::Following { leader, round } => {
                self.died(node);
                self.following[usize::from(node)] = Some((leader, round));
            }
            Announcement::Elected { round, voters } => return self.elected(place, node, (round, voters)),
            Announcement::Leading { round } => return self.leads(LeadingNode { node, round, place }),
            _ => {}
        }
        None
    }

    /// The one node that leads and that, with itself, a majority of the voters follows in its round.
    pub fn established(&self) -> Option<LeadingNode> {
        let [leading] = self.leading[..] else {
            return None;
        };
        let follows = |voter: &u8| {
            let voter = *voter;
            let of_it = self.following[usize::from(voter)] == Some((leading.node, leading.round));
            self.voters >> voter & 1 == 1 && (voter == leading.node || of_it)
        };
        let with_it = (0..32).filter(follows).count();
        (with_it > self.voters.count_ones() as usize / 2).then_some(leading)
    }

    /// Whether no leader, be it one that is dead by now, had a later epoch or term than this one.
    pub fn is_latest(&self, leading: LeadingNode) -> bool {
        leading.round >= self.latest_round
    }

    /// The one that leads the latest epoch or term now; `None` if its process is dead, or it resigned.
    pub fn latest(&self) -> Option<LeadingNode> {
        self.leading.iter().copied().find(|leading| self.is_latest(*leading))
    }

    /// Whether the goal is to elect the server with the greatest credentials.
    fn by_credentials(&self) -> bool {
        matches!(self.goal, ConsensusGoal::Election | ConsensusGoal::EpochLeader)
    }

    /// A node looks for a leader in a round.
    fn looks(&mut self, node: u8, round: u32) {
        let Some(own) = self.credentials[usize::from(node)].filter(|_| self.by_credentials()) else {
            return;
        };
        let known = self
            .looks
            .iter_mut()
            .find(|look| (look.node, look.round) == (node, round));
        match known {
            Some(look) => look.lowest = look.lowest.min(own),
            None => self.looks.push(RoundLook {
                node,
                round,
                lowest: own,
            }),
        }
    }

    /// A node takes itself for elected in a round by these voters. Each of them cast its vote while it looked in that
    /// round, and what it has later is no matter: a winner may be frozen before it counts, and its voters follow
    /// another one meanwhile, whose epoch they adopt.
    fn elected(&self, place: usize, node: u8, (round, voters): (u32, u32)) -> Option<ConsensusViolation> {
        let (own, own_place) = self.credentials[usize::from(node)].filter(|_| self.by_credentials())?;
        let voted = |look: &&RoundLook| look.round == round && look.node != node && voters >> look.node & 1 == 1;
        let greatest = self.looks.iter().filter(voted).max_by_key(|look| look.lowest)?;
        let (voter, (theirs, their_place)) = (greatest.node, greatest.lowest);
        (theirs > own).then(|| {
            let kind = LeaderViolation::LesserVote {
                leader: (node, own),
                voter: (voter, theirs),
            };
            violation(kind, vec![own_place, their_place, place])
        })
    }

    fn leads(&mut self, new: LeadingNode) -> Option<ConsensusViolation> {
        self.died(new.node);
        let other = self.leading.first().copied();
        self.leading.push(new);
        self.latest_round = self.latest_round.max(new.round);
        match self.goal {
            ConsensusGoal::OneLeader => {
                let other = other?;
                let kind = LeaderViolation::TwoAtOnce {
                    first: other.node,
                    second: new.node,
                };
                Some(violation(kind, vec![other.place, new.place]))
            }
            ConsensusGoal::EpochLeader | ConsensusGoal::Log => {
                let Some(first) = self.epochs.iter().find(|first| first.round == new.round) else {
                    self.epochs.push(new);
                    return None;
                };
                let (one, second, round) = (first.node, new.node, new.round);
                let kind = match self.goal {
                    ConsensusGoal::Log => LeaderViolation::TwoOfPartition {
                        first: one,
                        second,
                        round,
                    },
                    _ => LeaderViolation::TwoOfEpoch {
                        first: one,
                        second,
                        round,
                    },
                };
                (first.node != new.node).then(|| violation(kind, vec![first.place, new.place]))
            }
            _ => None,
        }
    }
}

fn violation(kind: LeaderViolation, witness: Vec<usize>) -> ConsensusViolation {
    ConsensusViolation {
        kind: ViolationKind::Leader(kind),
        witness,
    }
}
