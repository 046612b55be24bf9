//! A replica: how it learns who leads, follows a leader, and asks to lead.

use super::super::isr_register::{PartitionRequest, PartitionState};
use super::super::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf};
use super::leader::Leadership;
use super::{EpochEnd, IsrBug, IsrConfig, IsrDisk, IsrMessage, IsrNode, IsrTimer, PartitionEntry, PartitionLog};
use zooquake_history::operation::consensus::Announcement;

/// Session timeouts in a row after which a replica outside the ISR leads, where elections are unclean.
const UNCLEAN_TIMEOUTS: u8 = 2;

pub(super) type IsrOutputs = Vec<OutputOf<IsrNode>>;

/// What a replica is to the partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReplicaMode {
    /// It has not heard of a leader.
    Idle,
    /// It asks the leader where its log parts from the leader's.
    Truncating,
    /// Its log is the beginning of the leader's.
    Fetching,
    /// It leads.
    Leading(Leadership),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IsrReplica {
    pub(super) config: IsrConfig,
    pub(super) me: Node,
    /// The log, be it on the disk or in memory alone.
    pub(super) log: PartitionLog,
    /// The highest epoch that it has asked to lead in.
    asked: u16,
    /// Whether a flush is due: the log has changed since the last one.
    unflushed: bool,
    pub(super) high_watermark: u8,
    /// The newest state of the register that it has heard; after a start no more than its epoch, from the disk.
    pub(super) state: PartitionState,
    pub(super) mode: ReplicaMode,
    /// What it has asked the register and has no answer to.
    pub(super) request: Option<PartitionRequest>,
    /// Session timeouts since it has heard from the leader, up to [`UNCLEAN_TIMEOUTS`].
    pub(super) silence: u8,
}

impl IsrReplica {
    pub(super) fn new(config: IsrConfig, me: Node, log: PartitionLog, asked: u16, epoch: u16) -> Self {
        Self {
            config,
            me,
            log,
            asked,
            unflushed: false,
            high_watermark: 0,
            state: PartitionState {
                epoch,
                ..PartitionState::UNKNOWN
            },
            mode: ReplicaMode::Idle,
            request: None,
            silence: 0,
        }
    }

    pub(super) fn step(&mut self, input: InputOf<IsrNode>) -> IsrOutputs {
        let mut out = Vec::new();
        match input {
            Input::Start => self.start(&mut out),
            Input::Receive { from, message } => self.receive(from, message, &mut out),
            Input::Timer(timer) => self.run_out(timer, &mut out),
            Input::Request(_) => {}
        }
        out
    }

    /// Makes public what is on the disk: the process before may have died before it did, or with more in its memory.
    fn start(&mut self, out: &mut IsrOutputs) {
        out.extend((0..self.log.end()).filter_map(|offset| self.stored(offset)));
        if !self.config.write_before_ack {
            out.push(Output::Announce(Announcement::Truncated {
                offset: self.log.end().into(),
            }));
        }
        self.ask(PartitionRequest::Read, out);
    }

    pub(super) fn stored(&self, offset: u8) -> Option<OutputOf<IsrNode>> {
        let PartitionEntry { value, epoch, .. } = self.log.get(offset)?;
        Some(Output::Announce(Announcement::Stored {
            offset: offset.into(),
            round: Some(epoch.into()),
            value,
        }))
    }

