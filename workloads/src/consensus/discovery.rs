//! What follows an election: discovery and synchronization of Zab (Junqueira, Reed, Serafini, "Zab: High-performance
//! broadcast for primary-backup systems", 2011, section 4) with the messages of ZooKeeper's `Leader` and `Learner`, and
//! the pings by which a leader and its followers notice that the other is gone. No transactions are proposed.
//!
//! Followers send the epoch that they accepted last; the leader of a majority proposes a higher one, which a follower
//! writes to its disk before it acknowledges it. A follower acknowledges an epoch once: so no two leaders have
//! majorities for the same. The leader of a majority of such acknowledgements has the followers adopt its history and
//! epoch, and is established when a majority has. Followers repeat what they wait for an answer to.
//!
//! A leader to which a follower with a more recent history acknowledges its epoch gives up at once. The source refuses
//! that follower, and gives up if too few others come; the paper has the leader adopt the follower's history.

use zooquake_history::operation::consensus::Announcement;

use super::fast_leader_election::{FleDisk, FleMessage, FleOutput, FleTimer};
use super::protocol::{MessageFigure, Node, NodeSet, Output};

/// What a leader and its learners send each other, by the names of the packets in ZooKeeper's `Leader`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiscoveryMessage {
    /// A learner asks to be led; the paper's CEPOCH.
    FollowerInfo {
        /// The epoch that it accepted last.
        accepted: u32,
    },
    /// The leader proposes its epoch; the paper's NEWEPOCH.
    LeaderInfo {
        /// The epoch, higher than those accepted by a majority.
        epoch: u32,
    },
    /// A learner has the epoch on its disk.
    AckEpoch {
        epoch: u32,
        /// The epoch of its history.
        current: u32,
        /// The number of its last transaction.
        zxid: u32,
        /// Whether it acknowledges the epoch to this leader; otherwise it had accepted it earlier, perhaps for another
        /// leader, and only asks to be synchronized (in the source, a current epoch of -1).
        counts: bool,
    },
    /// The leader has a learner adopt its history.
    NewLeader {
        epoch: u32,
        /// The number of the last transaction of that history.
        zxid: u32,
    },
    /// A learner has adopted the history. Without discovery: it asks to be led.
    Ack {
        /// The epoch; without discovery, the round of the election.
        epoch: u32,
    },
    /// The leader is established and serves with this learner.
    UpToDate {
        /// The epoch; without discovery, the round of the election.
        epoch: u32,
    },
    /// The sender is there.
    Ping {
        /// The epoch; without discovery, the round of the election.
        epoch: u32,
    },
}

impl DiscoveryMessage {
    /// How it is drawn.
    pub fn figure(self) -> MessageFigure {
        let (kind, detail, round) = match self {
            Self::FollowerInfo { accepted } => ("FOLLOWERINFO", format!("accepted {accepted}"), None),
            Self::LeaderInfo { epoch } => ("LEADERINFO", format!("epoch {epoch}"), Some(epoch)),
            Self::AckEpoch {
                epoch,
                current,
                zxid,
                counts,
            } => {
                let history = format!("epoch {current}, zxid {zxid}");
                let uncounted = if counts { "" } else { ", not counted" };
                ("ACKEPOCH", history + uncounted, Some(epoch))
            }
            Self::NewLeader { epoch, zxid } => ("NEWLEADER", format!("zxid {zxid}"), Some(epoch)),
            Self::Ack { epoch } => ("ACK", String::new(), Some(epoch)),
            Self::UpToDate { epoch } => ("UPTODATE", String::new(), Some(epoch)),
            Self::Ping { epoch } => ("ping", String::new(), Some(epoch)),
        };
        MessageFigure { kind, detail, round }
    }
}

/// What a learner has of its leader; epochs are rounds of elections if there is no discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FollowerStage {
    /// Nothing.
    Connecting,
    /// An epoch: acknowledged to this leader, if the acknowledgement counts.
    Epoch { epoch: u32, counts: bool },
    /// The history of this epoch.
    History { epoch: u32 },
    /// The confirmation that the leader of this epoch is established.
    Serving { epoch: u32 },
}

