//! A replica as a follower: cuts its log off where it parts from the leader's, and fetches from there on.

use super::super::protocol::Output;
use super::replica::{IsrOutputs, ReplicaMode};
use super::{EpochEnd, IsrBug, IsrMessage, IsrReplica, IsrTimer, PartitionEntry};
use zooquake_history::operation::consensus::Announcement;

impl IsrReplica {
    pub(super) fn follow(&mut self, out: &mut IsrOutputs) {
        self.mode = ReplicaMode::Truncating;
        if self.config.bug == IsrBug::KeepsTail {
            self.fetch(out);
        }
        self.note_leader(out);
        self.ask_leader(out);
    }

    /// Takes its log for the beginning of the leader's.
    fn fetch(&mut self, out: &mut IsrOutputs) {
        self.mode = ReplicaMode::Fetching;
        let (leader, round) = (self.state.leader, self.state.epoch.into());
        out.push(Output::Announce(Announcement::Following { leader, round }));
    }

    /// Sends the leader what it has no answer to.
    pub(super) fn ask_leader(&self, out: &mut IsrOutputs) {
        let epoch = self.state.epoch;
        let message = match self.mode {
            ReplicaMode::Truncating => IsrMessage::AskEpochEnd {
                epoch,
                log: self.log.last(),
            },
            _ => IsrMessage::Fetch {
                epoch,
                offset: self.log.end(),
            },
        };
        out.push(Output::Send {
            to: self.state.leader,
            message,
        });
        out.push(Output::SetTimer(IsrTimer::Fetch));
    }

    fn note_leader(&mut self, out: &mut IsrOutputs) {
        self.silence = 0;
        out.push(Output::SetTimer(IsrTimer::Session));
    }

    /// Cuts the log off where it parts from the leader's, which has no epoch of those that this log has after that of
    /// `leader`; asks again if this log does not have that, but an earlier one (KIP-279).
    pub(super) fn truncate(&mut self, leader: EpochEnd, out: &mut IsrOutputs) {
        self.note_leader(out);
        let end = leader.offset.min(self.log.epoch_end(leader.epoch).offset);
        if self.log.truncate(end) {
            out.push(Output::Announce(Announcement::Truncated { offset: end.into() }));
            self.persist(out);
            self.high_watermark = self.high_watermark.min(end);
        }
        if self.log.end() == 0 || self.log.last().epoch == leader.epoch {
            self.fetch(out);
        }
        self.ask_leader(out);
    }

    /// Whether it stores an entry that has this offset in the leader's log.
    pub(super) fn takes(&self, offset: u8) -> bool {
        offset == self.log.end() || self.config.bug == IsrBug::IgnoresOffset
    }

    pub(super) fn replicate(&mut self, entry: PartitionEntry, out: &mut IsrOutputs) {
        if self.log.append(entry) {
            self.persist(out);
            out.extend(self.stored(self.log.end() - 1));
        }
    }

    pub(super) fn fetch_next(&mut self, high_watermark: u8, out: &mut IsrOutputs) {
        self.note_leader(out);
        self.high_watermark = self.high_watermark.max(high_watermark.min(self.log.end()));
        self.ask_leader(out);
    }
}
