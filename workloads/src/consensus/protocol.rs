//! What a consensus protocol is made of: one state machine a node, which takes one input after another and answers each
//! with its outputs, in order. A machine has no clock, no network, no randomness and no memory of an earlier process
//! of its node but what that wrote to its disk.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

/// The number of a node among all nodes of a run, from 0, in the order of [`Protocol::roles`]. Its name in plans and
/// histories is a [`zooquake_history::Node`].
pub type Node = u8;

/// A set of nodes: bit `n` stands for node `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeSet(pub u32);

impl NodeSet {
    /// No node.
    pub const EMPTY: Self = Self(0);

    /// The nodes of a range.
    pub fn range(nodes: Range<Node>) -> Self {
        nodes.collect()
    }

    /// Whether a node is among them.
    pub fn contains(self, node: Node) -> bool {
        self.0 >> node & 1 == 1
    }

    /// Adds a node; whether it was not there.
    pub fn insert(&mut self, node: Node) -> bool {
        let new = !self.contains(node);
        self.0 |= 1 << node;
        new
    }

    /// Removes a node.
    pub fn remove(&mut self, node: Node) {
        self.0 &= !(1 << node);
    }

    /// Number of nodes.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it has no node.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The nodes of both sets.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The nodes in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Node> {
        (0..32).filter(move |&node| self.contains(node))
    }
}

impl FromIterator<Node> for NodeSet {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        let mut set = Self::EMPTY;
        for node in nodes {
            set.insert(node);
        }
        set
    }
}

/// What happens to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input<M, T> {
    /// Its process has started, for the first time or after a crash: always the first input.
    Start,
    /// A message has arrived.
    Receive {
        /// The node that sent it.
        from: Node,
        message: M,
    },
    /// A timer that was set has run out.
    Timer(T),
    /// Of a client's node: the application asks for an operation on this value, which no other request of the run has.
    Request(u32),
}

/// What a node does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output<M, T, D> {
    /// It sends a message, which may be lost, late, or arrive twice. To itself it sends none.
    Send {
        /// The node that it is for.
        to: Node,
        message: M,
    },
    /// It sets a timer of this kind; one of the same kind that has not run out is replaced.
    SetTimer(T),
    /// It cancels the timer of this kind, if one is set.
    CancelTimer(T),
    /// It writes its disk, whole; what follows happens when that is done. A process that crashes before has not
    /// written.
    Write(D),
    /// It makes public what it does or has learned: what checkers judge.
    Announce(Announcement),
}

/// The part that a node plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeRole {
    /// The role in one word, such as `acceptor`; the n-th node of a role is named by it and n: `acceptor2`.
    pub name: &'static str,
    /// Whether the application asks it for operations.
    pub client: bool,
}

/// How a message is drawn in a diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageFigure {
    /// Its kind as the papers name it, such as `1a`.
    pub kind: &'static str,
    /// Its contents in a few characters, such as `ballot 3`; empty if the kind is all.
    pub detail: String,
    /// The round, ballot, term or epoch that it belongs to; `None` if it belongs to none.
    pub round: Option<u32>,
}

/// What [`Protocol::step`] takes.
pub type InputOf<P> = Input<<P as Protocol>::Message, <P as Protocol>::Timer>;

/// What [`Protocol::step`] gives.
pub type OutputOf<P> = Output<<P as Protocol>::Message, <P as Protocol>::Timer, <P as Protocol>::Disk>;

/// A protocol, as the state machine of each of its nodes.
pub trait Protocol: Clone + Debug + PartialEq + Eq + Hash {
    /// Sizes and options of a run, the same for all of its nodes.
    type Config: Copy + Debug + PartialEq;
    /// What nodes send.
    type Message: Copy + Debug + PartialEq + Eq + Hash;
    /// The kinds of timer.
    type Timer: Copy + Debug + PartialEq + Eq + Hash;
    /// What survives a crash.
    type Disk: Clone + Debug + PartialEq + Eq + Hash;

    /// The role of each node, by its number; at most 32.
    fn roles(config: &Self::Config) -> Vec<NodeRole>;

    /// The disk of a node that never ran.
    fn new_disk(config: &Self::Config, node: Node) -> Self::Disk;

    /// The machine of a node that starts with this disk. It does nothing before [`Input::Start`].
    fn boot(config: &Self::Config, node: Node, disk: &Self::Disk) -> Self;

    /// Takes an input; the outputs in order.
    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>>;

    /// Whether the node takes part: one that was never launched, or not yet, receives nothing.
    fn takes_part(&self) -> bool {
        true
    }

    /// How long a timer of this kind runs, in microseconds: the shortest and the longest. Each time a length between
    /// them is drawn.
    fn duration(timer: Self::Timer) -> Range<u32>;

    /// How a message is drawn.
    fn figure(message: &Self::Message) -> MessageFigure;
}
