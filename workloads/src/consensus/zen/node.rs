//! A node's machine: the look for a master, the vote, the election of oneself, the way from votes to a cluster, and
//! fault detection within it.

use super::super::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf};
use super::{MOST_NODES, ZenCluster, ZenConfig, ZenDisk, ZenMessage, ZenProcess, ZenTimer};
use zooquake_history::operation::consensus::Announcement;

/// Rounds of pings in one look.
const PING_ROUNDS: u8 = 3;

/// Checks in a row that remain without an answer until a node is taken for dead.
const CHECK_TRIES: u8 = 3;

/// What a node is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ZenPhase {
    /// It asks who is there, for so many rounds already.
    Pinging(u8),
    /// It has the lowest id, and waits for votes.
    Electing,
    /// It has enough votes, and waits for acknowledgements of its cluster state.
    Publishing,
    /// It is master.
    Leading,
    /// It has voted for a candidate, or asked a master.
    Joining(ZenProcess),
    /// It has acknowledged a cluster state.
    Accepting(ZenCluster),
    /// It has a master.
    Following(ZenCluster),
}

/// A node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Zen {
    config: ZenConfig,
    me: ZenProcess,
    phase: ZenPhase,
    /// Number of cluster states that this process has published as a candidate.
    term: u16,
    /// Nodes that answered in this look.
    candidates: NodeSet,
    /// The master that each of them named last.
    named: [Option<ZenProcess>; MOST_NODES],
    /// The newest process of each node that a message came from, by pong or join.
    processes: [u16; MOST_NODES],
    /// Nodes whose last vote is for this one; as master, the other nodes of its cluster.
    pub(super) members: NodeSet,
    /// Members that have acknowledged its cluster state.
    acknowledged: NodeSet,
    /// Checks in a row that a member, or the master, has not answered.
    misses: [u8; MOST_NODES],
}

pub(super) type ZenOutputs = Vec<OutputOf<Zen>>;

/// The output that sends a message.
fn send(to: Node, message: ZenMessage) -> OutputOf<Zen> {
    Output::Send { to, message }
}

impl Zen {
    pub(super) fn new(config: ZenConfig, node: Node, process: u16) -> Self {
        Self {
            config,
            me: ZenProcess { node, process },
            phase: ZenPhase::Pinging(0),
            term: 0,
            candidates: NodeSet::EMPTY,
            named: [None; MOST_NODES],
            processes: [0; MOST_NODES],
            members: NodeSet::EMPTY,
            acknowledged: NodeSet::EMPTY,
            misses: [0; MOST_NODES],
        }
    }

    pub(super) fn take(&mut self, input: InputOf<Self>) -> ZenOutputs {
        let mut out = Vec::new();
        match input {
            Input::Start => {
                out.push(Output::Write(ZenDisk {
                    process: self.me.process,
                }));
                self.look(&mut out);
            }
            Input::Receive { from, message } => self.receive(from, message, &mut out),
            Input::Timer(timer) => self.run_out(timer, &mut out),
            Input::Request(_) => {}
        }
        out
    }

    fn receive(&mut self, from: Node, message: ZenMessage, out: &mut ZenOutputs) {
        match message {
            ZenMessage::Ping => {
                self.withdraw_vote(from);
                out.push(send(from, self.pong()));
            }
            ZenMessage::Pong { process, master } => self.hear(from, process, master),
            ZenMessage::Join { process, candidate } => self.count_vote(from, process, candidate, out),
            ZenMessage::Publish { cluster, member } => self.accept(cluster, member, out),
            ZenMessage::Acknowledge { cluster, member } => self.count_acknowledgement(from, cluster, member, out),
            ZenMessage::Commit { cluster, member } => self.follow(cluster, member, out),
            ZenMessage::Check { cluster } => out.push(send(from, self.answer_check(from, cluster))),
            ZenMessage::Alive { cluster } => self.note_alive(from, cluster),
            ZenMessage::Leave { cluster } => self.note_leave(from, cluster, out),
        }
    }

