//! The nodes of a partition: its replicas, the register, and producers.

use super::super::isr_register::{PartitionRegister, PartitionRequest, PartitionState};
use super::super::protocol::{Input, InputOf, MessageFigure, Node, NodeRole, Output, OutputOf, Protocol};
use super::{IsrConfig, IsrMessage, IsrReplica, IsrTimer, LOG_LENGTH, PartitionLog};
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IsrNode {
    /// A replica of the partition.
    Replica(IsrReplica),
    Register(PartitionRegister),
    Producer(IsrProducer),
}

/// What survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsrDisk {
    Replica {
        log: PartitionLog,
        /// The highest epoch that it has asked to lead in.
        asked: u16,
        /// The epoch of the newest state of the register that it had heard.
        epoch: u16,
    },
    /// Of the register: the state in force.
    Register(PartitionState),
    /// Of a producer: nothing.
    Producer,
}

impl Protocol for IsrNode {
    type Config = IsrConfig;
    type Message = IsrMessage;
    type Timer = IsrTimer;
    type Disk = IsrDisk;

    fn roles(config: &IsrConfig) -> Vec<NodeRole> {
        let mut roles = vec![
            NodeRole {
                name: "replica",
                client: false
            };
            config.replicas.into()
        ];
        roles.push(NodeRole {
            name: "register",
            client: false,
        });
        roles.extend(vec![
            NodeRole {
                name: "producer",
                client: true
            };
            config.producers.into()
        ]);
        roles
    }

    fn new_disk(config: &IsrConfig, node: Node) -> IsrDisk {
        if node < config.replicas {
            IsrDisk::Replica {
                log: PartitionLog::default(),
                asked: 0,
                epoch: 0,
            }
        } else if node == config.register() {
            IsrDisk::Register(PartitionState::initial(config.replicas))
        } else {
            IsrDisk::Producer
        }
    }

    fn boot(config: &IsrConfig, node: Node, disk: &IsrDisk) -> Self {
        match *disk {
            IsrDisk::Replica { log, asked, epoch } => Self::Replica(IsrReplica::new(*config, node, log, asked, epoch)),
            IsrDisk::Register(state) => Self::Register(PartitionRegister(state)),
            IsrDisk::Producer => Self::Producer(IsrProducer::new(config)),
        }
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>> {
        match self {
            Self::Replica(replica) => replica.step(input),
            Self::Register(register) => keep(register, input),
            Self::Producer(producer) => producer.step(input),
        }
    }

    fn duration(timer: IsrTimer) -> Range<u32> {
        match timer {
            IsrTimer::Ask => 50_000..80_000,
            IsrTimer::Fetch => 180_000..240_000,
            IsrTimer::Session => 800_000..1_400_000,
            IsrTimer::Wait => 100_000..140_000,
            IsrTimer::Lag => 300_000..450_000,
            IsrTimer::Flush => 200_000..400_000,
            IsrTimer::Retry => 100_000..200_000,
        }
    }

    fn figure(message: &IsrMessage) -> MessageFigure {
        message.figure()
    }
}

/// A step of the register: it makes its state public when it starts, and each change of it before it answers.
fn keep(register: &mut PartitionRegister, input: InputOf<IsrNode>) -> Vec<OutputOf<IsrNode>> {
    match input {
        Input::Start => vec![in_sync(register.0)],
        Input::Receive {
            from,
            message: IsrMessage::Ask(request),
        } => answer(register, from, request),
        _ => Vec::new(),
    }
}

fn answer(register: &mut PartitionRegister, from: Node, request: PartitionRequest) -> Vec<OutputOf<IsrNode>> {
    let (answer, changed) = register.answer(request);
    let mut out = Vec::new();
    if changed {
        out.extend([Output::Write(IsrDisk::Register(register.0)), in_sync(register.0)]);
    }
    out.push(Output::Send {
        to: from,
        message: IsrMessage::Answer(answer),
    });
    out
}

fn in_sync(state: PartitionState) -> OutputOf<IsrNode> {
    Output::Announce(Announcement::InSync { replicas: state.isr.0 })
}

/// A producer: it sends its messages to the replica that it takes for the leader until they are acknowledged.
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
    fn new(config: &IsrConfig) -> Self {
        Self {
            replicas: config.replicas,
            leader: 0,
            epoch: 0,
            pending: [0; LOG_LENGTH],
        }
    }

    fn step(&mut self, input: InputOf<IsrNode>) -> Vec<OutputOf<IsrNode>> {
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
