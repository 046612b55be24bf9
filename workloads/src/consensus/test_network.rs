//! A network in virtual time, in which tests play the nodes of a protocol. Its [`Surroundings`] are the tests' own;
//! those of a [`VirtualNetwork`] are links whose faults are drawn, and which then heal.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::{Deref, DerefMut};

use zooquake_history::operation::consensus::Announcement;

use super::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf, Protocol};

/// Something that happens at a moment.
pub enum NetworkEvent<P: Protocol> {
    Message {
        from: Node,
        to: Node,
        message: P::Message,
    },
    Timer {
        node: Node,
        timer: P::Timer,
        setting: u64,
    },
    Request {
        node: Node,
        value: u32,
    },
    /// The process dies for so long, for good with [`u64::MAX`]: at once, or after so many outputs of its next step.
    Kill {
        node: Node,
        down: u64,
        after: Option<usize>,
    },
    Restart(Node),
    Pause {
        node: Node,
        long: u64,
    },
    Resume(Node),
    /// These nodes are cut from the others until the next cut.
    Cut(NodeSet),
}

struct NetworkProcess<P: Protocol> {
    machine: Option<P>,
    disk: P::Disk,
    timers: Vec<(P::Timer, u64)>,
    paused: bool,
    waiting: VecDeque<NetworkEvent<P>>,
    /// The next step's outputs that happen before the process dies, and how long it is dead.
    dies: Option<(usize, u64)>,
}

/// What surrounds the nodes of a network: the links between them, and who sees what they do.
pub trait Surroundings<P: Protocol>: Sized {
    /// Sends a message on its way, or loses it.
    fn send(network: &mut TestNetwork<P, Self>, from: Node, to: Node, message: P::Message);

    /// A node has made something public.
    fn announced(network: &mut TestNetwork<P, Self>, node: Node, announcement: Announcement);

    /// A process has started.
    fn started(_network: &mut TestNetwork<P, Self>, _node: Node) {}

    /// A process has died.
    fn died(_network: &mut TestNetwork<P, Self>, _node: Node) {}

    /// The application of a node asks for a value.
    fn request(network: &mut TestNetwork<P, Self>, node: Node, value: u32) {
        network.hand_over(node, NetworkEvent::Request { node, value });
    }

    /// Carries out the outputs of a step, but for those before which the process dies.
    fn carry_out(network: &mut TestNetwork<P, Self>, node: Node, outputs: Vec<OutputOf<P>>) {
        let dies = network.process(node).dies.take();
        let dies = dies.filter(|_| network.is_faulty());
        let happening = dies.map_or(usize::MAX, |(after, _)| after);
        for output in outputs.into_iter().take(happening) {
            network.output(node, output);
        }
        if let Some((_, down)) = dies {
            network.die(node, down);
        }
    }
}

/// A run of a protocol.
pub struct TestNetwork<P: Protocol, S> {
    config: P::Config,
    /// The virtual time, in microseconds.
    pub now: u64,
    /// Until when faults happen.
    pub faulty: u64,
    pub random: fastrand::Rng,
    pub cut: NodeSet,
    surroundings: S,
    processes: Vec<NetworkProcess<P>>,
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    events: Vec<Option<NetworkEvent<P>>>,
    settings: u64,
}

impl<P: Protocol, S> Deref for TestNetwork<P, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.surroundings
    }
}

impl<P: Protocol, S> DerefMut for TestNetwork<P, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.surroundings
    }
}

