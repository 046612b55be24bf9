//! A network in virtual time for tests of one protocol: it loses, doubles, delays and reorders messages and restarts
//! nodes for a while, and then works.

use crate::consensus::protocol::{Input, InputOf, Node, Output, OutputOf, Protocol};
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

/// How long a message takes without faults where that is the same for all, in microseconds: far less than timers run.
pub const UNIT: u32 = 1_000;

/// When the last restarted node runs again and the network works, in microseconds.
pub const HEALED: u32 = 600_000;

/// When a run that was healed has to have decided.
const PATIENCE: u32 = 20_000_000;

/// The value of the n-th request of a run.
pub fn value(n: u32) -> u32 {
    100 + n
}

enum HarnessEvent<P: Protocol> {
    Message(Node, Node, P::Message),
    Timer(Node, P::Timer, u32),
    Request(Node),
    Kill(Node),
    Restart(Node),
}

struct Player<P: Protocol> {
    machine: Option<P>,
    disk: P::Disk,
    timers: Vec<(P::Timer, u32)>,
    pending: bool,
}

/// What goes wrong before [`HEALED`], in percent of messages.
#[derive(Clone, Copy)]
struct MessageFaults {
    loss: u8,
    doubled: u8,
    slow: u8,
}

/// A message that was sent.
pub type SentMessage<P> = (u32, Node, Node, <P as Protocol>::Message);

/// A run.
pub struct Harness<P: Protocol> {
    config: P::Config,
    players: Vec<Player<P>>,
    queue: BinaryHeap<Reverse<(u32, u32, usize)>>,
    happenings: Vec<Option<HarnessEvent<P>>>,
    free: Vec<usize>,
    order: u32,
    settings: u32,
    requests: u32,
    faults: Option<MessageFaults>,
    rng: Rng,
    /// The virtual time.
    pub now: u32,
    /// When which node learned which value, and in which round.
    pub learned: Vec<(u32, Node, u32, u32)>,
    /// The answers to clients.
    pub answers: Vec<u32>,
    /// All that was sent, where there are no faults.
    pub sent: Vec<SentMessage<P>>,
    learners: Vec<Node>,
}

impl<P: Protocol> Harness<P> {
    /// A network without faults, in which each message takes [`UNIT`] and which no node has started in.
    pub fn orderly(config: P::Config) -> Self {
        let roles = P::roles(&config);
        let learners = (0..).zip(&roles).filter(|(_, role)| role.name == "learner");
        let player = |node| Player {
            machine: None,
            disk: P::new_disk(&config, node),
            timers: Vec::new(),
            pending: false,
        };
        Self {
            config,
            players: (0..roles.len() as Node).map(player).collect(),
            queue: BinaryHeap::new(),
            happenings: Vec::new(),
            free: Vec::new(),
            order: 0,
            settings: 0,
            requests: 0,
            faults: None,
            rng: Rng::with_seed(0),
            now: 0,
            learned: Vec::new(),
            answers: Vec::new(),
            sent: Vec::new(),
            learners: learners.map(|(node, _)| node).collect(),
        }
    }

    /// A network whose faults, orders and requests follow from a seed.
    pub fn chaotic(config: P::Config, seed: u64) -> Self {
        let mut run = Self::orderly(config);
        run.rng.seed(seed);
        let rng = &mut run.rng;
        run.faults = Some(MessageFaults {
            loss: rng.u8(0..40),
            doubled: rng.u8(0..20),
            slow: rng.u8(0..60),
        });
        let nodes = run.players.len() as Node;
        for _ in 0..run.rng.u8(0..6) {
            let node = run.rng.u8(0..nodes);
            let from = run.rng.u32(1..HEALED - 1);
            let until = run.rng.u32(from + 1..HEALED);
            run.push(from, HarnessEvent::Kill(node));
            run.push(until, HarnessEvent::Restart(node));
        }
        for node in P::roles(&config).iter().zip(0..).filter(|(role, _)| role.client) {
            let at = run.rng.u32(0..40_000);
            run.push(at, HarnessEvent::Request(node.1));
        }
        run
    }

    /// Starts all nodes but these.
    pub fn start_without(&mut self, dead: &[Node]) {
        for node in (0..self.players.len() as Node).filter(|node| !dead.contains(node)) {
            self.restart(node);
        }
    }

    /// A client's request, now.
    pub fn request(&mut self, node: Node) {
        self.requests += 1;
        self.players[usize::from(node)].pending = true;
        self.input(node, Input::Request(value(self.requests - 1)));
    }

    /// Puts a message on its way that arrives at a moment.
    pub fn inject(&mut self, at: u32, from: Node, to: Node, message: P::Message) {
        self.push(at, HarnessEvent::Message(from, to, message));
    }

