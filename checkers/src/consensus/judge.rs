//! The properties of consensus protocols, judged step by step: by the checkers from the events of a history, and by
//! searches from what their networks announce, which is the same.

use super::leaders::{Leaders, LeadingNode};
use super::logs::{LogGaps, ReplicaLogs, StoredRecord};
use super::values::ChosenValues;
use super::violation::{ConsensusViolation, LeaderViolation, ViolationKind};
use zooquake_history::Node;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ConsensusGoal;

/// What happens in a run of a consensus protocol, as its judge takes it. Nodes are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsensusStep {
    /// The application asks a client's node for an operation on a value.
    Request { node: u8, value: u32 },
    /// A node makes something public.
    Announcement {
        node: u8,
        /// What it makes public.
        announcement: Announcement,
    },
    /// A node's process dies.
    Death { node: u8 },
}

/// The judge of one run.
#[derive(Debug, Clone)]
pub struct ConsensusJudge {
    goal: ConsensusGoal,
    nodes: NodeSets,
    values: ChosenValues,
    leaders: Leaders,
    logs: ReplicaLogs,
    /// The messages that were found lost.
    lost: Vec<u32>,
}

impl ConsensusJudge {
    /// The judge of a protocol with this goal and these nodes, before the first step.
    pub fn new(goal: ConsensusGoal, nodes: NodeSets) -> Self {
        Self {
            goal,
            nodes,
            values: ChosenValues::new(goal == ConsensusGoal::Value),
            leaders: Leaders::new(goal, nodes),
            logs: ReplicaLogs::default(),
            lost: Vec::new(),
        }
    }

    /// Takes the next step, which stands at a place; the violation that it completes.
    pub fn take(&mut self, place: usize, step: ConsensusStep) -> Option<ConsensusViolation> {
        match step {
            ConsensusStep::Request { node, value } => self.values.requested(place, node, value),
            ConsensusStep::Death { node } => {
                self.values.died(node);
                self.leaders.died(node);
                self.logs.died(node);
            }
            ConsensusStep::Announcement { node, announcement } => return self.announced(place, node, announcement),
        }
        None
    }

    fn announced(&mut self, place: usize, node: u8, announcement: Announcement) -> Option<ConsensusViolation> {
        self.logs.runs(node);
        match announcement {
            Announcement::Learned { value, round } => return self.values.learned(place, node, (value, round)),
            Announcement::Answered { value } => {
                let found = self.values.answered(place, node, value);
                return found.or_else(|| self.loss(self.leaders.latest()?));
            }
            Announcement::Stored { offset, round, value } => {
                self.logs.stored(node, offset, StoredRecord { value, round, place });
            }
            Announcement::Truncated { offset } => self.logs.truncated(node, offset),
            Announcement::InSync { replicas } => self.logs.in_sync(replicas, place),
            Announcement::Leading { round } if self.goal == ConsensusGoal::Log => {
                let found = self.leaders.announced(place, node, announcement);
                return found.or_else(|| self.loss(LeadingNode { node, round, place }));
            }
            _ => return self.leaders.announced(place, node, announcement),
        }
        None
    }

    /// Whether the goal is reached for now: all that the run is for has come about, and would have been judged.
    pub fn settled(&self) -> bool {
        match self.goal {
            ConsensusGoal::Nothing => true,
            ConsensusGoal::Value => self.values.lacking(self.nodes.learners) == 0,
            ConsensusGoal::Election | ConsensusGoal::EpochLeader | ConsensusGoal::OneLeader => {
                self.leaders.established().is_some()
            }
            ConsensusGoal::Log => self.leaders.established().is_some() && self.values.lacking(0) == 0,
        }
    }

    /// What is violated at the end of any run, be it one of a script, by what its nodes had made public last.
    pub fn standing(&self) -> impl Iterator<Item = ConsensusViolation> {
        let logs = (self.goal == ConsensusGoal::Log).then(|| self.logs.divergences());
        logs.into_iter().flatten().map(|divergence| ConsensusViolation {
            witness: divergence.witness(),
            kind: ViolationKind::DivergingReplicas(divergence),
        })
    }

    /// What is violated at the end of a run whose faults were healed, a bound of liveness after that. `healed` is the
    /// place at which they were, `end` that of the end.
    pub fn close(&self, healed: usize, end: usize) -> Vec<ConsensusViolation> {
        let leader = self.leaders.established();
        let mut found = Vec::new();
        let elects = !matches!(self.goal, ConsensusGoal::Nothing | ConsensusGoal::Value);
        if elects && leader.is_none() {
            found.push(ConsensusViolation {
                kind: ViolationKind::Leader(LeaderViolation::None),
                witness: vec![healed, end],
            });
        }
        let learners = match self.goal {
            ConsensusGoal::Value => self.nodes.learners,
            _ => 0,
        };
        let lacking = self.values.lacking(learners);
        if matches!(self.goal, ConsensusGoal::Value | ConsensusGoal::Log) && lacking != 0 {
            let mut witness = self.values.pending();
            witness.extend([healed, end]);
            found.push(ConsensusViolation {
                kind: ViolationKind::NoDecision { lacking },
                witness,
            });
        }
        if let (ConsensusGoal::Log, Some(leading)) = (self.goal, leader) {
            found.extend(self.lost_by(leading).map(|lost| lost_message(lost, leading)));
        }
        found
    }

    /// What the record of the run lacks of the logs of replicas, if it has any.
    pub fn log_gaps(&self) -> Option<LogGaps> {
        (self.goal == ConsensusGoal::Log).then(|| self.logs.gaps())
    }

    /// The first message that a leader has lost, if logs are judged; it is named once.
    fn loss(&mut self, leading: LeadingNode) -> Option<ConsensusViolation> {
        if self.goal != ConsensusGoal::Log {
            return None;
        }
        let lost = self.lost_by(leading).next()?;
        self.lost.push(lost.0);
        Some(lost_message(lost, leading))
    }

    /// The acknowledged messages, each with the place of the answer, that a leader of the latest epoch does not have,
    /// and that were not found lost before.
    fn lost_by(&self, leading: LeadingNode) -> impl Iterator<Item = (u32, usize)> {
        let latest = self.leaders.is_latest(leading);
        let lost = move |&(value, _): &(u32, usize)| {
            latest && !self.logs.holds(leading.node, value) && !self.lost.contains(&value)
        };
        self.values.acknowledged().filter(lost)
    }
}

/// That a message, which was acknowledged at a place, is not in the log of this leader.
fn lost_message((value, place): (u32, usize), leading: LeadingNode) -> ConsensusViolation {
    ConsensusViolation {
        kind: ViolationKind::LostMessage {
            value,
            leader: leading.node,
            round: leading.round,
        },
        witness: vec![place, leading.place],
    }
}

/// Sets of nodes by their roles: bit `n` is node `n`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeSets {
    pub learners: u32,
    /// Those whose majority makes a leader: servers, nodes, replicas.
    pub voters: u32,
}

impl NodeSets {
    /// The sets of these nodes by their roles. The first 32 are looked at.
    pub fn from_names(names: &[Node]) -> Self {
        let mut sets = Self::default();
        for (node, name) in names.iter().take(32).enumerate() {
            match name.role() {
                Some("learner") => sets.learners |= 1 << node,
                Some("server" | "node" | "replica") => sets.voters |= 1 << node,
                _ => {}
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_from_names() {
        let names = ["acceptor1", "learner1", "learner2", "server10", "observer1", "node1"];
        let sets = NodeSets::from_names(&names.map(Node::from));
        assert_eq!((sets.learners, sets.voters), (0b110, 0b10_1000));
    }
}