    fn run_out(&mut self, timer: ZenTimer, out: &mut ZenOutputs) {
        match (timer, self.phase) {
            (ZenTimer::Ping, ZenPhase::Pinging(PING_ROUNDS..)) => self.decide(out),
            (ZenTimer::Ping, ZenPhase::Pinging(rounds)) => self.ping(rounds, out),
            (ZenTimer::Election, ZenPhase::Electing)
            | (ZenTimer::Join, ZenPhase::Joining(_))
            | (ZenTimer::Accept, ZenPhase::Accepting(_)) => self.look(out),
            (ZenTimer::Commit, ZenPhase::Publishing) => self.give_up(out),
            (ZenTimer::Check, ZenPhase::Leading | ZenPhase::Following(_)) => self.check(out),
            _ => {}
        }
    }

    /// The other nodes.
    fn others(&self) -> impl Iterator<Item = Node> + use<> {
        let me = self.me.node;
        (0..self.config.nodes).filter(move |&node| node != me)
    }

    /// The master that the node has.
    fn master(&self) -> Option<ZenProcess> {
        match self.phase {
            ZenPhase::Leading => Some(self.me),
            ZenPhase::Following(cluster) => Some(cluster.master),
            _ => None,
        }
    }

    fn pong(&self) -> ZenMessage {
        ZenMessage::Pong {
            process: self.me.process,
            master: self.master(),
        }
    }

    /// The mastership that this node has published last.
    fn own_cluster(&self) -> ZenCluster {
        ZenCluster {
            master: self.me,
            term: self.term,
        }
    }

    /// Whether so many nodes and this one are enough.
    fn are_enough(&self, others: usize) -> bool {
        others + 1 >= self.config.minimum.into()
    }

    fn timer(phase: ZenPhase) -> ZenTimer {
        match phase {
            ZenPhase::Pinging(_) => ZenTimer::Ping,
            ZenPhase::Electing => ZenTimer::Election,
            ZenPhase::Publishing => ZenTimer::Commit,
            ZenPhase::Joining(_) => ZenTimer::Join,
            ZenPhase::Accepting(_) => ZenTimer::Accept,
            ZenPhase::Leading | ZenPhase::Following(_) => ZenTimer::Check,
        }
    }

    /// Goes over to a phase, and sets its timer in place of the last one's.
    fn enter(&mut self, phase: ZenPhase, out: &mut ZenOutputs) {
        let (before, after) = (Self::timer(self.phase), Self::timer(phase));
        if before != after {
            out.push(Output::CancelTimer(before));
        }
        self.phase = phase;
        out.push(Output::SetTimer(after));
    }

    /// Looks for a master from the beginning. Votes for a publication that is over count no longer.
    fn look(&mut self, out: &mut ZenOutputs) {
        self.candidates = NodeSet::EMPTY;
        self.named = [None; MOST_NODES];
        if matches!(self.phase, ZenPhase::Publishing | ZenPhase::Leading) {
            self.members = NodeSet::EMPTY;
        }
        self.acknowledged = NodeSet::EMPTY;
        self.misses = [0; MOST_NODES];
        if matches!(
            self.phase,
            ZenPhase::Pinging(0) | ZenPhase::Leading | ZenPhase::Following(_)
        ) {
            out.push(Output::Announce(Announcement::Looking {
                round: self.term.into(),
            }));
        }
        self.ping(0, out);
    }

    fn ping(&mut self, rounds: u8, out: &mut ZenOutputs) {
        out.extend(self.others().map(|node| send(node, ZenMessage::Ping)));
        self.enter(ZenPhase::Pinging(rounds + 1), out);
    }

    fn hear(&mut self, from: Node, process: u16, master: Option<ZenProcess>) {
        if matches!(self.phase, ZenPhase::Pinging(_)) && process >= self.processes[usize::from(from)] {
            self.candidates.insert(from);
            self.processes[usize::from(from)] = process;
            self.named[usize::from(from)] = master;
        }
    }

    /// The end of the pings, `findMaster`: an active master is joined, be it one that only others name; else the
    /// candidate with the lowest id gets this node's vote, if there are enough candidates. A master of this node's own
    /// id is an earlier process of it.
    fn decide(&mut self, out: &mut ZenOutputs) {
        let active = self
            .named
            .into_iter()
            .flatten()
            .filter(|master| master.node != self.me.node)
            .min();
        let lowest = self.candidates.iter().next().filter(|&node| node < self.me.node);
        match (active, lowest) {
            (Some(master), _) => self.join(master, out),
            (None, _) if !self.are_enough(self.candidates.len()) => self.look(out),
            (None, Some(node)) => {
                let process = self.processes[usize::from(node)];
                self.join(ZenProcess { node, process }, out);
            }
            (None, None) => {
                self.enter(ZenPhase::Electing, out);
                self.publish_if_elected(out);
            }
        }
    }