    fn receive(&mut self, from: Node, message: IsrMessage, out: &mut IsrOutputs) {
        let from_leader = |epoch| from == self.state.leader && epoch == self.state.epoch;
        match (message, self.mode) {
            (IsrMessage::Answer(answer), _) => self.learn(answer.state(), out),
            (IsrMessage::Append { value }, ReplicaMode::Leading(_)) => self.append(from, value, out),
            (IsrMessage::Append { .. }, _) => self.redirect(from, out),
            (IsrMessage::AskEpochEnd { epoch, .. } | IsrMessage::Fetch { epoch, .. }, _) => {
                self.answer_follower(from, epoch, message, out);
            }
            (IsrMessage::Redirect { epoch, .. }, _) if epoch > self.state.epoch => self.ask_who_leads(out),
            (IsrMessage::EpochEnd { epoch, log, leader }, ReplicaMode::Truncating)
                if from_leader(epoch) && log == self.log.last() =>
            {
                self.truncate(leader, out);
            }
            (
                IsrMessage::Entry {
                    epoch,
                    offset,
                    entry,
                    high_watermark,
                },
                ReplicaMode::Fetching,
            ) if from_leader(epoch) && self.takes(offset) => {
                self.replicate(entry, out);
                self.fetch_next(high_watermark, out);
            }
            (IsrMessage::Empty { epoch, high_watermark }, ReplicaMode::Fetching) if from_leader(epoch) => {
                self.fetch_next(high_watermark, out);
            }
            _ => {}
        }
    }

    /// Answers a follower that takes this replica for the leader of an epoch.
    fn answer_follower(&mut self, from: Node, epoch: u16, message: IsrMessage, out: &mut IsrOutputs) {
        let leads = matches!(self.mode, ReplicaMode::Leading(_)) && epoch == self.state.epoch;
        match message {
            _ if epoch > self.state.epoch => self.ask_who_leads(out),
            IsrMessage::AskEpochEnd { log, .. } if leads => {
                let message = IsrMessage::EpochEnd {
                    epoch,
                    log,
                    leader: self.log.epoch_end(log.epoch),
                };
                out.push(Output::Send { to: from, message });
            }
            IsrMessage::Fetch { offset, .. } if leads => self.serve(from, offset, out),
            _ => self.redirect(from, out),
        }
    }

    fn run_out(&mut self, timer: IsrTimer, out: &mut IsrOutputs) {
        match (timer, self.mode) {
            (IsrTimer::Ask, _) => {
                if let Some(request) = self.request {
                    self.ask(request, out);
                }
            }
            (IsrTimer::Fetch, ReplicaMode::Truncating | ReplicaMode::Fetching) => self.ask_leader(out),
            (IsrTimer::Session, ReplicaMode::Truncating | ReplicaMode::Fetching) => {
                self.silence = UNCLEAN_TIMEOUTS.min(self.silence + 1);
                out.push(Output::SetTimer(IsrTimer::Session));
                self.ask_who_leads(out);
            }
            (IsrTimer::Wait, ReplicaMode::Leading(_)) => self.answer_waiting(out),
            (IsrTimer::Lag, ReplicaMode::Leading(_)) => self.look_for_laggards(out),
            (IsrTimer::Flush, _) => {
                self.unflushed = false;
                out.push(self.write());
            }
            _ => {}
        }
    }

    fn write(&self) -> OutputOf<IsrNode> {
        Output::Write(IsrDisk::Replica {
            log: self.log,
            asked: self.asked,
            epoch: self.state.epoch,
        })
    }

    /// After a change of the log: writes it, or has it flushed later.
    pub(super) fn persist(&mut self, out: &mut IsrOutputs) {
        if self.config.write_before_ack {
            out.push(self.write());
        } else if !self.unflushed {
            self.unflushed = true;
            out.push(Output::SetTimer(IsrTimer::Flush));
        }
    }

    /// Asks the register until it answers.
    pub(super) fn ask(&mut self, request: PartitionRequest, out: &mut IsrOutputs) {
        self.request = Some(request);
        out.push(Output::Send {
            to: self.config.register(),
            message: IsrMessage::Ask(request),
        });
        out.push(Output::SetTimer(IsrTimer::Ask));
    }

    pub(super) fn ask_who_leads(&mut self, out: &mut IsrOutputs) {
        if self.request.is_none() {
            self.ask(PartitionRequest::Read, out);
        }
    }

