//! The side of the leader.

use super::DiscoveryMessage;
use crate::consensus::fast_leader_election::{FleDisk, FleMessage, FleOutput, FleTimer};
use crate::consensus::protocol::{Node, NodeSet, Output};
use zooquake_history::operation::consensus::Announcement;

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
