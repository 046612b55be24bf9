//! ZooKeeper's FastLeaderElection, as one server runs it: `lookForLeader` of
//! `org.apache.zookeeper.server.quorum.FastLeaderElection`, and the answers that its `WorkerReceiver` gives.
//!
//! Everyone first votes for itself and sends its vote to all voters; who learns of a higher vote changes to it and
//! sends that. A server with a majority for its vote waits until 200 ms have passed without a higher one, and then
//! leads or follows. It differs from the source in this:
//!
//! - A vote is sent again after 200 ms to 1.6 s, there up to 60 s, counted from its last sending.
//! - An observer answers nobody. There it answers a voter that looks, in a lower round or when it looks no longer
//!   itself; the voter, which answers whatever an observer sends, answers that, and so on until the voter has found a
//!   leader.
//! - Votes of servers that look no longer are compared by leader and epoch, as ZOOKEEPER-1805 has it, in either set.
//!   There the epoch is left out where servers of several versions could meet.

mod server;
#[cfg(test)]
mod tests;

use super::protocol::{MessageFigure, Node, NodeSet, Output};
pub use server::{FleBug, FleConfig, FleDisk, FleMessage, FleOutput, FleServer, FleTimer, ServerLaunch, ServerStart};
use zooquake_history::operation::consensus::Announcement;

/// Largest number of voters.
pub const MAX_VOTERS: usize = 8;

/// Number of times that the wait for notifications doubles: from 200 ms to 1.6 s.
const DOUBLINGS: u8 = 3;

/// By voter the last notification of it that counts.
type VotesByVoter = [Option<FleNotification>; MAX_VOTERS];

/// The election of one server. A new one is not looking; [`Self::look`] begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FastLeaderElection {
    me: Node,
    /// Voters are the nodes below this number, observers the others.
    voters: Node,
    bug: FleBug,
    state: FleState,
    /// The logical clock. It is not on disk, so a restarted server begins at 1 again.
    round: u32,
    /// Its vote for itself in this look.
    own: FleVote,
    /// Its vote now.
    proposal: FleVote,
    /// The votes of this round: `recvset`.
    received: VotesByVoter,
    /// Of servers that look no longer, whatever their round: `outofelection`.
    outside: VotesByVoter,
    /// How often the wait for notifications has doubled in this look.
    backoff: u8,
    /// Whether a majority agrees and only a higher vote is waited for.
    finalizing: bool,
}

impl FastLeaderElection {
    /// The election of the server of a node among these voters.
    pub fn new(me: Node, voters: Node, bug: FleBug) -> Self {
        Self {
            me,
            voters,
            bug,
            state: FleState::Looking,
            round: 0,
            own: FleVote::default(),
            proposal: FleVote::default(),
            received: [None; MAX_VOTERS],
            outside: [None; MAX_VOTERS],
            backoff: 0,
            finalizing: false,
        }
    }

    /// The server for which its last vote is; `None` for an observer that has received no vote.
    pub fn leader(&self) -> Option<Node> {
        self.proposal.sid.checked_sub(1)
    }

    /// Begins to look in the next round, with these credentials.
    pub fn look(&mut self, epoch: u32, zxid: u32, out: &mut Vec<FleOutput>) {
        self.state = FleState::Looking;
        self.round += 1;
        self.own = FleVote::default();
        if self.me < self.voters {
            let sid = self.me + 1;
            self.own = FleVote { epoch, zxid, sid };
        }
        out.push(Output::Announce(Announcement::Looking { round: self.round }));
        self.propose(self.own, out);
        out.push(Output::SetTimer(FleTimer::Poll(self.backoff)));
        self.finalize_if_agreed(out);
    }

    /// Replaces the epoch of the vote that it answers with by that of the leader which it serves: `updateElectionVote`.
    pub fn adopt_epoch(&mut self, epoch: u32) {
        self.proposal.epoch = epoch;
    }

    /// Takes a notification: answers it, and if the server is looking, counts it.
    pub fn receive(&mut self, from: Node, notification: FleNotification, out: &mut Vec<FleOutput>) {
        let (sender_looks, votes) = (notification.state == FleState::Looking, self.me < self.voters);
        if from >= self.voters {
            return self.send_vote(from, out);
        }
        if self.state != FleState::Looking {
            if sender_looks && votes {
                self.send_vote(from, out);
            }
            return;
        }
        if sender_looks && votes && notification.round < self.round {
            self.send_vote(from, out);
        }
        if self.finalizing {
            out.push(Output::SetTimer(FleTimer::Finalize));
            if !self.exceeds(notification.vote, self.proposal) {
                return;
            }
            self.finalizing = false;
            out.push(Output::CancelTimer(FleTimer::Finalize));
            out.push(Output::SetTimer(FleTimer::Poll(self.backoff)));
        }
        match notification.state {
            FleState::Looking => self.count_looking(from, notification, out),
            FleState::Following | FleState::Leading => self.count_settled(from, notification, out),
            FleState::Observing => {}
        }
    }

    /// No notification has come for as long as it waited: sends its vote again and waits twice as long.
    pub fn poll_timeout(&mut self, backoff: u8, out: &mut Vec<FleOutput>) {
        if self.state == FleState::Looking && !self.finalizing && backoff == self.backoff {
            self.send_notifications(out);
            self.backoff = DOUBLINGS.min(backoff + 1);
            out.push(Output::SetTimer(FleTimer::Poll(self.backoff)));
        }
    }

