//! Votes of FastLeaderElection, and the order in which one beats another.

use std::fmt;

/// The leader that a server proposes, with that one's epoch and zxid.
///
/// Votes are ordered as FastLeaderElection orders them (`totalOrderPredicate`): the higher epoch wins, then the higher
/// zxid, then the higher server id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaderVote {
    /// Epoch of the proposed server (`n.peerEpoch`).
    pub epoch: i64,
    /// Its last logged zxid (`n.zxid`).
    pub zxid: i64,
    /// Its id (`n.leader`).
    pub leader: i64,
}

/// What decides between two votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VoteRule {
    /// A higher round resets all votes of lower ones.
    Round,
    /// The epochs differ.
    Epoch,
    /// The epochs are equal, the zxids differ.
    Zxid,
    /// Epochs and zxids are equal, the server ids differ.
    Sid,
}

impl LeaderVote {
    /// By which rule this vote beats another; `None` if it does not.
    pub fn beats(self, other: Self) -> Option<VoteRule> {
        let decides = match () {
            () if self.epoch != other.epoch => VoteRule::Epoch,
            () if self.zxid != other.zxid => VoteRule::Zxid,
            () => VoteRule::Sid,
        };
        (self > other).then_some(decides)
    }
}

impl fmt::Display for LeaderVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, zxid, leader } = self;
        write!(f, "(epoch {epoch}, zxid 0x{zxid:x}, server {leader})")
    }
}

impl VoteRule {
    /// Its name in `results.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Epoch => "epoch",
            Self::Zxid => "zxid",
            Self::Sid => "sid",
        }
    }
}