    fn redirect(&self, to: Node, out: &mut IsrOutputs) {
        let PartitionState {
            leader, epoch, version, ..
        } = self.state;
        let leads = matches!(self.mode, ReplicaMode::Leading(_));
        if version != PartitionState::UNKNOWN.version && (leader != self.me || leads) {
            out.push(Output::Send {
                to,
                message: IsrMessage::Redirect { leader, epoch },
            });
        }
    }

    /// Takes a state of the register, unless it has a newer one or waits for the outcome of a change of this one. An
    /// epoch is on its disk before it acts in it: an answer of the register to an earlier process that arrives late
    /// must not have this one follow a leader that is deposed, and cut off what a later leader, itself perhaps, has
    /// committed. (A broker's connections end with its process.)
    fn learn(&mut self, state: PartitionState, out: &mut IsrOutputs) {
        let mut elected = false;
        if state.version < self.state.version || state.epoch < self.state.epoch {
            return;
        }
        if let Some(PartitionRequest::CompareAndSet(next)) = self.request {
            if state.version < next.version {
                return;
            }
            elected = state.leader == self.me && state.epoch == next.epoch && next.epoch > self.state.epoch;
        }
        if self.request.take().is_some() {
            out.push(Output::CancelTimer(IsrTimer::Ask));
        }
        let leads = matches!(self.mode, ReplicaMode::Leading(_));
        let before = std::mem::replace(&mut self.state, state);
        let changed = state.epoch > before.epoch || self.mode == ReplicaMode::Idle;
        if leads && changed {
            self.resign(before.epoch, out);
        }
        match state.leader == self.me {
            _ if leads && !changed => self.review(out),
            true if elected => {
                out.push(self.write());
                self.lead(out);
            }
            true => {
                self.mode = ReplicaMode::Idle;
                self.stand(out);
            }
            false if changed => {
                out.push(self.write());
                self.follow(out);
            }
            false if self.silence > 0 && self.may_stand() => self.stand(out),
            false => {}
        }
    }

    /// Whether it may lead in place of a leader that it has not heard from.
    fn may_stand(&self) -> bool {
        self.state.isr.contains(self.me)
            || self.config.bug == IsrBug::LeaderOutsideIsr
            || self.config.unclean && self.silence >= UNCLEAN_TIMEOUTS
    }

    /// Asks to lead in an epoch that it never asked for, in this process or an earlier one. The ISR is that before less
    /// the leader before; of a leader that is out of sync, itself alone.
    fn stand(&mut self, out: &mut IsrOutputs) {
        let mut isr = self.state.isr;
        if self.state.leader != self.me {
            isr.remove(self.state.leader);
        }
        if !isr.contains(self.me) && self.config.bug != IsrBug::LeaderOutsideIsr {
            isr = NodeSet::EMPTY;
        }
        isr.insert(self.me);
        let (epoch, version) = (self.asked.max(self.state.epoch) + 1, self.state.version + 1);
        self.asked = epoch;
        out.push(self.write());
        self.ask(
            PartitionRequest::CompareAndSet(PartitionState {
                leader: self.me,
                epoch,
                isr,
                version,
            }),
            out,
        );
    }
}

/// As a follower it cuts its log off where that parts from the leader's, and fetches from there on.
impl IsrReplica {
    fn follow(&mut self, out: &mut IsrOutputs) {
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
    fn ask_leader(&self, out: &mut IsrOutputs) {
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
    fn truncate(&mut self, leader: EpochEnd, out: &mut IsrOutputs) {
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
    fn takes(&self, offset: u8) -> bool {
        offset == self.log.end() || self.config.bug == IsrBug::IgnoresOffset
    }

    fn replicate(&mut self, entry: PartitionEntry, out: &mut IsrOutputs) {
        if self.log.append(entry) {
            self.persist(out);
            out.extend(self.stored(self.log.end() - 1));
        }
    }

    fn fetch_next(&mut self, high_watermark: u8, out: &mut IsrOutputs) {
        self.note_leader(out);
        self.high_watermark = self.high_watermark.max(high_watermark.min(self.log.end()));
        self.ask_leader(out);
    }
}
