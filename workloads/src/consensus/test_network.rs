//! A network in virtual time, in which tests play the nodes of a protocol.

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
