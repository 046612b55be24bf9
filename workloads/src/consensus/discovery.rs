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

mod follower;
mod leader;

use super::protocol::MessageFigure;
pub use follower::FollowerDiscovery;
pub use leader::LeaderDiscovery;

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