    /// No higher vote has come within the final wait: ends the look with its vote.
    pub fn finalize_timeout(&mut self, out: &mut Vec<FleOutput>) {
        if self.finalizing {
            self.end(self.notification(), out);
        }
    }

    /// `totalOrderPredicate`.
    fn exceeds(&self, vote: FleVote, current: FleVote) -> bool {
        match self.bug {
            FleBug::None => vote > current,
            FleBug::IgnoresEpoch => (vote.zxid, vote.sid) > (current.zxid, current.sid),
        }
    }

    /// A notification of a server that looks.
    fn count_looking(&mut self, from: Node, notification: FleNotification, out: &mut Vec<FleOutput>) {
        let FleNotification { vote, round, .. } = notification;
        if round < self.round {
            return;
        }
        if round > self.round {
            self.round = round;
            self.received = [None; MAX_VOTERS];
            out.push(Output::Announce(Announcement::Looking { round }));
            let higher = self.exceeds(vote, self.own);
            self.propose(if higher { vote } else { self.own }, out);
        } else if self.exceeds(vote, self.proposal) {
            self.propose(vote, out);
        }
        self.received[usize::from(from)] = Some(notification);
        self.finalize_if_agreed(out);
    }

    /// A notification of a server that follows or leads: its leader is joined if a majority and itself confirm it.
    fn count_settled(&mut self, from: Node, notification: FleNotification, out: &mut Vec<FleOutput>) {
        let from = usize::from(from);
        if notification.round == self.round {
            self.received[from] = Some(notification);
            let counted = agreeing(&self.received, &notification);
            if self.is_majority(counted) && self.check_leader(&self.received, &notification) {
                return self.end(notification, out);
            }
        }
        self.outside[from] = Some(notification);
        let counted = agreeing(&self.outside, &notification);
        if self.is_majority(counted) && self.check_leader(&self.outside, &notification) {
            self.end(notification, out);
        }
    }

    /// `checkLeader`: whether the leader itself has sent that it leads; this server does so if the round is its own.
    fn check_leader(&self, votes: &VotesByVoter, notification: &FleNotification) -> bool {
        let leader = usize::from(notification.vote.sid) - 1;
        if leader == usize::from(self.me) {
            notification.round == self.round
        } else {
            votes[leader].is_some_and(|vote| vote.state == FleState::Leading)
        }
    }

    fn is_majority(&self, nodes: NodeSet) -> bool {
        nodes.len() * 2 > usize::from(self.voters)
    }

    fn propose(&mut self, vote: FleVote, out: &mut Vec<FleOutput>) {
        self.proposal = vote;
        self.send_notifications(out);
    }

    /// Sends its vote to all voters. Its own, which the source sends through its own queue, counts at once.
    fn send_notifications(&mut self, out: &mut Vec<FleOutput>) {
        for to in (0..self.voters).filter(|&to| to != self.me) {
            self.send_vote(to, out);
        }
        if self.me < self.voters {
            self.received[usize::from(self.me)] = Some(self.notification());
        }
    }

    fn send_vote(&self, to: Node, out: &mut Vec<FleOutput>) {
        let message = FleMessage::Vote(self.notification());
        out.push(Output::Send { to, message });
    }

    fn notification(&self) -> FleNotification {
        FleNotification {
            vote: self.proposal,
            round: self.round,
            state: self.state,
        }
    }

    fn finalize_if_agreed(&mut self, out: &mut Vec<FleOutput>) {
        if self.is_majority(agreeing(&self.received, &self.notification())) {
            self.finalizing = true;
            out.push(Output::CancelTimer(FleTimer::Poll(self.backoff)));
            out.push(Output::SetTimer(FleTimer::Finalize));
        }
    }

    /// Ends the look with a vote that a majority agrees to. Announced as the voters of a leader are those who cast
    /// their vote in a look, and so by the order of votes: a server can come to follow a leader without having voted
    /// for it.
    fn end(&mut self, vote: FleNotification, out: &mut Vec<FleOutput>) {
        self.state = if vote.vote.sid == self.me + 1 {
            let state = FleState::Looking;
            let cast = Some(FleNotification { state, ..vote });
            let voted = |&node: &Node| node == self.me || self.received[usize::from(node)] == cast;
            let voters: NodeSet = (0..self.voters).filter(voted).collect();
            let (round, voters) = (vote.round, voters.0);
            out.push(Output::Announce(Announcement::Elected { round, voters }));
            FleState::Leading
        } else if self.me < self.voters {
            FleState::Following
        } else {
            FleState::Observing
        };
        self.proposal = vote.vote;
        self.round = vote.round;
        let timer = if self.finalizing {
            FleTimer::Finalize
        } else {
            FleTimer::Poll(self.backoff)
        };
        out.push(Output::CancelTimer(timer));
        self.received = [None; MAX_VOTERS];
        self.outside = [None; MAX_VOTERS];
        self.backoff = 0;
        self.finalizing = false;
    }
}

/// The voters whose votes agree with one: `getVoteTracker`.
fn agreeing(votes: &VotesByVoter, vote: &FleNotification) -> NodeSet {
    let agrees = |&node: &Node| votes[usize::from(node)].is_some_and(|other| other.agrees(vote));
    (0..MAX_VOTERS as Node).filter(agrees).collect()
}

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
    fn agrees(&self, other: &Self) -> bool {
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