impl<P: Protocol, S: Surroundings<P>> TestNetwork<P, S> {
    /// A run of which no node has started.
    pub fn in_surroundings(surroundings: S, config: P::Config, faulty: u64, seed: u64) -> Self {
        let process = |node| NetworkProcess {
            machine: None,
            disk: P::new_disk(&config, node),
            timers: Vec::new(),
            paused: false,
            waiting: VecDeque::new(),
            dies: None,
        };
        let nodes = Node::try_from(P::roles(&config).len()).expect("at most 32 nodes");
        Self {
            config,
            now: 0,
            faulty,
            random: fastrand::Rng::with_seed(seed),
            cut: NodeSet::EMPTY,
            surroundings,
            processes: (0..nodes).map(process).collect(),
            queue: BinaryHeap::new(),
            events: Vec::new(),
            settings: 0,
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> Node {
        self.processes.len() as Node
    }

    /// The machine of a node that is up.
    pub fn machine(&self, node: Node) -> Option<&P> {
        self.processes[usize::from(node)].machine.as_ref()
    }

    fn process(&mut self, node: Node) -> &mut NetworkProcess<P> {
        &mut self.processes[usize::from(node)]
    }

    pub fn is_faulty(&self) -> bool {
        self.now < self.faulty
    }

    /// Has something happen at a moment, after all that happens then already.
    pub fn schedule(&mut self, at: u64, event: NetworkEvent<P>) {
        self.queue.push(Reverse((at, self.events.len())));
        self.events.push(Some(event));
    }

    /// Kills the process of a node at a moment for so long, for good with [`u64::MAX`].
    pub fn kill(&mut self, at: u64, node: Node, down: u64) {
        let after = None;
        self.schedule(at, NetworkEvent::Kill { node, down, after });
    }

    /// Plays what happens next, unless that is after a moment; whether there was anything.
    pub fn next(&mut self, until: u64) -> bool {
        let Some(&Reverse((at, number))) = self.queue.peek().filter(|next| next.0.0 <= until) else {
            return false;
        };
        self.queue.pop();
        self.now = at;
        let event = self.events[number].take().expect("each happens once");
        self.happen(event);
        true
    }

    /// Plays to a moment.
    pub fn play(&mut self, until: u64) {
        while self.next(until) {}
        self.now = until;
    }

    fn happen(&mut self, event: NetworkEvent<P>) {
        match event {
            NetworkEvent::Message { to: node, .. } | NetworkEvent::Timer { node, .. } => self.hand_over(node, event),
            NetworkEvent::Request { node, value } => S::request(self, node, value),
            NetworkEvent::Kill {
                node,
                down,
                after: None,
            } => self.die(node, down),
            NetworkEvent::Kill {
                node,
                down,
                after: Some(after),
            } => self.process(node).dies = Some((after, down)),
            NetworkEvent::Restart(node) => self.restart(node),
            NetworkEvent::Pause { node, long } => {
                let process = self.process(node);
                if process.machine.is_some() && !process.paused {
                    process.paused = true;
                    self.schedule(self.now + long, NetworkEvent::Resume(node));
                }
            }
            NetworkEvent::Resume(node) => {
                self.process(node).paused = false;
                let waiting = std::mem::take(&mut self.process(node).waiting);
                waiting.into_iter().for_each(|event| self.hand_over(node, event));
            }
            NetworkEvent::Cut(side) => self.cut = side,
        }
    }

    /// Hands an input over to a process that runs, once it is not paused any more.
    pub fn hand_over(&mut self, node: Node, event: NetworkEvent<P>) {
        let process = self.process(node);
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

    /// Starts the process of a node that is dead.
    pub fn restart(&mut self, node: Node) {
        let process = &mut self.processes[usize::from(node)];
        if process.machine.is_none() {
            process.machine = Some(P::boot(&self.config, node, &process.disk));
            self.step(node, Input::Start);
            S::started(self, node);
        }
    }

    /// The process of a node dies for so long, for good with [`u64::MAX`].
    pub fn die(&mut self, node: Node, down: u64) {
        let process = self.process(node);
        if process.machine.take().is_some() {
            process.timers.clear();
            process.waiting.clear();
            (process.paused, process.dies) = (false, None);
            S::died(self, node);
            if down < u64::MAX {
                self.schedule(self.now + down, NetworkEvent::Restart(node));
            }
        }
    }

    fn step(&mut self, node: Node, input: InputOf<P>) {
        let machine = self.process(node).machine.as_mut();
        let outputs = machine.expect("the process runs").step(input);
        S::carry_out(self, node, outputs);
    }

    pub fn output(&mut self, node: Node, output: OutputOf<P>) {
        match output {
            Output::Send { to, message } => {
                assert_ne!(node, to, "no message goes to its own sender");
                S::send(self, node, to, message);
            }
            Output::Announce(announcement) => S::announced(self, node, announcement),
            Output::Write(disk) => self.process(node).disk = disk,
            Output::CancelTimer(timer) => self.process(node).timers.retain(|set| set.0 != timer),
            Output::SetTimer(timer) => {
                self.settings += 1;
                let setting = self.settings;
                let timers = &mut self.process(node).timers;
                timers.retain(|set| set.0 != timer);
                timers.push((timer, setting));
                let at = self.now + u64::from(self.random.u32(P::duration(timer)));
                self.schedule(at, NetworkEvent::Timer { node, timer, setting });
            }
        }
    }
}

/// What became public: when, by which node; `None` if its process died.
pub type PublicEvent = (u64, Node, Option<Announcement>);

/// A run with links whose faults are drawn, and which then heal.
pub type VirtualNetwork<P> = TestNetwork<P, FaultyLinks>;

/// The faults of a run, and what became public in it.
#[derive(Default)]
pub struct FaultyLinks {
    pub record: Vec<PublicEvent>,
    faults: FaultKinds,
    /// By sender and receiver, how long messages take, in microseconds; empty if that is drawn.
    links: Vec<u64>,
}

impl<P: Protocol> VirtualNetwork<P> {
    /// A run whose nodes start within the first 20 ms, with its faults to come, until a moment in microseconds.
    pub fn new(config: P::Config, faults: FaultKinds, faulty: u64, seed: u64) -> Self {
        let surroundings = FaultyLinks {
            faults,
            ..FaultyLinks::default()
        };
        let mut network = Self::in_surroundings(surroundings, config, faulty, seed);
        let nodes = network.nodes();
        if faults.slow_links {
            let mut link = || (1_000.0 * 300_f64.powf(network.random.f64())) as u64;
            let links = (0..usize::from(nodes).pow(2)).map(|_| link()).collect();
            network.links = links;
        }
        for node in 0..nodes {
            let at = network.random.u64(0..20_000);
            network.schedule(at, NetworkEvent::Restart(node));
        }
        network.plan(nodes);
        network
    }

    fn plan(&mut self, nodes: Node) {
        let until = self.faulty;
        if self.faults.kills {
            for _ in 0..self.random.usize(..=8) {
                let (at, node) = (self.random.u64(..until), self.random.u8(..nodes));
                let after = Some(self.random.usize(..6));
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
                let long = self.random.u64(10_000..4_000_000).min(until - at);
                self.schedule(at, NetworkEvent::Pause { node, long });
            }
        }
        if self.faults.partitions {
            for _ in 0..self.random.usize(..=4) {
                let (at, side) = (self.random.u64(..until), NodeSet(self.random.u32(..1 << nodes)));
                let long = self.random.u64(10_000..4_000_000);
                self.cut(at, side);
                self.cut((at + long).min(until), NodeSet::EMPTY);
            }
        }
    }

    /// Has a client asked for an operation at a moment.
    pub fn request(&mut self, at: u64, node: Node, value: u32) {
        self.schedule(at, NetworkEvent::Request { node, value });
    }

    /// Cuts nodes from the others until the next cut.
    pub fn cut(&mut self, at: u64, side: NodeSet) {
        self.schedule(at, NetworkEvent::Cut(side));
    }
}

impl<P: Protocol> Surroundings<P> for FaultyLinks {
    fn send(network: &mut VirtualNetwork<P>, from: Node, to: Node, message: P::Message) {
        let faulty = network.is_faulty();
        let lost = faulty && network.faults.loss && network.random.u8(..10) == 0;
        if lost || network.cut.contains(from) != network.cut.contains(to) {
            return;
        }
        let doubles = faulty && network.faults.duplicates;
        let copies = if doubles && network.random.u8(..10) == 0 { 2 } else { 1 };
        for _ in 0..copies {
            let late = doubles && network.random.u8(..20) == 0;
            let usual = network.random.u64(if late { 10_000..2_000_000 } else { 1_000..10_000 });
            let link = usize::from(from) * usize::from(network.nodes()) + usize::from(to);
            let delay = network.links.get(link).map_or(usual, |&time| time.max(usual));
            network.schedule(network.now + delay, NetworkEvent::Message { from, to, message });
        }
    }

    fn announced(network: &mut VirtualNetwork<P>, node: Node, announcement: Announcement) {
        let event = (network.now, node, Some(announcement));
        network.record.push(event);
    }

    fn died(network: &mut VirtualNetwork<P>, node: Node) {
        let event = (network.now, node, None);
        network.record.push(event);
    }
}

/// Which faults a schedule has, each until a run heals.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultKinds {
    /// Messages are lost.
    pub loss: bool,
    /// Messages arrive twice, or much later.
    pub duplicates: bool,
    /// Nodes are cut from each other.
    pub partitions: bool,
    /// Processes are killed, between two outputs of a step as well, and started again.
    pub kills: bool,
    /// Processes stand still.
    pub pauses: bool,
    /// No fault, and until the end: each link takes its own time, up to 300 ms.
    pub slow_links: bool,
}

impl FaultKinds {
    pub const ALL: Self = Self {
        loss: true,
        duplicates: true,
        partitions: true,
        kills: true,
        pauses: true,
        slow_links: false,
    };
    pub const KILLS: Self = Self {
        loss: false,
        duplicates: false,
        partitions: false,
        kills: true,
        pauses: false,
        slow_links: false,
    };
}

/// Number of schedules that a test plays: in the environment, or this many.
pub fn schedules(usual: u64) -> u64 {
    let given = std::env::var("ZOOQUAKE_SCHEDULES").ok();
    given.map_or(usual, |number| number.parse().expect("a number of schedules"))
}