/// A server that follows or observes, from the end of its look until it gives up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FollowerDiscovery {
    leader: Node,
    stage: FollowerStage,
}

impl FollowerDiscovery {
    /// Begins to follow this leader; without discovery it just joins the one that was elected in the round.
    pub fn begin(leader: Node, joined: Option<u32>, disk: &FleDisk, out: &mut Vec<FleOutput>) -> Self {
        let stage = joined.map_or(FollowerStage::Connecting, |epoch| FollowerStage::History { epoch });
        let follower = Self { leader, stage };
        out.push(Output::SetTimer(FleTimer::InitLimit));
        out.push(Output::SetTimer(FleTimer::Tick));
        follower.request(disk, out);
        follower
    }

    /// The epoch or round whose leader it serves with, if it does.
    pub fn established(&self) -> Option<u32> {
        match self.stage {
            FollowerStage::Serving { epoch } => Some(epoch),
            _ => None,
        }
    }

    /// Takes a message; whether it follows on.
    #[must_use]
    pub fn receive(
        &mut self,
        from: Node,
        message: DiscoveryMessage,
        disk: &mut FleDisk,
        out: &mut Vec<FleOutput>,
    ) -> bool {
        if from != self.leader {
            return true;
        }
        match (self.stage, message) {
            (FollowerStage::Connecting | FollowerStage::Epoch { .. }, DiscoveryMessage::LeaderInfo { epoch }) => {
                if epoch < disk.accepted {
                    return false;
                }
                self.accept(epoch, disk, out);
            }
            (FollowerStage::Epoch { epoch, .. }, DiscoveryMessage::NewLeader { epoch: of, zxid }) if of == epoch => {
                if (disk.current, disk.zxid) != (epoch, zxid) {
                    (disk.current, disk.zxid) = (epoch, zxid);
                    out.push(Output::Write(*disk));
                    out.push(Output::Announce(Announcement::Credentials { epoch, zxid }));
                }
                self.stage = FollowerStage::History { epoch };
                self.request(disk, out);
            }
            (FollowerStage::History { epoch }, DiscoveryMessage::UpToDate { epoch: of }) if of == epoch => {
                self.stage = FollowerStage::Serving { epoch };
                out.push(Output::CancelTimer(FleTimer::Tick));
                out.push(Output::CancelTimer(FleTimer::InitLimit));
                out.push(Output::SetTimer(FleTimer::SyncLimit));
                let (leader, round) = (self.leader, epoch);
                out.push(Output::Announce(Announcement::Following { leader, round }));
            }
            (FollowerStage::Serving { epoch }, DiscoveryMessage::Ping { epoch: of }) if of == epoch => {
                out.push(Output::SetTimer(FleTimer::SyncLimit));
                self.request(disk, out);
            }
            _ => {}
        }
        true
    }

    /// A timer has run out; whether it follows on.
    #[must_use]
    pub fn timeout(&self, timer: FleTimer, disk: &FleDisk, out: &mut Vec<FleOutput>) -> bool {
        let serving = matches!(self.stage, FollowerStage::Serving { .. });
        match timer {
            FleTimer::Tick if !serving => {
                self.request(disk, out);
                out.push(Output::SetTimer(FleTimer::Tick));
                true
            }
            FleTimer::InitLimit => serving,
            FleTimer::SyncLimit => !serving,
            _ => true,
        }
    }

    /// Accepts the leader's epoch, on its disk before it answers. One that it had accepted may have been another
    /// leader's: only its first acceptance counts, which it repeats to the same leader as long as it follows that.
    fn accept(&mut self, epoch: u32, disk: &mut FleDisk, out: &mut Vec<FleOutput>) {
        if epoch > disk.accepted {
            disk.accepted = epoch;
            out.push(Output::Write(*disk));
            self.stage = FollowerStage::Epoch { epoch, counts: true };
        } else if self.stage == FollowerStage::Connecting {
            self.stage = FollowerStage::Epoch { epoch, counts: false };
        }
        self.request(disk, out);
    }

