//! A network in virtual time for tests: it plays a protocol under random faults, and then heals.

use super::super::protocol::{Input, Node, NodeSet, Output, OutputOf, Protocol};
use super::fault_kinds::FaultKinds;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use zooquake_history::operation::consensus::Announcement;

enum NetworkEvent<P: Protocol> {
    Message { from: Node, to: Node, message: P::Message },
    Timer { node: Node, timer: P::Timer, setting: u64 },
    Request { node: Node, value: u32 },
    Kill { node: Node, down: u64, after: usize },
    Restart { node: Node },
    Pause { node: Node, long: u64 },
    Resume { node: Node },
    Cut { side: NodeSet },
}

struct VirtualProcess<P: Protocol> {
    machine: Option<P>,
    disk: P::Disk,
    timers: Vec<(P::Timer, u64)>,
    paused: bool,
    waiting: VecDeque<NetworkEvent<P>>,
    /// The next step's outputs that happen before the process dies, and how long it is dead.
    dies: Option<(usize, u64)>,
}

/// What became public: when, by which node; `None` if its process died.
pub type PublicEvent = (u64, Node, Option<Announcement>);

/// A run.
pub struct VirtualNetwork<P: Protocol> {
    pub config: P::Config,
    pub now: u64,
    pub record: Vec<PublicEvent>,
    pub random: fastrand::Rng,
    pub messages: u64,
    faults: FaultKinds,
    /// Until when faults happen, in microseconds.
    faulty: u64,
    processes: Vec<VirtualProcess<P>>,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: Vec<Option<NetworkEvent<P>>>,
    cut: NodeSet,
    /// By sender and receiver, how long messages take, in microseconds; empty if that is drawn.
    links: Vec<u64>,
    settings: u64,
}

impl<P: Protocol> VirtualNetwork<P> {
    /// A run whose nodes start within the first 20 ms, with its faults to come, until a moment in microseconds.
    pub fn new(config: P::Config, faults: FaultKinds, faulty: u64, seed: u64) -> Self {
        let nodes = Node::try_from(P::roles(&config).len()).expect("at most 32 nodes");
        let process = |node| VirtualProcess {
            machine: None,
            disk: P::new_disk(&config, node),
            timers: Vec::new(),
            paused: false,
            waiting: VecDeque::new(),
            dies: None,
        };
        let mut network = Self {
            config,
            now: 0,
            record: Vec::new(),
            random: fastrand::Rng::with_seed(seed),
            messages: 0,
            faults,
            faulty,
            processes: (0..nodes).map(process).collect(),
            queue: BinaryHeap::new(),
            events: Vec::new(),
            cut: NodeSet::EMPTY,
            links: Vec::new(),
            settings: 0,
        };
        if faults.slow_links {
            let mut link = || (1_000.0 * 300_f64.powf(network.random.f64())) as u64;
            network.links = (0..usize::from(nodes).pow(2)).map(|_| link()).collect();
        }
        for node in 0..nodes {
            let at = network.random.u64(0..20_000);
            network.schedule(at, NetworkEvent::Restart { node });
        }
        network.plan(nodes);
        network
    }

    fn plan(&mut self, nodes: Node) {
        let until = self.faulty;
        if self.faults.kills {
            for _ in 0..self.random.usize(..=8) {
                let (at, node) = (self.random.u64(..until), self.random.u8(..nodes));
                let after = self.random.usize(..6);
                let down = if self.random.bool() {
                    1_000..50_000
                } else {
                    50_000..1_500_000
                };
                let down = self.random.u64(down).min(until - at);
                self.schedule(at, NetworkEvent::Kill { node, down, after });
            }
        }
        if self.faults.pauses {
            for _ in 0..self.random.usize(..=4) {
                let (at, node) = (self.random.u64(..until), self.random.u8(..nodes));
                let long = self.random.u64(10_000..4_000_000);
                self.schedule(at, NetworkEvent::Pause { node, long });
            }
        }
        if self.faults.partitions {
            for _ in 0..self.random.usize(..=4) {
                let (at, side) = (self.random.u64(..until), NodeSet(self.random.u32(..1 << nodes)));
                let long = self.random.u64(10_000..4_000_000);
                self.schedule(at, NetworkEvent::Cut { side });
                self.schedule((at + long).min(until), NetworkEvent::Cut { side: NodeSet::EMPTY });
            }
        }
    }

    fn schedule(&mut self, at: u64, event: NetworkEvent<P>) {
        self.queue.push(Reverse((at, self.events.len() as u64)));
        self.events.push(Some(event));
    }

    /// Has a client asked for an operation at a moment.
    pub fn request(&mut self, at: u64, node: Node, value: u32) {
        self.schedule(at, NetworkEvent::Request { node, value });
    }

    /// Kills a node's process for so long, for good with [`u64::MAX`].
    pub fn kill(&mut self, at: u64, node: Node, down: u64) {
        self.schedule(
            at,
            NetworkEvent::Kill {
                node,
                down,
                after: usize::MAX,
            },
        );
    }

    /// Cuts nodes from the others until the next cut.
    pub fn cut(&mut self, at: u64, side: NodeSet) {
        self.schedule(at, NetworkEvent::Cut { side });
    }

    /// The machine of a node that is up.
    pub fn machine(&self, node: Node) -> Option<&P> {
        self.processes[usize::from(node)].machine.as_ref()
    }

