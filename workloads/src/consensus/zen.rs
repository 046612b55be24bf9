//! Elasticsearch's election of a master before version 7.0, Zen discovery: of the master-eligible nodes that it hears
//! of, each votes for the one with the lowest id, and a node with enough votes is master. There are no terms.
//!
//! The classes of `org.elasticsearch.discovery.zen` (6.8) that this follows: `ZenDiscovery` (`findMaster`, `rejoin`),
//! `UnicastZenPing` (three rounds of pings a look), `ElectMasterService` (`hasEnoughCandidates`, `electMaster`),
//! `NodeJoinController` (votes are joins, and may come before their candidate looks), `PublishClusterStateAction` (a
//! new master's state is committed when `minimum_master_nodes` have it, its own among them), `MasterFaultDetection` and
//! `NodesFaultDetection` (checks both ways, three tries).
//!
//! What stands for what there: a node's process is its ephemeral id, which Elasticsearch draws at random at each start
//! and a machine counts on its disk; a master's term is the number of states that its process has published, so that
//! terms of different nodes cannot be compared. Candidates are compared by id alone, as before version 5. Left out: a
//! cluster state's contents and version, and the publication of later states, in which members do not vote.

mod node;
#[cfg(test)]
mod tests;

pub use node::Zen;

use super::protocol::{InputOf, MessageFigure, Node, NodeRole, OutputOf, Protocol};
use std::ops::Range;

/// The most nodes that a cluster has.
pub const MOST_NODES: usize = 8;

/// Sizes and options of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ZenConfig {
    /// Number of master-eligible nodes, at most [`MOST_NODES`].
    pub nodes: u8,
    /// `discovery.zen.minimum_master_nodes`: how many nodes a master needs, itself included. Below the majority it
    /// violates the documentation's "to avoid a split brain, this setting should be set to a quorum of master-eligible
    /// nodes: (master_eligible_nodes / 2) + 1", as 1 does, which was the default.
    pub minimum: u8,
}

impl ZenConfig {
    /// A cluster whose masters need a majority.
    pub fn with_majority(nodes: u8) -> Self {
        Self {
            nodes,
            minimum: nodes / 2 + 1,
        }
    }
}

/// A node and the number of its process: what Elasticsearch's nodes compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ZenProcess {
    /// The node, whose number is its id.
    pub node: Node,
    /// How often it has been started.
    pub process: u16,
}

/// One mastership: a cluster state that a master has published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ZenCluster {
    pub master: ZenProcess,
    /// The number of the master's publication, from 1 in each process.
    pub term: u16,
}

/// What nodes send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZenMessage {
    /// A node that looks for a master asks who is there.
    Ping,
    /// The answer.
    Pong {
        /// The process that answers.
        process: u16,
        /// The master that it has, itself perhaps.
        master: Option<ZenProcess>,
    },
    /// A vote for a candidate, or the wish to be in a master's cluster.
    Join {
        /// The process of the sender.
        process: u16,
        /// The process of the receiver that it is meant for: another one does not count it.
        candidate: u16,
    },
    /// A candidate with enough votes sends its first cluster state to a node that voted for it.
    Publish {
        /// The mastership.
        cluster: ZenCluster,
        /// The process that voted.
        member: u16,
    },
    /// A node has the state, and has voted for no other candidate since.
    Acknowledge {
        /// The mastership.
        cluster: ZenCluster,
        /// The process that voted.
        member: u16,
    },
    /// The state is in force: enough nodes have it, or the sender is master already.
    Commit {
        /// The mastership.
        cluster: ZenCluster,
        /// The process that voted.
        member: u16,
    },
    /// Fault detection, of a member by the master or of the master by a member: whether both are in one cluster.
    Check {
        /// The sender's.
        cluster: ZenCluster,
    },
    /// They are.
    Alive {
        /// The cluster asked for.
        cluster: ZenCluster,
    },
    /// They are not, or a candidate's cluster state came to nothing.
    Leave {
        /// The cluster asked for.
        cluster: ZenCluster,
    },
}

/// What a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZenTimer {
    /// The next round of pings, a third of the ping timeout.
    Ping,
    /// Votes for itself.
    Election,
    /// Acknowledgements of its cluster state.
    Commit,
    /// The cluster state of the candidate that it voted for.
    Join,
    /// The commit of the cluster state that it has acknowledged.
    Accept,
    /// The next checks.
    Check,
}

/// What survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ZenDisk {
    /// How often the node has been started.
    pub process: u16,
}

impl Protocol for Zen {
    type Config = ZenConfig;
    type Message = ZenMessage;
    type Timer = ZenTimer;
    type Disk = ZenDisk;

    fn roles(config: &ZenConfig) -> Vec<NodeRole> {
        vec![
            NodeRole {
                name: "node",
                client: false
            };
            config.nodes.into()
        ]
    }

    fn new_disk(_config: &ZenConfig, _node: Node) -> ZenDisk {
        ZenDisk { process: 0 }
    }

    fn boot(config: &ZenConfig, node: Node, disk: &ZenDisk) -> Self {
        Self::new(*config, node, disk.process.wrapping_add(1))
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>> {
        self.take(input)
    }

    /// Long enough while no message takes more than 300 ms: a round of pings, a commit and three checks are longer than
    /// a question and its answer, and a vote waits for the rest of its candidate's look.
    fn duration(timer: ZenTimer) -> Range<u32> {
        match timer {
            ZenTimer::Ping => 620_000..680_000,
            ZenTimer::Election => 1_200_000..1_500_000,
            ZenTimer::Commit => 650_000..700_000,
            ZenTimer::Join => 2_700_000..3_000_000,
            ZenTimer::Accept => 1_400_000..1_600_000,
            ZenTimer::Check => 210_000..400_000,
        }
    }

    fn figure(message: &ZenMessage) -> MessageFigure {
        // Each start of a node is another process, the first of which goes without saying.
        let process = |of: ZenProcess| match of.process {
            0 | 1 => format!("node{}", of.node + 1),
            later => format!("node{} process {later}", of.node + 1),
        };
        let (kind, detail, cluster) = match *message {
            ZenMessage::Ping => ("ping", String::new(), None),
            ZenMessage::Pong { master, .. } => ("pong", master.map(process).unwrap_or_default(), None),
            ZenMessage::Join { .. } => ("join", String::new(), None),
            ZenMessage::Publish { cluster, .. } => ("publish", process(cluster.master), Some(cluster)),
            ZenMessage::Acknowledge { cluster, .. } => ("ack", process(cluster.master), Some(cluster)),
            ZenMessage::Commit { cluster, .. } => ("commit", process(cluster.master), Some(cluster)),
            ZenMessage::Check { cluster } => ("check", process(cluster.master), Some(cluster)),
            ZenMessage::Alive { cluster } => ("alive", process(cluster.master), Some(cluster)),
            ZenMessage::Leave { cluster } => ("leave", process(cluster.master), Some(cluster)),
        };
        MessageFigure {
            kind,
            detail,
            round: cluster.map(|cluster| cluster.term.into()),
        }
    }
}
