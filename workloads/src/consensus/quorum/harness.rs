//! A network for tests of one decision: it loses, doubles, delays and reorders messages and restarts nodes for a while,
//! and then works.

use zooquake_history::operation::consensus::Announcement;

use super::super::protocol::{Node, NodeSet, Protocol};
use super::super::test_network::{NetworkEvent, Surroundings, TestNetwork};

/// How long a message takes without faults where that is the same for all, in microseconds: far less than timers run.
pub const UNIT: u64 = 1_000;

/// When the last restarted node runs again and the network works, in microseconds.
pub const HEALED: u32 = 600_000;

/// When a run that was healed has to have decided.
const PATIENCE: u64 = 20_000_000;

/// The value of the n-th request of a run.
pub fn value(n: u32) -> u32 {
    100 + n
}

/// What goes wrong before [`HEALED`], in percent of messages.
#[derive(Clone, Copy)]
struct MessageFaults {
    loss: u8,
    doubled: u8,
    slow: u8,
}

/// A message that was sent.
pub type SentMessage<P> = (u64, Node, Node, <P as Protocol>::Message);

/// A run.
pub type Harness<P> = TestNetwork<P, DecisionRun<P>>;

/// The faults of a run, and what is seen of it.
pub struct DecisionRun<P: Protocol> {
    faults: Option<MessageFaults>,
    learners: Vec<Node>,
    requests: u32,
    /// The nodes that were asked and have not answered.
    pending: NodeSet,
    /// When which node learned which value, and in which round.
    pub learned: Vec<(u64, Node, u32, u32)>,
    /// The answers to clients.
    pub answers: Vec<u32>,
    /// All that was sent, where there are no faults.
    pub sent: Vec<SentMessage<P>>,
}

impl<P: Protocol> Harness<P> {
    /// A network without faults, in which each message takes [`UNIT`] and which no node has started in.
    pub fn orderly(config: P::Config) -> Self {
        let roles = P::roles(&config);
        let learners = (0..).zip(&roles).filter(|(_, role)| role.name == "learner");
        let surroundings = DecisionRun {
            faults: None,
            learners: learners.map(|(node, _)| node).collect(),
            requests: 0,
            pending: NodeSet::EMPTY,
            learned: Vec::new(),
            answers: Vec::new(),
            sent: Vec::new(),
        };
        Self::in_surroundings(surroundings, config, HEALED.into(), 0)
    }

    /// A network whose faults, orders and requests follow from a seed.
    pub fn chaotic(config: P::Config, seed: u64) -> Self {
        let mut run = Self::orderly(config);
        run.random.seed(seed);
        let rng = &mut run.random;
        let faults = MessageFaults {
            loss: rng.u8(0..40),
            doubled: rng.u8(0..20),
            slow: rng.u8(0..60),
        };
        run.faults = Some(faults);
        for _ in 0..run.random.u8(0..6) {
            let node = run.random.u8(0..run.nodes());
            let from = run.random.u32(1..HEALED - 1);
            let until = run.random.u32(from + 1..HEALED);
            run.kill(from.into(), node, u64::MAX);
            run.schedule(until.into(), NetworkEvent::Restart(node));
        }
        for (node, _) in (0..).zip(P::roles(&config)).filter(|(_, role)| role.client) {
            let (at, value) = (run.random.u32(0..40_000), 0);
            run.schedule(at.into(), NetworkEvent::Request { node, value });
        }
        run
    }

    /// Starts all nodes but these.
    pub fn start_without(&mut self, dead: &[Node]) {
        for node in (0..self.nodes()).filter(|node| !dead.contains(node)) {
            self.restart(node);
        }
    }

    /// A client's request, now.
    pub fn request(&mut self, node: Node) {
        self.requests += 1;
        self.pending.insert(node);
        let value = value(self.requests - 1);
        self.hand_over(node, NetworkEvent::Request { node, value });
    }

    /// Puts a message on its way that arrives at a moment.
    pub fn inject(&mut self, at: u64, from: Node, to: Node, message: P::Message) {
        self.schedule(at, NetworkEvent::Message { from, to, message });
    }

    /// Goes on until all is decided after the faults; `false` if that takes too long, or two values are learned.
    pub fn decides(&mut self) -> bool {
        while self.is_faulty() || !self.is_decided() {
            if self.disagrees() || self.now > PATIENCE {
                return false;
            }
            if !self.next(u64::MAX) {
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
        self.learners.iter().all(has_learned) && self.pending.is_empty()
    }
}

impl<P: Protocol> Surroundings<P> for DecisionRun<P> {
    fn send(network: &mut Harness<P>, from: Node, to: Node, message: P::Message) {
        let Some(faults) = network.faults else {
            let sent = (network.now, from, to, message);
            network.sent.push(sent);
            return network.schedule(network.now + UNIT, NetworkEvent::Message { from, to, message });
        };
        let faulty = network.is_faulty();
        let mut happens = |percent| faulty && network.random.u8(0..100) < percent;
        let (lost, doubled, slow) = (happens(faults.loss), happens(faults.doubled), happens(faults.slow));
        let range = if slow { 1_000..300_000 } else { 1_000..10_000 };
        for _ in 0..u8::from(!lost) + u8::from(doubled) {
            let at = network.now + u64::from(network.random.u32(range.clone()));
            network.schedule(at, NetworkEvent::Message { from, to, message });
        }
    }

    fn announced(network: &mut Harness<P>, node: Node, announcement: Announcement) {
        match announcement {
            Announcement::Learned { value, round } => {
                let learned = (network.now, node, value, round);
                network.learned.push(learned);
            }
            Announcement::Answered { value } => {
                network.pending.remove(node);
                network.answers.push(value);
            }
            other => panic!("{other:?} is none of these protocols"),
        }
    }

    /// A client that was waiting asks anew.
    fn started(network: &mut Harness<P>, node: Node) {
        if network.pending.contains(node) {
            network.request(node);
        }
    }

    fn request(network: &mut Harness<P>, node: Node, _: u32) {
        network.request(node);
    }
}

/// Plays schedules, none of which may end without a decision or with two; names the first that does.
pub fn all_decide<P: Protocol>(config: P::Config, schedules: u64) {
    let mut slowest = 0;
    let began = std::time::Instant::now();
    for seed in 0..schedules {
        let mut run = Harness::<P>::chaotic(config, seed);
        run.start_without(&[]);
        let decides = run.decides();
        assert!(decides, "{config:?}, seed {seed}: {:?} {:?}", run.learned, run.answers);
        slowest = slowest.max(run.now.saturating_sub(HEALED.into()));
    }
    let rate = schedules as f64 / began.elapsed().as_secs_f64();
    println!("{config:?}: {schedules} schedules, {rate:.0} a second, decided at most {slowest} µs after the faults");
}

/// The number of schedules after which a planted bug has let two values be learned, of at most so many.
pub fn convicted_within<P: Protocol>(config: P::Config, schedules: u64) -> Option<u64> {
    let convicts = |&seed: &u64| {
        let mut run = Harness::<P>::chaotic(config, seed);
        run.start_without(&[]);
        run.decides();
        run.disagrees()
    };
    let found = (0..schedules).find(convicts).map(|seed| seed + 1);
    println!("{config:?}: convicted by schedule {found:?}");
    found
}
