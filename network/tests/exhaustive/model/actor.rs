//! Any [`Protocol`](zooquake_workloads::consensus::protocol::Protocol) as an actor of Stateright.

use super::bounds::BoundedProtocol;
use super::digest::DigestKey;
use stateright::actor::{Actor, Id, Out, model_timeout};
use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;
use zooquake_history::operation::consensus::Announcement;
use zooquake_workloads::consensus::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf};

/// A node of a protocol.
#[derive(Debug, Clone)]
pub struct ProtocolActor<P: BoundedProtocol> {
    /// Sizes and options of the protocol.
    pub config: P::Config,
    /// What the application asks the node for, as soon as it runs for the first time.
    pub request: Option<u32>,
    /// The highest round within the bounds.
    pub rounds: u32,
    /// Nodes at which nothing arrives that this one sends.
    pub unreachable: NodeSet,
    /// Whether timers of this node run out.
    pub timed: bool,
    /// Whether processes die, so that a node needs its disk.
    pub mortal: bool,
}

/// A node as its process has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeProcess<P: BoundedProtocol> {
    machine: P,
    /// What a crash does not take away.
    pub durable: NodeDurable<P::Disk>,
    /// Whether it has sent a message of a round beyond the bounds.
    pub beyond: bool,
}

/// What a crash of a node does not take away: its disk, and what others have received of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeDurable<D> {
    /// Where processes die, the disk.
    disk: D,
    /// What it has made public, in order.
    pub announced: Vec<Announcement>,
    /// How many timers that count have run out.
    pub timers: u32,
    /// How often its process has started.
    pub starts: u32,
}

impl<P: BoundedProtocol> ProtocolActor<P> {
    /// Puts outputs out.
    fn emit(&self, process: &mut NodeProcess<P>, outputs: Vec<OutputOf<P>>, o: &mut Out<Self>) {
        for output in outputs {
            match output {
                Output::Send { to, .. } if self.unreachable.contains(to) => {}
                Output::SetTimer(_) | Output::CancelTimer(_) if !self.timed => {}
                Output::Send { to, message } => {
                    process.beyond |= P::round(&message) > self.rounds;
                    o.send(Id::from(usize::from(to)), DigestKey::new(message));
                }
                Output::SetTimer(timer) => o.set_timer(DigestKey::new(timer), model_timeout()),
                Output::CancelTimer(timer) => o.cancel_timer(DigestKey::new(timer)),
                Output::Write(disk) if self.mortal => process.durable.disk = disk,
                Output::Write(_) => {}
                Output::Announce(announcement) => process.durable.announced.push(announcement),
            }
        }
    }

    /// Has the process take an input; `None` if nothing comes of it.
    fn take(&self, process: &NodeProcess<P>, input: InputOf<P>, o: &mut Out<Self>) -> Option<NodeProcess<P>> {
        let mut next = process.clone();
        let outputs = next.machine.step(input);
        let renewed = |output: &OutputOf<P>| match (output, input) {
            (Output::SetTimer(set), Input::Timer(timer)) => *set == timer,
            _ => false,
        };
        let effective = next.machine != process.machine || !outputs.iter().all(renewed);
        if let Input::Timer(timer) = input
            && effective
            && P::counts(timer)
        {
            next.durable.timers += 1;
        }
        self.emit(&mut next, outputs, o);
        if self.mortal && next.durable != process.durable {
            o.save(DigestKey::new(Arc::new(next.durable.clone())));
        }
        (next != *process).then_some(next)
    }
}

/// The number of a node.
pub(crate) fn node(id: Id) -> Node {
    usize::from(id) as Node
}

impl<P: BoundedProtocol> Actor for ProtocolActor<P> {
    type Msg = DigestKey<P::Message>;
    type Timer = DigestKey<P::Timer>;
    type State = DigestKey<NodeProcess<P>>;
    type Storage = DigestKey<Arc<NodeDurable<P::Disk>>>;
    type Random = ();

    fn on_start(&self, id: Id, storage: &Option<Self::Storage>, o: &mut Out<Self>) -> Self::State {
        let mut durable = match storage {
            Some(stored) => NodeDurable::clone(stored.value()),
            None => NodeDurable {
                disk: P::new_disk(&self.config, node(id)),
                announced: Vec::new(),
                timers: 0,
                starts: 0,
            },
        };
        durable.starts += 1;
        let machine = P::boot(&self.config, node(id), &durable.disk);
        let mut process = NodeProcess {
            machine,
            durable,
            beyond: false,
        };
        let mut outputs = process.machine.step(Input::Start);
        if let Some(value) = self.request.filter(|_| process.durable.starts == 1) {
            outputs.extend(process.machine.step(Input::Request(value)));
        }
        self.emit(&mut process, outputs, o);
        if self.mortal {
            o.save(DigestKey::new(Arc::new(process.durable.clone())));
        }
        DigestKey::new(process)
    }

    fn on_msg(&self, _id: Id, state: &mut Cow<Self::State>, src: Id, msg: Self::Msg, o: &mut Out<Self>) {
        let input = Input::Receive {
            from: node(src),
            message: *msg.value(),
        };
        if let Some(next) = self.take(state.value(), input, o) {
            *state = Cow::Owned(DigestKey::new(next));
        }
    }

    fn on_timeout(&self, _id: Id, state: &mut Cow<Self::State>, timer: &Self::Timer, o: &mut Out<Self>) {
        if let Some(next) = self.take(state.value(), Input::Timer(*timer.value()), o) {
            *state = Cow::Owned(DigestKey::new(next));
        }
    }
}
