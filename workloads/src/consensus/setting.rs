//! A protocol with the sizes and options of a run.

use super::fast_leader_election::{FleConfig, FleServer};
use super::fast_paxos::{FastPaxos, FastPaxosConfig};
use super::isr::{IsrConfig, IsrNode};
use super::paxos::{Paxos, PaxosConfig};
use super::protocol::{NodeRole, Protocol};
use super::zen::{Zen, ZenConfig};

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
    pub fn names(&self) -> Vec<String> {
        let roles = self.roles();
        let name = |(node, role): (usize, &NodeRole)| {
            let before = roles[..node].iter().filter(|other| other.name == role.name).count();
            format!("{}{}", role.name, before + 1)
        };
        roles.iter().enumerate().map(name).collect()
    }
}
