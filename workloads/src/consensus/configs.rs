//! The configs of protocols for the sizes of a cluster.

use super::fast_leader_election::{FleBug, FleConfig, MAX_VOTERS, ServerLaunch, ServerStart};
use super::fast_paxos::{CollisionRecovery, FastPaxosBug, FastPaxosConfig};
use super::isr::IsrConfig;
use super::paxos::{PaxosBug, PaxosConfig};
use super::setting::ProtocolSetting;
use fastrand::Rng;
use zooquake_history::plan::ClusterPlan;

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