    /// Goes on up to this moment.
    pub fn run_until(&mut self, until: u32) {
        while self.queue.peek().is_some_and(|next| next.0.0 <= until) {
            self.next();
        }
        self.now = until;
    }

    /// Goes on until all is decided after the faults; `false` if that takes too long, or two values are learned.
    pub fn decides(&mut self) -> bool {
        while !(self.now >= HEALED && self.is_decided()) {
            if self.disagrees() || self.now > PATIENCE {
                return false;
            }
            if !self.next() {
                break;
            }
        }
        self.is_decided() && !self.disagrees()
    }

    /// Whether different values are learned or answered, or one that nobody requested.
    pub fn disagrees(&self) -> bool {
        let learned = self.learned.iter().map(|learned| learned.2);
        let Some(first) = learned.clone().next() else {
            return !self.answers.is_empty();
        };
        let requested = first >= value(0) && first < value(self.requests);
        !requested || learned.chain(self.answers.iter().copied()).any(|value| value != first)
    }

    fn is_decided(&self) -> bool {
        let has_learned = |node: &Node| self.learned.iter().any(|learned| learned.1 == *node);
        self.learners.iter().all(has_learned) && !self.players.iter().any(|player| player.pending)
    }

    fn push(&mut self, at: u32, happening: HarnessEvent<P>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.happenings.push(None);
            self.happenings.len() - 1
        });
        self.happenings[place] = Some(happening);
        self.order += 1;
        self.queue.push(Reverse((at, self.order, place)));
    }

    fn next(&mut self) -> bool {
        let Some(Reverse((at, _, place))) = self.queue.pop() else {
            return false;
        };
        self.now = at;
        self.free.push(place);
        match self.happenings[place].take().expect("what is queued has its place") {
            HarnessEvent::Message(from, to, message) => self.input(to, Input::Receive { from, message }),
            HarnessEvent::Timer(node, timer, setting) => {
                let timers = &mut self.players[usize::from(node)].timers;
                if let Some(at) = timers.iter().position(|&set| set == (timer, setting)) {
                    timers.swap_remove(at);
                    self.input(node, Input::Timer(timer));
                }
            }
            HarnessEvent::Request(node) => self.request(node),
            HarnessEvent::Kill(node) => {
                let player = &mut self.players[usize::from(node)];
                player.machine = None;
                player.timers.clear();
            }
            HarnessEvent::Restart(node) => self.restart(node),
        }
        true
    }

    /// Starts a node that is dead; a client that was waiting asks anew.
    fn restart(&mut self, node: Node) {
        let player = &mut self.players[usize::from(node)];
        if player.machine.is_some() {
            return;
        }
        player.machine = Some(P::boot(&self.config, node, &player.disk));
        let pending = player.pending;
        self.input(node, Input::Start);
        if pending {
            self.request(node);
        }
    }

    fn input(&mut self, node: Node, input: InputOf<P>) {
        if let Some(machine) = &mut self.players[usize::from(node)].machine {
            for output in machine.step(input) {
                self.output(node, output);
            }
        }
    }

    fn output(&mut self, node: Node, output: OutputOf<P>) {
        let player = &mut self.players[usize::from(node)];
        match output {
            Output::Send { to, message } => self.send(node, to, message),
            Output::SetTimer(timer) => {
                self.settings += 1;
                player.timers.retain(|set| set.0 != timer);
                player.timers.push((timer, self.settings));
                let length: Range<u32> = P::duration(timer);
                let at = self.now + self.rng.u32(length);
                self.push(at, HarnessEvent::Timer(node, timer, self.settings));
            }
            Output::CancelTimer(timer) => player.timers.retain(|set| set.0 != timer),
            Output::Write(disk) => player.disk = disk,
            Output::Announce(Announcement::Learned { value, round }) => {
                self.learned.push((self.now, node, value, round));
            }
            Output::Announce(Announcement::Answered { value }) => {
                player.pending = false;
                self.answers.push(value);
            }
            Output::Announce(other) => panic!("{other:?} is none of these protocols"),
        }
    }

    fn send(&mut self, from: Node, to: Node, message: P::Message) {
        assert!(from != to, "a node sends nothing to itself");
        let Some(faults) = self.faults else {
            self.sent.push((self.now, from, to, message));
            return self.push(self.now + UNIT, HarnessEvent::Message(from, to, message));
        };
        let mut happens = |percent| self.now < HEALED && self.rng.u8(0..100) < percent;
        let (lost, doubled, slow) = (happens(faults.loss), happens(faults.doubled), happens(faults.slow));
        let range = if slow { 1_000..300_000 } else { 1_000..10_000 };
        for _ in 0..u8::from(!lost) + u8::from(doubled) {
            let at = self.now + self.rng.u32(range.clone());
            self.push(at, HarnessEvent::Message(from, to, message));
        }
    }
}
