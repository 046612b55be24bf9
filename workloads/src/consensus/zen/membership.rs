//! From votes to a cluster, and fault detection within it.

use super::super::protocol::{Node, Output};
use super::node::{ZenOutputs, ZenPhase, send};
use super::{MOST_NODES, Zen, ZenCluster, ZenMessage};
use zooquake_history::operation::consensus::Announcement;

/// Checks in a row that remain without an answer until a node is taken for dead.
const CHECK_TRIES: u8 = 3;

impl Zen {
    /// Whether this process's last vote is for the cluster's master.
    fn voted_for(&self, cluster: ZenCluster, member: u16) -> bool {
        let voted = match self.phase {
            ZenPhase::Joining(candidate) => candidate == cluster.master,
            ZenPhase::Accepting(accepted) => accepted == cluster,
            _ => false,
        };
        voted && member == self.me.process
    }

    /// As a voter: acknowledges the cluster state of the candidate that it voted for, and of no other.
    pub(super) fn accept(&mut self, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
        if self.voted_for(cluster, member) {
            self.enter(ZenPhase::Accepting(cluster), out);
            out.push(send(cluster.master.node, ZenMessage::Acknowledge { cluster, member }));
        }
    }

    /// As a voter: has a master from now on.
    pub(super) fn follow(&mut self, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
        if self.voted_for(cluster, member) {
            self.misses = [0; MOST_NODES];
            let (leader, round) = (cluster.master.node, cluster.term.into());
            out.push(Output::Announce(Announcement::Following { leader, round }));
            self.enter(ZenPhase::Following(cluster), out);
        }
    }

    pub(super) fn count_acknowledgement(&mut self, from: Node, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
        let counts =
            cluster == self.own_cluster() && self.members.contains(from) && member == self.processes[usize::from(from)];
        match self.phase {
            ZenPhase::Publishing if counts => {
                self.acknowledged.insert(from);
                self.lead_if_committed(out);
            }
            ZenPhase::Leading if counts => out.push(send(from, self.commit(from))),
            _ => {}
        }
    }

    pub(super) fn lead_if_committed(&mut self, out: &mut ZenOutputs) {
        if self.are_enough(self.acknowledged.len()) {
            self.misses = [0; MOST_NODES];
            out.push(Output::Announce(Announcement::Leading {
                round: self.term.into(),
            }));
            out.extend(self.acknowledged.iter().map(|node| send(node, self.commit(node))));
            self.enter(ZenPhase::Leading, out);
        }
    }

    /// A candidate whose cluster state too few have acknowledged in time does not lead, and has its voters look again.
    pub(super) fn give_up(&mut self, out: &mut ZenOutputs) {
        let cluster = self.own_cluster();
        out.extend(
            self.members
                .iter()
                .map(|node| send(node, ZenMessage::Leave { cluster })),
        );
        self.look(out);
    }

    /// A node that pings looks for a master, and its vote of before counts no longer. (A member's goes by a check.)
    pub(super) fn withdraw_vote(&mut self, voter: Node) {
        if self.phase != ZenPhase::Leading {
            self.members.remove(voter);
            self.acknowledged.remove(voter);
        }
    }

    pub(super) fn commit(&self, node: Node) -> ZenMessage {
        ZenMessage::Commit {
            cluster: self.own_cluster(),
            member: self.processes[usize::from(node)],
        }
    }

    pub(super) fn answer_check(&self, from: Node, cluster: ZenCluster) -> ZenMessage {
        let shared = match self.phase {
            ZenPhase::Leading => cluster == self.own_cluster() && self.members.contains(from),
            ZenPhase::Accepting(own) | ZenPhase::Following(own) => cluster == own && from == own.master.node,
            _ => false,
        };
        if shared {
            ZenMessage::Alive { cluster }
        } else {
            ZenMessage::Leave { cluster }
        }
    }

    /// Whether this node is in the cluster, as its master or as a member.
    fn is_in(&self, cluster: ZenCluster) -> bool {
        match self.phase {
            ZenPhase::Leading => cluster == self.own_cluster(),
            ZenPhase::Following(own) => cluster == own,
            _ => false,
        }
    }

    pub(super) fn note_alive(&mut self, from: Node, cluster: ZenCluster) {
        if self.is_in(cluster) {
            self.misses[usize::from(from)] = 0;
        }
    }

    pub(super) fn note_leave(&mut self, from: Node, cluster: ZenCluster, out: &mut ZenOutputs) {
        match self.phase {
            ZenPhase::Leading if self.is_in(cluster) => {
                self.members.remove(from);
                self.resign_if_alone(out);
            }
            ZenPhase::Accepting(own) | ZenPhase::Following(own) if own == cluster && from == own.master.node => {
                self.look(out);
            }
            _ => {}
        }
    }

    /// Takes for dead who has not answered the last checks, and checks the others.
    pub(super) fn check(&mut self, out: &mut ZenOutputs) {
        match self.phase {
            ZenPhase::Leading => {
                for node in self.members.iter() {
                    if self.is_dead(node) {
                        self.members.remove(node);
                    } else {
                        out.push(send(
                            node,
                            ZenMessage::Check {
                                cluster: self.own_cluster(),
                            },
                        ));
                    }
                }
                self.enter(ZenPhase::Leading, out);
                self.resign_if_alone(out);
            }
            ZenPhase::Following(cluster) => {
                if self.is_dead(cluster.master.node) {
                    self.look(out);
                } else {
                    out.push(send(cluster.master.node, ZenMessage::Check { cluster }));
                    self.enter(ZenPhase::Following(cluster), out);
                }
            }
            _ => {}
        }
    }

    /// Whether a node has missed its checks; counts the next one as missed until it is answered.
    fn is_dead(&mut self, node: Node) -> bool {
        let misses = &mut self.misses[usize::from(node)];
        *misses += 1;
        *misses > CHECK_TRIES
    }

    /// A master that has not enough nodes any more is none.
    fn resign_if_alone(&mut self, out: &mut ZenOutputs) {
        if !self.are_enough(self.members.len()) {
            out.push(Output::Announce(Announcement::Resigned {
                round: self.term.into(),
            }));
            self.look(out);
        }
    }
}
