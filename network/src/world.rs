//! A network of nodes in virtual time. The same seed, disturbances and requests give the same run.

use crate::disturbance::{DisturbanceKind, LinkState};
use crate::host::VirtualHost;
use crate::observer::{Observer, Transmission};
use crate::queue::{EventQueue, QueuedEvent};
use crate::scenario::{Pace, Scenario, planned};
use crate::script::{HeldMessages, NodeStep};
use fastrand::Rng;
use std::ops::ControlFlow;
use zooquake_workloads::consensus::protocol::{Input, InputOf, Node, Output, OutputOf, Protocol};

/// A network that runs.
pub struct World<'a, P: Protocol, O> {
    scenario: Scenario<'a, P>,
    hosts: Vec<VirtualHost<P>>,
    queue: EventQueue<P::Message>,
    links: LinkState,
    pace: Pace<'a>,
    /// With a script, the messages that have not arrived.
    held: HeldMessages<P::Message>,
    rng: Rng,
    /// The moment up to which the run came, in microseconds.
    pub now: u32,
    messages: u32,
    in_flight: u32,
    settings: u32,
    /// By disturbance, how many messages, timers and requests it has hit.
    hits: Vec<u32>,
    /// Gets what happens.
    pub observer: O,
}

impl<'a, P: Protocol, O: Observer<P>> World<'a, P, O> {
    /// A network before its first moment, whose random choices are drawn from `rng`.
    pub fn new(scenario: Scenario<'a, P>, pace: Pace<'a>, rng: Rng, observer: O) -> Self {
        let nodes = P::roles(scenario.config).len() as Node;
        let host = |node| VirtualHost::new(P::new_disk(scenario.config, node));
        Self {
            hosts: (0..nodes).map(host).collect(),
            queue: planned(&scenario, &pace),
            links: LinkState::default(),
            pace,
            held: HeldMessages::default(),
            rng,
            now: 0,
            messages: 0,
            in_flight: 0,
            settings: 0,
            hits: vec![0; scenario.disturbances.len()],
            scenario,
            observer,
        }
    }

    /// Runs until the observer ends it, nothing is left to happen, or the scenario's time is over.
    pub fn run(&mut self) {
        for node in 0..self.hosts.len() as Node {
            if self.start(node).is_break() {
                return;
            }
        }
        while let Some((at, due)) = self.queue.pop() {
            if at > self.scenario.until {
                return;
            }
            self.now = at;
            if self.happens(due).is_break() || self.observer.is_over(at, self.in_flight) {
                return;
            }
        }
    }

    fn happens(&mut self, due: QueuedEvent<P::Message>) -> ControlFlow<()> {
        match due {
            QueuedEvent::Message {
                number,
                from,
                to,
                message,
            } => {
                self.in_flight -= 1;
                self.arrive((number, from, to), message)
            }
            QueuedEvent::Timer { node, setting } => match self.host(node).run_out(setting) {
                Some(timer) => self.input(node, Input::Timer(timer), None),
                None => ControlFlow::Continue(()),
            },
            QueuedEvent::Request { node, value } => self.request(node, value),
            QueuedEvent::Begin(id) => {
                self.begin(id);
                ControlFlow::Continue(())
            }
            QueuedEvent::End(id) => self.end(id),
            QueuedEvent::Step(step) => self.step(step),
        }
    }

    fn step(&mut self, step: usize) -> ControlFlow<()> {
        let Pace::Script(script) = &self.pace else {
            return ControlFlow::Continue(());
        };
        match &script[step].1 {
            NodeStep::Deliver { from, to, nth } => {
                let link = (*from, *to);
                self.deliver(link, *nth)
            }
            NodeStep::Timer { node, timer } => {
                let timers = &mut self.hosts[usize::from(*node)].timers;
                let set = timers.iter().position(|(set, _)| format!("{set:?}") == *timer);
                let (node, set) = (*node, set.map(|at| timers.swap_remove(at).0));
                set.map_or(ControlFlow::Continue(()), |timer| {
                    self.input(node, Input::Timer(timer), None)
                })
            }
            NodeStep::Request { node, value } => self.request(*node, *value),
        }
    }

    /// Delivers the n-th message of a link, or a copy of it.
    fn deliver(&mut self, (from, to): (Node, Node), nth: u32) -> ControlFlow<()> {
        let Some(delivery) = self.held.deliver((from, to), nth) else {
            return ControlFlow::Continue(());
        };
        let mut number = delivery.number;
        if delivery.again {
            number = self.messages;
            self.messages += 1;
            let copy = Transmission {
                number,
                copy_of: Some(delivery.number),
                from,
                to,
                message: delivery.message,
            };
            self.observer.sent(self.now, &copy, true);
        }
        self.arrive((number, from, to), delivery.message)
    }

    fn host(&mut self, node: Node) -> &mut VirtualHost<P> {
        &mut self.hosts[usize::from(node)]
    }

