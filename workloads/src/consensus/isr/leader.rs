//! A replica as the leader: appends, answers fetches, commits and acknowledges, and keeps the in-sync replicas.

use super::super::isr_register::{PartitionRequest, PartitionState};
use super::super::protocol::{Node, NodeSet, Output};
use super::replica::{IsrOutputs, ReplicaMode};
use super::{IsrMessage, IsrReplica, IsrTimer, MOST_REPLICAS, PartitionEntry};
use zooquake_history::operation::consensus::Announcement;

/// A leader's account of the other replicas in its epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Leadership {
    /// The end of the log when the epoch began.
    start: u8,
    /// The end of each follower's log, by its fetches in this epoch, in which logs only grow.
    ends: [u8; MOST_REPLICAS],
    /// Followers that have fetched up to the end of the log since the last look at who lags behind.
    caught_up: NodeSet,
    /// Followers whose fetch waits for the next entry.
    waiting: NodeSet,
    /// The offsets, as bits, whose producers have asked this leader and wait for its acknowledgement.
    owed: u16,
}

impl IsrReplica {
    pub(super) fn lead(&mut self, out: &mut IsrOutputs) {
        self.mode = ReplicaMode::Leading(Leadership {
            start: self.log.end(),
            ends: [0; MOST_REPLICAS],
            caught_up: NodeSet::EMPTY,
            waiting: NodeSet::EMPTY,
            owed: 0,
        });
        out.push(Output::Announce(Announcement::Leading {
            round: self.state.epoch.into(),
        }));
        out.extend([IsrTimer::Session, IsrTimer::Fetch].map(Output::CancelTimer));
        out.extend([IsrTimer::Wait, IsrTimer::Lag].map(Output::SetTimer));
        self.review(out);
    }

    pub(super) fn resign(&mut self, epoch: u16, out: &mut IsrOutputs) {
        self.mode = ReplicaMode::Idle;
        out.push(Output::Announce(Announcement::Resigned { round: epoch.into() }));
        out.extend([IsrTimer::Wait, IsrTimer::Lag].map(Output::CancelTimer));
    }

    fn leadership(&mut self) -> &mut Leadership {
        match &mut self.mode {
            ReplicaMode::Leading(leadership) => leadership,
            mode => unreachable!("a leader leads, and is not {mode:?}"),
        }
    }

    /// Appends a producer's message; one that the log has is not appended again.
    pub(super) fn append(&mut self, producer: Node, value: u32, out: &mut IsrOutputs) {
        if let Some(offset) = self.log.find(value) {
            self.leadership().owed |= 1 << offset;
            self.review(out);
            return;
        }
        let offset = self.log.end();
        let entry = PartitionEntry {
            value,
            epoch: self.state.epoch,
            producer,
        };
        if self.are_enough() && self.log.append(entry) {
            self.persist(out);
            out.extend(self.stored(offset));
            self.leadership().owed |= 1 << offset;
            let waiting = std::mem::take(&mut self.leadership().waiting);
            out.extend(waiting.iter().map(|to| Output::Send {
                to,
                message: self.entry(offset, entry),
            }));
            self.review(out);
        }
    }

    fn entry(&self, offset: u8, entry: PartitionEntry) -> IsrMessage {
        IsrMessage::Entry {
            epoch: self.state.epoch,
            offset,
            entry,
            high_watermark: self.high_watermark,
        }
    }

    /// Whether the in-sync replicas are enough to append and acknowledge.
    fn are_enough(&self) -> bool {
        self.state.isr.len() >= self.config.min_insync.into()
    }

    /// A follower's fetch: it has all before the offset. It gets the entry, now or when there is one.
    pub(super) fn serve(&mut self, from: Node, offset: u8, out: &mut IsrOutputs) {
        let next = self.log.get(offset);
        let leadership = self.leadership();
        let end = &mut leadership.ends[usize::from(from)];
        *end = offset.max(*end);
        match next {
            Some(entry) => {
                leadership.waiting.remove(from);
                out.push(Output::Send {
                    to: from,
                    message: self.entry(offset, entry),
                });
            }
            None => {
                leadership.waiting.insert(from);
                leadership.caught_up.insert(from);
            }
        }
        self.readmit(from, offset, out);
        self.review(out);
    }

    pub(super) fn answer_waiting(&mut self, out: &mut IsrOutputs) {
        let message = IsrMessage::Empty {
            epoch: self.state.epoch,
            high_watermark: self.high_watermark,
        };
        let waiting = std::mem::take(&mut self.leadership().waiting);
        out.extend(waiting.iter().map(|to| Output::Send { to, message }));
        out.push(Output::SetTimer(IsrTimer::Wait));
    }

    /// The replicas that must have a message until it is committed: the ISR, and the one that has been asked for.
    fn maximal_isr(&self) -> NodeSet {
        let asked = match self.request {
            Some(PartitionRequest::CompareAndSet(next)) => next.isr,
            _ => NodeSet::EMPTY,
        };
        NodeSet(self.state.isr.0 | asked.0)
    }

    /// Has a follower put into the ISR that has caught up: to the high watermark, and to what was in the log when the
    /// epoch began, of which an earlier leader may have committed more than this one has heard.
    fn readmit(&mut self, follower: Node, offset: u8, out: &mut IsrOutputs) {
        let enough = self.high_watermark.max(self.leadership().start);
        if offset >= enough && !self.maximal_isr().contains(follower) {
            let mut isr = self.state.isr;
            isr.insert(follower);
            self.change_isr(isr, out);
        }
    }

    fn change_isr(&mut self, isr: NodeSet, out: &mut IsrOutputs) {
        if !matches!(self.request, Some(PartitionRequest::CompareAndSet(_))) {
            let next = PartitionState {
                isr,
                version: self.state.version + 1,
                ..self.state
            };
            self.ask(PartitionRequest::CompareAndSet(next), out);
        }
    }

    /// Has those put out of the ISR that have not reached the end of the log since the last look; without any, looks at
    /// the register, since a leader without followers hears from nobody else that it is deposed.
    pub(super) fn look_for_laggards(&mut self, out: &mut IsrOutputs) {
        let mut in_sync = std::mem::take(&mut self.leadership().caught_up);
        in_sync.insert(self.me);
        out.push(Output::SetTimer(IsrTimer::Lag));
        let isr = self.state.isr.intersection(in_sync);
        if isr == self.state.isr {
            self.ask_who_leads(out);
        } else {
            self.change_isr(isr, out);
        }
    }

    /// Raises the high watermark to where every replica of the ISR has the log, and acknowledges what is committed.
    pub(super) fn review(&mut self, out: &mut IsrOutputs) {
        let isr = self.maximal_isr();
        let (me, end) = (self.me, self.log.end());
        let leadership = self.leadership();
        let ends = isr
            .iter()
            .filter(|&node| node != me)
            .map(|node| leadership.ends[usize::from(node)]);
        let replicated = ends.fold(end, u8::min);
        let owed = leadership.owed;
        self.high_watermark = self.high_watermark.max(replicated);
        let committed = owed & !(u16::MAX.checked_shl(self.high_watermark.into()).unwrap_or(0));
        if committed != 0 && self.are_enough() {
            self.leadership().owed &= !committed;
            let offsets = (0..self.high_watermark).filter(|offset| committed >> offset & 1 == 1);
            for entry in offsets.filter_map(|offset| self.log.get(offset)) {
                let message = IsrMessage::Acknowledge { value: entry.value };
                out.push(Output::Send {
                    to: entry.producer,
                    message,
                });
            }
        }
    }
}
