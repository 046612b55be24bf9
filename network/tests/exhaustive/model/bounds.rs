//! What of a protocol's states is explored.

use zooquake_history::Node as NodeName;
use zooquake_network::script::node_named;
use zooquake_workloads::consensus::fast_leader_election::{FleMessage, FleServer, FleTimer};
use zooquake_workloads::consensus::fast_paxos::{FastPaxos, FastPaxosMessage, FastPaxosTimer};
use zooquake_workloads::consensus::paxos::{Paxos, PaxosMessage, PaxosTimer};
use zooquake_workloads::consensus::protocol::{Node, NodeSet, Protocol};

/// The bounds of an exploration. Within them every order in which messages arrive and timers run out is explored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelBounds {
    /// The highest round that a message may name, as [`BoundedProtocol::round`] has it.
    pub rounds: u32,
    /// How many timers may run out in all, of those that [`BoundedProtocol::counts`] counts.
    pub timers: u32,
    /// How many times in all a process that died may start again.
    pub restarts: u32,
    /// Nodes that are cut off once they have started and were asked: nothing arrives there, and no timer runs out.
    pub cut_off: NodeSet,
    /// Sender and receiver of links on which nothing arrives.
    pub cut_links: Vec<(Node, Node)>,
    /// What the network does to messages beside delaying them.
    pub network: ModelNetwork,
}

impl ModelBounds {
    /// Bounds on rounds and timers alone.
    pub fn new(rounds: u32, timers: u32) -> Self {
        Self {
            rounds,
            timers,
            restarts: 0,
            cut_off: NodeSet::EMPTY,
            cut_links: Vec::new(),
            network: ModelNetwork::Delaying,
        }
    }

    /// Cuts a node off (`learner1`), or a link (`learner1:leader1`); `None` if a name is not among those of the nodes.
    pub fn cut(&mut self, what: &str, names: &[NodeName]) -> Option<()> {
        let number = |name: &str| node_named(names, &name.into());
        match what.split_once(':') {
            Some((from, to)) => self.cut_links.push((number(from)?, number(to)?)),
            None => {
                self.cut_off.insert(number(what)?);
            }
        }
        Some(())
    }
}

/// A network whose messages overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelNetwork {
    /// A message arrives once, at any time later, or never.
    Delaying,
    /// The same, with a step by which a message is lost. It reaches the same states of nodes, as a message that is
    /// lost is one that never arrives.
    Losing,
    /// A message arrives any number of times. Stateright keeps the message that arrived last in a state, so there are
    /// several times as many states as nodes and messages have.
    Duplicating,
}

/// What the bounds count of a protocol.
pub trait BoundedProtocol:
    Protocol<Config: Send + Sync, Message: Send + Sync, Timer: Send + Sync, Disk: Send + Sync> + Send + Sync + 'static
{
    /// The ballot, round or logical clock that a message names; 0 if it names none that is bounded.
    fn round(message: &Self::Message) -> u32;

    /// Whether a timer that runs out is counted: one that could do so for ever within the rounds, as it has messages
    /// sent again.
    fn counts(timer: Self::Timer) -> bool;
}

impl BoundedProtocol for Paxos {
    fn round(message: &PaxosMessage) -> u32 {
        match *message {
            PaxosMessage::Phase1a { ballot } | PaxosMessage::Phase1b { ballot, .. } => ballot,
            PaxosMessage::Phase2a { proposal: vote } | PaxosMessage::Phase2b { vote } => vote.ballot,
            PaxosMessage::Nack { promised } => promised,
            PaxosMessage::Request { .. } | PaxosMessage::Learned { .. } => 0,
        }
    }

    fn counts(timer: PaxosTimer) -> bool {
        matches!(timer, PaxosTimer::Request | PaxosTimer::Ballot)
    }
}

impl BoundedProtocol for FastPaxos {
    fn round(message: &FastPaxosMessage) -> u32 {
        match *message {
            FastPaxosMessage::Phase1a { round }
            | FastPaxosMessage::Phase1b { round, .. }
            | FastPaxosMessage::Any { round } => round,
            FastPaxosMessage::Phase2a { proposal: vote } | FastPaxosMessage::Phase2b { vote } => vote.ballot,
            FastPaxosMessage::Nack { promised } => promised,
            FastPaxosMessage::Request { .. } | FastPaxosMessage::Learned { .. } => 0,
        }
    }

    fn counts(timer: FastPaxosTimer) -> bool {
        matches!(timer, FastPaxosTimer::Request | FastPaxosTimer::Round)
    }
}

/// Rounds are those of elections: an epoch needs an election.
impl BoundedProtocol for FleServer {
    fn round(message: &FleMessage) -> u32 {
        match message {
            FleMessage::Vote(notification) => notification.round,
            FleMessage::Discovery(_) => 0,
        }
    }

    fn counts(timer: FleTimer) -> bool {
        !matches!(timer, FleTimer::Launch(_) | FleTimer::Finalize)
    }
}
