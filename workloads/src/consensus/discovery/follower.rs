//! The side of a learner: a follower or an observer.

use super::DiscoveryMessage;
use crate::consensus::fast_leader_election::{FleDisk, FleMessage, FleOutput, FleTimer};
use crate::consensus::protocol::{Node, Output};
use zooquake_history::operation::consensus::Announcement;

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
