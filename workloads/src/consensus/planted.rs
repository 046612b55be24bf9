//! Planted bugs: protocols that leave out a care which their papers demand.

use super::fast_leader_election::FleBug;
use super::fast_paxos::{CollisionRecovery, FastPaxosBug};
use super::isr::{IsrBug, IsrConfig};
use super::paxos::PaxosBug;
use super::setting::{ProtocolSetting, election, fast_paxos, isr, paxos};
use super::variants::{ConsensusVariant, FAST_LEADER_ELECTION, FAST_PAXOS, IN_SYNC, PAXOS, ZEN};
use super::zen::ZenConfig;
use zooquake_history::plan::ConsensusGoal;

/// A planted bug.
#[derive(Clone, Copy)]
pub struct PlantedProtocol {
    pub id: &'static str,
    /// The protocol with the bug.
    pub variant: ConsensusVariant,
    /// The name of the variant without it.
    pub twin: &'static str,
    /// The anomaly that shows it.
    pub expected: &'static str,
    /// The kinds of fault that bring it about; none where the order of messages does.
    pub faults: &'static [&'static str],
    /// The sentence that it violates.
    pub source: &'static str,
}

/// All of them.
pub const PLANTED: &[PlantedProtocol] = &[
    PlantedProtocol {
        id: "C1",
        variant: ConsensusVariant {
            name: "planted-C1",
            promise: "an acceptor of Paxos forgets its promise: it votes in ballots below it",
            setting: |_, cluster| paxos(cluster, PaxosBug::ForgetsPromise),
            ..PAXOS
        },
        twin: PAXOS.name,
        expected: "disagreement",
        faults: &["partition", "loss"],
        source: "Lamport, Paxos Made Simple, P1a",
    },
    PlantedProtocol {
        id: "C2",
        variant: ConsensusVariant {
            name: "planted-C2",
            promise: "a fast quorum of Fast Paxos is a plain majority",
            servers: 3,
            setting: |_, cluster| fast_paxos(cluster, CollisionRecovery::Coordinated, FastPaxosBug::PlainMajority),
            ..FAST_PAXOS
        },
        twin: FAST_PAXOS.name,
        expected: "disagreement",
        faults: &["kill", "loss"],
        source: "Lamport, Fast Paxos, the Fast Quorum Requirement",
    },
    PlantedProtocol {
        id: "C3",
        variant: ConsensusVariant {
            name: "planted-C3",
            promise: "a vote of FastLeaderElection is compared without its epoch",
            setting: |seed, cluster| election(seed, cluster, false, FleBug::IgnoresEpoch),
            goal: ConsensusGoal::Election,
            ..FAST_LEADER_ELECTION
        },
        twin: FAST_LEADER_ELECTION.name,
        expected: "lesser-vote-won",
        faults: &[],
        source: "FastLeaderElection.totalOrderPredicate",
    },
    PlantedProtocol {
        id: "C4",
        variant: ConsensusVariant {
            name: "planted-C4",
            promise: "Zen's minimum of master-eligible nodes is left at one",
            setting: |_, cluster| {
                ProtocolSetting::Zen(ZenConfig {
                    minimum: 1,
                    ..ZenConfig::with_majority(cluster.servers as u8)
                })
            },
            accepted: &[],
            search_ms: 4_000,
            ..ZEN
        },
        twin: ZEN.name,
        expected: "two-leaders",
        faults: &["partition"],
        source: "Elasticsearch documentation, discovery.zen.minimum_master_nodes",
    },
    PlantedProtocol {
        id: "C5",
        variant: ConsensusVariant {
            name: "planted-C5",
            promise: "a replica leads without a look at whether it is in sync",
            setting: |_, cluster| {
                ProtocolSetting::Isr(IsrConfig {
                    bug: IsrBug::LeaderOutsideIsr,
                    ..isr(cluster)
                })
            },
            ..IN_SYNC
        },
        twin: IN_SYNC.name,
        expected: "lost-message",
        faults: &["kill", "partition"],
        source: "Kafka documentation, Replication",
    },
    PlantedProtocol {
        id: "C6",
        variant: ConsensusVariant {
            name: "planted-C6",
            promise: "a follower fetches from the end of its log on, and does not cut off what its leader's log does not have",
            setting: |_, cluster| {
                ProtocolSetting::Isr(IsrConfig {
                    bug: IsrBug::KeepsTail,
                    ..isr(cluster)
                })
            },
            ..IN_SYNC
        },
        twin: IN_SYNC.name,
        expected: "diverging-replicas",
        faults: &["kill", "partition", "pause"],
        source: "KIP-101",
    },
    PlantedProtocol {
        id: "C7",
        variant: ConsensusVariant {
            name: "planted-C7",
            promise: "a follower stores what it has fetched at the end of its log, whatever offset that has in its leader's",
            setting: |_, cluster| {
                ProtocolSetting::Isr(IsrConfig {
                    bug: IsrBug::IgnoresOffset,
                    ..isr(cluster)
                })
            },
            ..IN_SYNC
        },
        twin: IN_SYNC.name,
        expected: "diverging-replicas",
        faults: &["kill", "partition", "pause"],
        source: "Kafka documentation, Replication",
    },
];

impl PlantedProtocol {
    /// Its name for users: `planted/C1`.
    pub fn name(&self) -> String {
        format!("planted/{}", self.id)
    }
}

/// The planted bug of this id; `None` if there is none.
pub fn find(id: &str) -> Option<&'static PlantedProtocol> {
    PLANTED.iter().find(|planted| planted.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::variants::variant;

    #[test]
    fn each_planted_bug_has_a_twin_of_another_name_with_the_same_sizes() {
        for planted in PLANTED {
            assert_eq!(planted.variant.name, format!("planted-{}", planted.id));
            let twin = variant(planted.twin).expect("its twin");
            assert_eq!(twin.sizes, planted.variant.sizes, "{}", planted.id);
            assert!(variant(planted.variant.name).is_some_and(|found| found.promise == planted.variant.promise));
        }
    }
}
