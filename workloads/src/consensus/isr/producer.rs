//! A producer: it sends its messages to the replica that it takes for the leader until they are acknowledged.

use super::super::protocol::{Input, InputOf, Node, Output, OutputOf};
use super::{IsrConfig, IsrMessage, IsrNode, IsrTimer, LOG_LENGTH};
use zooquake_history::operation::consensus::Announcement;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IsrProducer {
    replicas: u8,
    /// The replica that it takes for the leader, and the epoch in which a redirect named one last.
    leader: Node,
    epoch: u16,
    /// Messages that are not acknowledged, 0 in free places; as many as a log has room for.
    pending: [u32; LOG_LENGTH],
}

impl IsrProducer {
    pub(super) fn new(config: &IsrConfig) -> Self {
        Self {
            replicas: config.replicas,
            leader: 0,
            epoch: 0,
            pending: [0; LOG_LENGTH],
        }
    }

    pub(super) fn step(&mut self, input: InputOf<IsrNode>) -> Vec<OutputOf<IsrNode>> {
        let mut out = Vec::new();
        match input {
            Input::Request(value) => self.request(value, &mut out),
            Input::Receive {
                message: IsrMessage::Acknowledge { value },
                ..
            } => self.note_acknowledged(value, &mut out),
            Input::Receive {
                message: IsrMessage::Redirect { leader, epoch },
                ..
            } => {
                self.note_leader(leader, epoch, &mut out);
            }
            Input::Timer(IsrTimer::Retry) if self.is_waiting() => {
                self.leader = (self.leader + 1) % self.replicas;
                self.send_all(&mut out);
            }
            _ => {}
        }
        out
    }

    fn is_waiting(&self) -> bool {
        self.pending.iter().any(|&value| value != 0)
    }

    fn request(&mut self, value: u32, out: &mut Vec<OutputOf<IsrNode>>) {
        let first = !self.is_waiting();
        if let Some(place) = self.pending.iter_mut().find(|value| **value == 0) {
            *place = value;
            out.push(Output::Send {
                to: self.leader,
                message: IsrMessage::Append { value },
            });
            if first {
                out.push(Output::SetTimer(IsrTimer::Retry));
            }
        }
    }

    fn note_acknowledged(&mut self, value: u32, out: &mut Vec<OutputOf<IsrNode>>) {
        if let Some(place) = self.pending.iter_mut().find(|pending| **pending == value) {
            *place = 0;
            out.push(Output::Announce(Announcement::Answered { value }));
            if !self.is_waiting() {
                out.push(Output::CancelTimer(IsrTimer::Retry));
            }
        }
    }

    /// Takes another replica for the leader, unless its epoch is before that of the last redirect.
    fn note_leader(&mut self, leader: Node, epoch: u16, out: &mut Vec<OutputOf<IsrNode>>) {
        if epoch >= self.epoch && leader != self.leader && self.is_waiting() {
            (self.leader, self.epoch) = (leader, epoch);
            self.send_all(out);
        }
    }

    fn send_all(&self, out: &mut Vec<OutputOf<IsrNode>>) {
        let values = self.pending.iter().filter(|&&value| value != 0);
        out.extend(values.map(|&value| Output::Send {
            to: self.leader,
            message: IsrMessage::Append { value },
        }));
        out.push(Output::SetTimer(IsrTimer::Retry));
    }
}
