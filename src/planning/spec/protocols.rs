//! The spec of a run of a consensus protocol.

use super::RunSpec;
use crate::planning::{names, network};
use std::time::Duration;
use zooquake_history::plan::{ClusterPlan, On, Plan};
use zooquake_network::draft::FAULTS;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// The plan that a spec asks for; without a seed a new one each time.
///
/// # Errors
/// If it gives an option that does not go with networks, or a fault that they do not have: a message for the user.
pub fn drawn(spec: &RunSpec, variant: &ConsensusVariant) -> Result<Plan, String> {
    let name = &spec.workload;
    if let Some(on) = spec.on.filter(|on| *on != On::Network) {
        return Err(format!(
            "{name} is no recipe of ZooKeeper and runs on a simulated network alone: leave --on {} out",
            on.name()
        ));
    }
    let given = [
        ("--timing", spec.timing.is_some()),
        ("--zookeeper", spec.zookeeper.is_some()),
        ("--drawn-for", spec.drawn_for.is_some()),
        ("--hosts", !spec.hosts.is_empty()),
        ("--place", !spec.place.is_empty()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(format!("no ZooKeeper takes part in {name}: leave {option} out"));
    }
    let faults = match &spec.faults {
        Some(list) => names::faults(list)?,
        None => FAULTS.map(String::from).to_vec(),
    };
    network::check_faults(name, &faults)?;
    let cluster = ClusterPlan {
        servers: spec.servers.unwrap_or(variant.servers),
        observers: spec.observers.unwrap_or(0),
        clients: spec.clients.unwrap_or(variant.clients),
        ..ClusterPlan::default()
    };
    let time_ms = spec.time.map_or(variant.time_ms, |time| time.as_millis() as u64);
    let seed = spec.seed.unwrap_or_else(|| u64::from(fastrand::u32(..)));
    network::plan(seed, variant, cluster, (time_ms, &faults))
}

/// The spec that draws a plan of a variant, from what its seed and name give.
pub fn from_plan(plan: &Plan, variant: &ConsensusVariant, named: RunSpec) -> RunSpec {
    let (cluster, none) = (&plan.cluster, plan.faults.is_empty());
    RunSpec {
        on: None,
        faults: Some(if none { "none".into() } else { plan.faults.join(",") }),
        time: (plan.time_ms != variant.time_ms).then(|| Duration::from_millis(plan.time_ms)),
        servers: (cluster.servers != variant.servers).then_some(cluster.servers),
        observers: (cluster.observers != 0).then_some(cluster.observers),
        clients: (cluster.clients != variant.clients).then_some(cluster.clients),
        ..named
    }
}