    /// Sends what the leader is to answer at this stage; if it serves, a ping.
    fn request(&self, disk: &FleDisk, out: &mut Vec<FleOutput>) {
        let message = match self.stage {
            FollowerStage::Connecting => DiscoveryMessage::FollowerInfo {
                accepted: disk.accepted,
            },
            FollowerStage::Epoch { epoch, counts } => DiscoveryMessage::AckEpoch {
                epoch,
                current: disk.current,
                zxid: disk.zxid,
                counts,
            },
            FollowerStage::History { epoch } => DiscoveryMessage::Ack { epoch },
            FollowerStage::Serving { epoch } => DiscoveryMessage::Ping { epoch },
        };
        let (to, message) = (self.leader, FleMessage::Discovery(message));
        out.push(Output::Send { to, message });
    }
}

/// What a leader needs of a majority, itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LeaderStage {
    /// FOLLOWERINFO, to choose an epoch.
    FollowerInfo,
    /// ACKEPOCH, to lead in it.
    AckEpoch,
    /// ACK of NEWLEADER, to be established.
    Ack,
    /// Pings, to remain so.
    Established,
}

/// A server that leads, from its election until it gives up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaderDiscovery {
    me: Node,
    voters: NodeSet,
    stage: LeaderStage,
    /// Its epoch, before it is chosen the lowest that it could be; without discovery, the round of its election.
    epoch: u32,
    /// Itself and those from which it has what the stage needs, of pings since the last check.
    acks: NodeSet,
    /// Those which have adopted its history since it is established: they are pinged.
    learners: NodeSet,
}

impl LeaderDiscovery {
    /// Begins to lead among these voters; without discovery those which have elected it in the round just join.
    pub fn begin(me: Node, voters: NodeSet, joined: Option<u32>, disk: &mut FleDisk, out: &mut Vec<FleOutput>) -> Self {
        let (stage, epoch) = match joined {
            Some(round) => (LeaderStage::Ack, round),
            None => (LeaderStage::FollowerInfo, disk.accepted + 1),
        };
        let mut leader = Self {
            me,
            voters,
            stage,
            epoch,
            acks: NodeSet(1 << me),
            learners: NodeSet::EMPTY,
        };
        out.push(Output::SetTimer(FleTimer::InitLimit));
        leader.advance(disk, out);
        leader
    }

    /// The epoch or round in which it is established, if it is.
    pub fn established(&self) -> Option<u32> {
        (self.stage == LeaderStage::Established).then_some(self.epoch)
    }

    /// Takes a message of a learner; whether it leads on.
    #[must_use]
    pub fn receive(
        &mut self,
        from: Node,
        message: DiscoveryMessage,
        disk: &mut FleDisk,
        out: &mut Vec<FleOutput>,
    ) -> bool {
        let of_epoch = match message {
            DiscoveryMessage::AckEpoch { epoch, .. }
            | DiscoveryMessage::Ack { epoch }
            | DiscoveryMessage::Ping { epoch } => epoch == self.epoch,
            _ => true,
        };
        if !of_epoch {
            return true;
        }
        let epoch = self.epoch;
        match (self.stage, message) {
            (LeaderStage::FollowerInfo, DiscoveryMessage::FollowerInfo { accepted }) => {
                self.epoch = epoch.max(accepted + 1);
                self.count(from, disk, out);
            }
            (_, DiscoveryMessage::FollowerInfo { .. }) => send(from, DiscoveryMessage::LeaderInfo { epoch }, out),
            (
                LeaderStage::AckEpoch,
                DiscoveryMessage::AckEpoch {
                    current, zxid, counts, ..
                },
            ) => {
                let ahead = (current, zxid) > (disk.current, disk.zxid);
                if counts && ahead && self.voters.contains(from) {
                    return false;
                }
                if counts {
                    self.count(from, disk, out);
                }
            }
            (LeaderStage::Ack | LeaderStage::Established, DiscoveryMessage::AckEpoch { .. }) => {
                let zxid = disk.zxid;
                send(from, DiscoveryMessage::NewLeader { epoch, zxid }, out);
            }
            (LeaderStage::Ack, DiscoveryMessage::Ack { .. }) => self.count(from, disk, out),
            (LeaderStage::Established, DiscoveryMessage::Ack { .. }) => {
                self.learners.insert(from);
                self.acks.insert(from);
                send(from, DiscoveryMessage::UpToDate { epoch }, out);
            }
            (LeaderStage::Established, DiscoveryMessage::Ping { .. }) => {
                self.acks.insert(from);
            }
            _ => {}
        }
        true
    }

