//! A protocol with the sizes and options of a run, and those for the sizes of a cluster.

use super::fast_leader_election::{FleBug, FleConfig, FleServer, MAX_VOTERS, ServerLaunch, ServerStart};
use super::fast_paxos::{CollisionRecovery, FastPaxos, FastPaxosBug, FastPaxosConfig};
use super::isr::{IsrConfig, IsrNode};
use super::paxos::{Paxos, PaxosBug, PaxosConfig};
use super::protocol::{NodeRole, Protocol};
use super::zen::{Zen, ZenConfig};
use fastrand::Rng;
use zooquake_history::Node;
use zooquake_history::plan::ClusterPlan;

/// A protocol with its config.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProtocolSetting {
    /// Single-decree Paxos.
    Paxos(PaxosConfig),
    FastPaxos(FastPaxosConfig),
    /// ZooKeeper's election, alone or with Zab's discovery.
    FastLeaderElection(FleConfig),
    /// Elasticsearch's old election.
    Zen(ZenConfig),
    /// A partition of Kafka.
    Isr(IsrConfig),
}

/// Does the same for any protocol.
pub trait ProtocolVisitor {
    /// What comes of it.
    type Outcome;

    /// Does it for one.
    fn visit<P: Protocol>(self, config: &P::Config) -> Self::Outcome;
}

impl ProtocolSetting {
    /// Does something for this protocol with its config.
    pub fn visit<V: ProtocolVisitor>(&self, visitor: V) -> V::Outcome {
        match self {
            Self::Paxos(config) => visitor.visit::<Paxos>(config),
            Self::FastPaxos(config) => visitor.visit::<FastPaxos>(config),
            Self::FastLeaderElection(config) => visitor.visit::<FleServer>(config),
            Self::Zen(config) => visitor.visit::<Zen>(config),
            Self::Isr(config) => visitor.visit::<IsrNode>(config),
        }
    }

    /// The role of each node, by its number.
    pub fn roles(&self) -> Vec<NodeRole> {
        struct Roles;
        impl ProtocolVisitor for Roles {
            type Outcome = Vec<NodeRole>;
            fn visit<P: Protocol>(self, config: &P::Config) -> Vec<NodeRole> {
                P::roles(config)
            }
        }
        self.visit(Roles)
    }

    /// The name of each node, by its number: its role and its number among those of that role, from 1.
    pub fn names(&self) -> Vec<Node> {
        let roles = self.roles();
        let name = |(node, role): (usize, &NodeRole)| {
            let before = roles[..node].iter().filter(|other| other.name == role.name).count();
            Node::of_role(role.name, before + 1)
        };
        roles.iter().enumerate().map(name).collect()
    }
}

/// Paxos with two leaders and two learners.
pub(super) fn paxos(cluster: &ClusterPlan, bug: PaxosBug) -> ProtocolSetting {
    ProtocolSetting::Paxos(PaxosConfig {
        acceptors: cluster.servers as u8,
        leaders: 2,
        learners: 2,
        proposers: cluster.clients as u8,
        bug,
    })
}

/// Fast Paxos with two coordinators and two learners.
pub(super) fn fast_paxos(cluster: &ClusterPlan, recovery: CollisionRecovery, bug: FastPaxosBug) -> ProtocolSetting {
    ProtocolSetting::FastPaxos(FastPaxosConfig {
        acceptors: cluster.servers as u8,
        coordinators: 2,
        learners: 2,
        proposers: cluster.clients as u8,
        recovery,
        bug,
    })
}

/// Servers whose epochs and zxids are drawn, so that votes differ in each of them.
pub(super) fn election(seed: u64, cluster: &ClusterPlan, discovery: bool, bug: FleBug) -> ProtocolSetting {
    let mut rng = Rng::with_seed(seed);
    let start = std::array::from_fn(|_| ServerStart {
        epoch: rng.u32(1..3),
        zxid: rng.u32(7..10),
        launch: ServerLaunch::AtOnce,
    });
    ProtocolSetting::FastLeaderElection(FleConfig {
        servers: cluster.servers as u8,
        observers: cluster.observers as u8,
        start,
        discovery,
        bug,
    })
}

/// What the tutorial's five servers start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextbookCase {
    /// The zxids are 9, 9, 9, 8 and 8; the first two servers have died.
    TwoDead,
    /// The same, and the fourth server has the zxid 10.
    HigherZxid,
    /// Nobody has data, and each server starts a second after the one before it.
    OneByOne,
}

/// The tutorial's five servers.
pub(super) fn textbook(cluster: &ClusterPlan, case: TextbookCase) -> ProtocolSetting {
    let zxids: [u32; MAX_VOTERS] = match case {
        TextbookCase::TwoDead => [9, 9, 9, 8, 8, 9, 9, 9],
        TextbookCase::HigherZxid => [9, 9, 9, 10, 8, 9, 9, 9],
        TextbookCase::OneByOne => [0; MAX_VOTERS],
    };
    let launch = |node: usize| match case {
        TextbookCase::OneByOne => ServerLaunch::After(node.min(4) as u8),
        _ if node < 2 => ServerLaunch::Never,
        _ => ServerLaunch::AtOnce,
    };
    ProtocolSetting::FastLeaderElection(FleConfig {
        servers: 5,
        observers: cluster.observers as u8,
        start: std::array::from_fn(|node| ServerStart {
            epoch: 1,
            zxid: zxids[node],
            launch: launch(node),
        }),
        discovery: true,
        bug: FleBug::None,
    })
}

/// A partition whose leaders are in sync and whose disks are written first.
pub(super) fn isr(cluster: &ClusterPlan) -> IsrConfig {
    IsrConfig::clean(cluster.servers as u8, cluster.clients as u8)
}
