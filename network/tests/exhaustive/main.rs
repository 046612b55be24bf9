//! Exhaustive searches: that the tool counts what it is published to count, that the protocols violate nothing within
//! small bounds, and that their planted bugs are convicted by runs that show the same.

mod exhaustion;
mod model;
mod planted;
mod published_paxos;

use crate::model::bounds::ModelBounds;
use zooquake_history::plan::ClusterPlan;
use zooquake_workloads::consensus::setting::ProtocolSetting;
use zooquake_workloads::consensus::variants::{ConsensusVariant, variant};

/// A variant with three acceptors or servers.
fn of_three(name: &str) -> (&'static ConsensusVariant, ClusterPlan) {
    let variant = variant(name).expect("there is such a variant");
    let cluster = ClusterPlan {
        servers: 3,
        clients: variant.clients,
        ..ClusterPlan::default()
    };
    (variant, cluster)
}

/// The setting of a variant with so many leaders or coordinators, one learner, and two proposers.
fn setting(name: &str, leaders: u8) -> ProtocolSetting {
    let (variant, cluster) = of_three(name);
    let mut setting = variant.setting(0, &cluster);
    match &mut setting {
        ProtocolSetting::Paxos(config) => (config.leaders, config.learners) = (leaders, 1),
        ProtocolSetting::FastPaxos(config) => (config.coordinators, config.learners) = (leaders, 1),
        _ => {}
    }
    setting
}

/// The same bounds with these nodes cut off, and links: `learner1`, `learner1:leader1`.
fn cut(mut bounds: ModelBounds, setting: &ProtocolSetting, cut: &[&str]) -> ModelBounds {
    let names = setting.names();
    for name in cut {
        bounds.cut(name, &names).expect("there is such a node");
    }
    bounds
}