    /// A timer has run out; whether it leads on.
    #[must_use]
    pub fn timeout(&mut self, timer: FleTimer, out: &mut Vec<FleOutput>) -> bool {
        match (self.stage, timer) {
            (LeaderStage::Established, FleTimer::Tick) => {
                let epoch = self.epoch;
                for learner in self.learners.iter() {
                    send(learner, DiscoveryMessage::Ping { epoch }, out);
                }
                out.push(Output::SetTimer(FleTimer::Tick));
                true
            }
            (LeaderStage::Established, FleTimer::SyncLimit) => {
                let majority = self.has_majority();
                self.acks = NodeSet(1 << self.me);
                out.push(Output::SetTimer(FleTimer::SyncLimit));
                majority
            }
            (stage, FleTimer::InitLimit) => stage == LeaderStage::Established,
            _ => true,
        }
    }

    fn has_majority(&self) -> bool {
        self.acks.intersection(self.voters).len() * 2 > self.voters.len()
    }

    fn count(&mut self, from: Node, disk: &mut FleDisk, out: &mut Vec<FleOutput>) {
        self.acks.insert(from);
        self.advance(disk, out);
    }

    /// Goes on to the next stages while it has what the stage needs.
    fn advance(&mut self, disk: &mut FleDisk, out: &mut Vec<FleOutput>) {
        while self.has_majority() && self.stage != LeaderStage::Established {
            let mut learners = self.acks;
            learners.remove(self.me);
            let epoch = self.epoch;
            let message = match self.stage {
                LeaderStage::FollowerInfo => {
                    disk.accepted = epoch;
                    out.push(Output::Write(*disk));
                    self.stage = LeaderStage::AckEpoch;
                    DiscoveryMessage::LeaderInfo { epoch }
                }
                LeaderStage::AckEpoch => {
                    disk.current = epoch;
                    let zxid = disk.zxid;
                    out.push(Output::Write(*disk));
                    out.push(Output::Announce(Announcement::Credentials { epoch, zxid }));
                    self.stage = LeaderStage::Ack;
                    DiscoveryMessage::NewLeader { epoch, zxid }
                }
                LeaderStage::Ack | LeaderStage::Established => {
                    out.push(Output::CancelTimer(FleTimer::InitLimit));
                    out.push(Output::SetTimer(FleTimer::Tick));
                    out.push(Output::SetTimer(FleTimer::SyncLimit));
                    out.push(Output::Announce(Announcement::Leading { round: epoch }));
                    self.stage = LeaderStage::Established;
                    self.learners = learners;
                    DiscoveryMessage::UpToDate { epoch }
                }
            };
            for learner in learners.iter() {
                send(learner, message, out);
            }
            if self.stage != LeaderStage::Established {
                self.acks = NodeSet(1 << self.me);
            }
        }
    }
}

fn send(to: Node, message: DiscoveryMessage, out: &mut Vec<FleOutput>) {
    let message = FleMessage::Discovery(message);
    out.push(Output::Send { to, message });
}
