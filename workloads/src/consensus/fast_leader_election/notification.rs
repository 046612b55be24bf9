//! What servers send each other in an election.

use crate::consensus::protocol::MessageFigure;

/// A vote: whom it is for, with the credentials of that server. Votes are ordered as `totalOrderPredicate` orders them:
/// by epoch, then zxid, then server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FleVote {
    /// The epoch in which that server last followed or led.
    pub epoch: u32,
    /// The number of its last transaction.
    pub zxid: u32,
    /// Its id: its node's number plus 1. An observer, which has no vote, votes for 0.
    pub sid: u8,
}

/// What a server is doing, in the source `ServerState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FleState {
    /// It seeks a leader.
    Looking,
    /// It is a voter that has found one.
    Following,
    /// It has found itself to be the leader.
    Leading,
    /// It is an observer that has found one.
    Observing,
}

/// What servers send each other in an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FleNotification {
    /// The vote of the sender; if it looks no longer, the one that ended its look.
    pub vote: FleVote,
    /// The sender's logical clock: its `electionEpoch`.
    pub round: u32,
    /// What the sender is doing.
    pub state: FleState,
}

impl FleNotification {
    /// Whether two votes count for the same, as `Vote.equals` has it.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        if self.state == FleState::Looking || other.state == FleState::Looking {
            self.vote == other.vote && self.round == other.round
        } else {
            self.vote.sid == other.vote.sid && self.vote.epoch == other.vote.epoch
        }
    }

    /// How it is drawn: whom the vote is for and that server's zxid, then its epoch and what the sender is doing, the
    /// epoch unless it is 0 and the latter unless it is looking.
    pub(super) fn figure(&self) -> MessageFigure {
        let FleVote { epoch, zxid, sid } = self.vote;
        let mut detail = if sid == 0 {
            "nobody".to_owned()
        } else {
            format!("({sid}, {zxid})")
        };
        if epoch > 0 {
            detail += &format!(" epoch {epoch}");
        }
        detail += match self.state {
            FleState::Looking => "",
            FleState::Following => " FOLLOWING",
            FleState::Leading => " LEADING",
            FleState::Observing => " OBSERVING",
        };
        MessageFigure {
            kind: "vote",
            detail,
            round: Some(self.round),
        }
    }
}