    fn arrive(&mut self, (number, from, to): (u32, Node, Node), message: P::Message) -> ControlFlow<()> {
        let cut = self.links.cut_by(from, to);
        let host = &self.hosts[usize::from(to)];
        let taken = cut.is_none() && host.machine.as_ref().is_some_and(P::takes_part);
        if let Some(by) = cut.or(host.killed_by) {
            self.hits[by] += 1;
        }
        self.observer.arrived(self.now, number, taken);
        match taken {
            true => self.input(to, Input::Receive { from, message }, Some(number)),
            false => ControlFlow::Continue(()),
        }
    }

    /// Asks a node for an operation; nobody asks a process that is dead.
    fn request(&mut self, node: Node, value: u32) -> ControlFlow<()> {
        if let Some(by) = self.host(node).killed_by {
            self.hits[by] += 1;
            return ControlFlow::Continue(());
        }
        self.observer.requested(self.now, node, value);
        self.input(node, Input::Request(value), None)
    }

    fn begin(&mut self, id: usize) {
        let kind = self.scenario.disturbances[id].kind;
        self.links.begin(id, kind);
        self.observer.began(self.now, id);
        match kind {
            DisturbanceKind::Kill(node) if self.host(node).kill(id) => {
                self.hits[id] += 1;
                self.observer.died(self.now, node);
            }
            DisturbanceKind::Pause(node) => self.host(node).pause(id),
            _ => {}
        }
    }

    fn end(&mut self, id: usize) -> ControlFlow<()> {
        self.links.end(id);
        self.observer.healed(self.now, id, self.hits[id]);
        let kind = self.scenario.disturbances[id].kind;
        match kind {
            DisturbanceKind::Kill(node) if self.host(node).killed_by == Some(id) => self.start(node),
            DisturbanceKind::Pause(node) => {
                let mut missed = self.host(node).thaw(id).into_iter();
                missed.try_for_each(|(input, message)| self.input(node, input, message))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn start(&mut self, node: Node) -> ControlFlow<()> {
        let config = self.scenario.config;
        let host = self.host(node);
        host.killed_by = None;
        host.machine = Some(P::boot(config, node, &host.disk));
        self.input(node, Input::Start, None)
    }

    /// A node takes an input, of a message with its number: at once, when it is thawed, or never where its process is
    /// dead.
    fn input(&mut self, node: Node, input: InputOf<P>, message: Option<u32>) -> ControlFlow<()> {
        let host = &mut self.hosts[usize::from(node)];
        if let Some(missed) = &mut host.missed {
            missed.push((input, message));
            if let Some(by) = host.paused_by {
                self.hits[by] += 1;
            }
            return ControlFlow::Continue(());
        }
        let Some(machine) = &mut host.machine else {
            return ControlFlow::Continue(());
        };
        self.observer.takes(self.now, node, &input, message);
        let outputs = machine.step(input);
        outputs.into_iter().try_for_each(|output| self.output(node, output))
    }

    fn output(&mut self, node: Node, output: OutputOf<P>) -> ControlFlow<()> {
        match output {
            Output::Send { to, message } => self.send(node, to, message),
            Output::SetTimer(timer) => self.set(node, timer),
            Output::CancelTimer(timer) => self.host(node).timers.retain(|set| set.0 != timer),
            Output::Write(disk) => self.host(node).disk = disk,
            Output::Announce(announcement) => return self.observer.announced(self.now, node, announcement),
        }
        ControlFlow::Continue(())
    }

    fn set(&mut self, node: Node, timer: P::Timer) {
        self.settings += 1;
        let setting = self.settings;
        let timers = &mut self.host(node).timers;
        timers.retain(|set| set.0 != timer);
        timers.push((timer, setting));
        if let Pace::Drawn(_) = self.pace {
            let length = self.rng.u32(P::duration(timer));
            self.queue.push(self.now + length, QueuedEvent::Timer { node, setting });
        }
    }

    fn send(&mut self, from: Node, to: Node, message: P::Message) {
        let first = self.messages;
        self.transmit((from, to), message, None);
        if let Some((by, percent)) = self.links.duplicate()
            && self.rng.u8(0..100) < percent
        {
            self.hits[by] += 1;
            self.transmit((from, to), message, Some(first));
        }
    }

    fn transmit(&mut self, (from, to): (Node, Node), message: P::Message, copy_of: Option<u32>) {
        let number = self.messages;
        self.messages += 1;
        let cut = self.links.cut_by(from, to);
        let loss = self.links.loss().filter(|_| cut.is_none());
        let lost_by = cut.or_else(|| {
            loss.filter(|&(_, percent)| self.rng.u8(0..100) < percent)
                .map(|(by, _)| by)
        });
        let transmission = Transmission {
            number,
            copy_of,
            from,
            to,
            message,
        };
        self.observer.sent(self.now, &transmission, lost_by.is_none());
        match (lost_by, &mut self.pace) {
            (Some(by), _) => self.hits[by] += 1,
            (None, Pace::Script(_)) => self.held.hold((from, to), number, message),
            (None, Pace::Drawn(transit)) => {
                let at = self.now + transit.next(from, to, &mut self.rng);
                self.in_flight += 1;
                let due = QueuedEvent::Message {
                    number,
                    from,
                    to,
                    message,
                };
                self.queue.push(at, due);
            }
        }
    }
}
