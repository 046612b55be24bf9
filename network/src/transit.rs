//! How long messages take, which decides the order in which they arrive.

use fastrand::Rng;
use zooquake_history::plan::Scheduler;
use zooquake_workloads::consensus::protocol::Node;

/// The shortest and longest time of a message, in microseconds.
const USUAL: std::ops::Range<u32> = 1_000..10_000;

/// The time of a message on the slowest of all links by priorities, in microseconds: longer than most timers run.
const SLOWEST: u32 = 300_000;

/// The most nodes of a network.
const NODES: usize = 32;

/// The times of messages.
#[derive(Debug, Clone)]
pub enum Transit {
    /// Each message takes the same time, in microseconds.
    Constant(u32),
    /// Each takes a time that is drawn.
    Drawn,
    /// Each link has a priority, and a message takes a time by that of its link (PCT: Burckhardt, Kothari, Musuvathi,
    /// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010, with links for
    /// threads): all messages on a link of higher priority overtake those of lower ones.
    Priorities(Box<LinkPriorities>),
}

/// The priority of each link, and the points at which one falls.
#[derive(Debug, Clone)]
pub struct LinkPriorities {
    nodes: usize,
    /// By sender and receiver, the time of a message.
    times: Vec<u32>,
    /// The numbers of the messages at which the link in use falls to the lowest priority, ascending.
    falls: Vec<u32>,
    sent: u32,
}

impl Transit {
    /// The times of a scheduler for a network of so many nodes.
    pub fn new(scheduler: &Scheduler, nodes: usize, rng: &mut Rng) -> Self {
        let Scheduler::Pct { depth, steps } = scheduler else {
            return Self::Drawn;
        };
        let links = nodes.min(NODES).pow(2);
        let mut ranks: Vec<u32> = (0..links as u32).collect();
        rng.shuffle(&mut ranks);
        // From the fastest to the slowest each rank takes longer by the same factor.
        let ratio = f64::from(SLOWEST / USUAL.start).powf(1.0 / links as f64);
        let time = |rank: u32| (f64::from(USUAL.start) * ratio.powi(rank as i32)) as u32;
        let mut falls: Vec<u32> = (1..*depth).map(|_| rng.u32(0..(*steps).max(1))).collect();
        falls.sort_unstable();
        Self::Priorities(Box::new(LinkPriorities {
            nodes,
            times: ranks.into_iter().map(time).collect(),
            falls,
            sent: 0,
        }))
    }

    /// How long the next message on a link takes, in microseconds.
    pub fn next(&mut self, from: Node, to: Node, rng: &mut Rng) -> u32 {
        match self {
            Self::Constant(time) => *time,
            Self::Drawn => rng.u32(USUAL),
            Self::Priorities(priorities) => priorities.next(from, to),
        }
    }
}

impl LinkPriorities {
    /// Links that keep their priorities, in a network of so many nodes: each with the time that a message takes from a
    /// sender to a receiver, in microseconds.
    pub fn kept(nodes: usize, time: impl Fn(Node, Node) -> u32) -> Self {
        let senders = 0..nodes as Node;
        let links = senders.flat_map(|from| (0..nodes as Node).map(move |to| (from, to)));
        Self {
            nodes,
            times: links.map(|(from, to)| time(from, to)).collect(),
            falls: Vec::new(),
            sent: 0,
        }
    }

    fn next(&mut self, from: Node, to: Node) -> u32 {
        let time = &mut self.times[usize::from(from) * self.nodes + usize::from(to)];
        if self.falls.first() == Some(&self.sent) {
            self.falls.remove(0);
            *time = SLOWEST;
        }
        self.sent += 1;
        *time
    }
}