    fn join(&mut self, candidate: ZenProcess, out: &mut ZenOutputs) {
        let (process, candidate_process) = (self.me.process, candidate.process);
        out.push(send(
            candidate.node,
            ZenMessage::Join {
                process,
                candidate: candidate_process,
            },
        ));
        self.enter(ZenPhase::Joining(candidate), out);
    }

    fn publish_if_elected(&mut self, out: &mut ZenOutputs) {
        if self.are_enough(self.members.len()) {
            self.term = self.term.wrapping_add(1);
            self.enter(ZenPhase::Publishing, out);
            out.extend(self.members.iter().map(|node| send(node, self.publication(node))));
            self.lead_if_committed(out);
        }
    }

    /// The cluster state for a node that voted for this one.
    fn publication(&self, node: Node) -> ZenMessage {
        ZenMessage::Publish {
            cluster: self.own_cluster(),
            member: self.processes[usize::from(node)],
        }
    }

    /// A vote, for the time when this node is a candidate. It stands until its sender pings. (Elasticsearch's nodes
    /// refuse it unless they look for a master themselves, and the sender tries again.)
    fn count_vote(&mut self, from: Node, process: u16, candidate: u16, out: &mut ZenOutputs) {
        let seat = usize::from(from);
        if candidate != self.me.process || process < self.processes[seat] {
            return;
        }
        self.processes[seat] = process;
        self.members.insert(from);
        self.acknowledged.remove(from);
        self.misses[seat] = 0;
        match self.phase {
            ZenPhase::Electing => self.publish_if_elected(out),
            ZenPhase::Publishing => out.push(send(from, self.publication(from))),
            ZenPhase::Leading => out.push(send(from, self.commit(from))),
            _ => {}
        }
    }
}

/// From votes to a cluster, and fault detection within it.
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
    fn accept(&mut self, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
        if self.voted_for(cluster, member) {
            self.enter(ZenPhase::Accepting(cluster), out);
            out.push(send(cluster.master.node, ZenMessage::Acknowledge { cluster, member }));
        }
    }

    /// As a voter: has a master from now on.
    fn follow(&mut self, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
        if self.voted_for(cluster, member) {
            self.misses = [0; MOST_NODES];
            let (leader, round) = (cluster.master.node, cluster.term.into());
            out.push(Output::Announce(Announcement::Following { leader, round }));
            self.enter(ZenPhase::Following(cluster), out);
        }
    }

    fn count_acknowledgement(&mut self, from: Node, cluster: ZenCluster, member: u16, out: &mut ZenOutputs) {
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

    fn lead_if_committed(&mut self, out: &mut ZenOutputs) {
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
    fn give_up(&mut self, out: &mut ZenOutputs) {
        let cluster = self.own_cluster();
        out.extend(
            self.members
                .iter()
                .map(|node| send(node, ZenMessage::Leave { cluster })),
        );
        self.look(out);
    }

    /// A node that pings looks for a master, and its vote of before counts no longer. (A member's goes by a check.)
    fn withdraw_vote(&mut self, voter: Node) {
        if self.phase != ZenPhase::Leading {
            self.members.remove(voter);
            self.acknowledged.remove(voter);
        }
    }

    fn commit(&self, node: Node) -> ZenMessage {
        ZenMessage::Commit {
            cluster: self.own_cluster(),
            member: self.processes[usize::from(node)],
        }
    }

    fn answer_check(&self, from: Node, cluster: ZenCluster) -> ZenMessage {
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

    fn note_alive(&mut self, from: Node, cluster: ZenCluster) {
        if self.is_in(cluster) {
            self.misses[usize::from(from)] = 0;
        }
    }

    fn note_leave(&mut self, from: Node, cluster: ZenCluster, out: &mut ZenOutputs) {
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
    fn check(&mut self, out: &mut ZenOutputs) {
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