    /// Plays to a moment.
    pub fn play(&mut self, until: u64) {
        while let Some(&Reverse((at, number))) = self.queue.peek() {
            if at > until {
                break;
            }
            self.queue.pop();
            self.now = at;
            let event = self.events[usize::try_from(number).expect("an index")]
                .take()
                .expect("each happens once");
            self.happen(event);
        }
        self.now = until;
    }

    fn happen(&mut self, event: NetworkEvent<P>) {
        match event {
            NetworkEvent::Message { to, .. } => self.hand_over(to, event),
            NetworkEvent::Timer { node, .. } | NetworkEvent::Request { node, .. } => self.hand_over(node, event),
            NetworkEvent::Kill {
                node,
                down,
                after: usize::MAX,
            } => self.die(node, down),
            NetworkEvent::Kill { node, down, after } => self.processes[usize::from(node)].dies = Some((after, down)),
            NetworkEvent::Restart { node } => {
                let process = &mut self.processes[usize::from(node)];
                if process.machine.is_none() {
                    process.machine = Some(P::boot(&self.config, node, &process.disk));
                    self.step(node, Input::Start);
                }
            }
            NetworkEvent::Pause { node, long } => {
                let process = &mut self.processes[usize::from(node)];
                if process.machine.is_some() && !process.paused {
                    process.paused = true;
                    self.schedule((self.now + long).min(self.faulty), NetworkEvent::Resume { node });
                }
            }
            NetworkEvent::Resume { node } => {
                self.processes[usize::from(node)].paused = false;
                let waiting = std::mem::take(&mut self.processes[usize::from(node)].waiting);
                waiting.into_iter().for_each(|event| self.hand_over(node, event));
            }
            NetworkEvent::Cut { side } => self.cut = side,
        }
    }

    fn hand_over(&mut self, node: Node, event: NetworkEvent<P>) {
        let process = &mut self.processes[usize::from(node)];
        if process.machine.is_none() {
            return;
        }
        if process.paused {
            process.waiting.push_back(event);
            return;
        }
        match event {
            NetworkEvent::Message { from, message, .. } => self.step(node, Input::Receive { from, message }),
            NetworkEvent::Request { value, .. } => self.step(node, Input::Request(value)),
            NetworkEvent::Timer { timer, setting, .. } => {
                if let Some(place) = process.timers.iter().position(|&set| set == (timer, setting)) {
                    process.timers.swap_remove(place);
                    self.step(node, Input::Timer(timer));
                }
            }
            _ => unreachable!("inputs alone are handed over"),
        }
    }

    fn die(&mut self, node: Node, down: u64) {
        let process = &mut self.processes[usize::from(node)];
        if process.machine.take().is_some() {
            process.timers.clear();
            process.waiting.clear();
            process.paused = false;
            self.record.push((self.now, node, None));
            if down < u64::MAX {
                self.schedule(self.now + down, NetworkEvent::Restart { node });
            }
        }
        self.processes[usize::from(node)].dies = None;
    }

    fn step(&mut self, node: Node, input: Input<P::Message, P::Timer>) {
        let process = &mut self.processes[usize::from(node)];
        let dies = process.dies.take().filter(|_| self.now < self.faulty);
        let outputs = process.machine.as_mut().expect("the process runs").step(input);
        let happening = dies.map_or(usize::MAX, |(after, _)| after);
        for output in outputs.into_iter().take(happening) {
            self.carry_out(node, output);
        }
        if let Some((_, down)) = dies {
            self.die(node, down);
        }
    }

    fn carry_out(&mut self, node: Node, output: OutputOf<P>) {
        match output {
            Output::Send { to, message } => self.send(node, to, message),
            Output::Announce(announcement) => self.record.push((self.now, node, Some(announcement))),
            Output::Write(disk) => self.processes[usize::from(node)].disk = disk,
            Output::CancelTimer(timer) => self.processes[usize::from(node)].timers.retain(|set| set.0 != timer),
            Output::SetTimer(timer) => {
                self.settings += 1;
                let setting = self.settings;
                let timers = &mut self.processes[usize::from(node)].timers;
                timers.retain(|set| set.0 != timer);
                timers.push((timer, setting));
                let at = self.now + u64::from(self.random.u32(P::duration(timer)));
                self.schedule(at, NetworkEvent::Timer { node, timer, setting });
            }
        }
    }

    fn send(&mut self, from: Node, to: Node, message: P::Message) {
        assert_ne!(from, to, "no message goes to its own sender");
        self.messages += 1;
        let faulty = self.now < self.faulty;
        let lost = faulty && self.faults.loss && self.random.u8(..10) == 0;
        if lost || self.cut.contains(from) != self.cut.contains(to) {
            return;
        }
        let copies = if faulty && self.faults.duplicates && self.random.u8(..10) == 0 {
            2
        } else {
            1
        };
        for _ in 0..copies {
            let late = faulty && self.faults.duplicates && self.random.u8(..20) == 0;
            let usual = self.random.u64(if late { 10_000..2_000_000 } else { 1_000..10_000 });
            let link = usize::from(from) * self.processes.len() + usize::from(to);
            let delay = self.links.get(link).map_or(usual, |&time| time.max(usual));
            self.schedule(self.now + delay, NetworkEvent::Message { from, to, message });
        }
    }
}
