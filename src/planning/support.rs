//! Whether a backend can run a plan: what the plan requires is held against the backend's capabilities.

use super::{network, scenes};
use crate::backends::{self, BackendKind};
use zooquake_history::plan::{On, Plan, Workload};
use zooquake_workloads::recipes;

/// Refuses a plan that the backend it names cannot run.
///
/// # Errors
/// Why it cannot, and what can be done.
pub fn check(plan: &Plan) -> Result<(), String> {
    plan_on(backends::kind(plan.on), plan).map_err(|why| format!("{why}: give --on {}", On::default().name()))
}

/// Whether a backend can run a plan.
///
/// # Errors
/// Why it cannot.
pub fn plan_on(backend: &BackendKind, plan: &Plan) -> Result<(), String> {
    workload_on(backend, &plan.workload)?;
    if !plan.cluster.hosts.is_empty() && !backend.capabilities.containers {
        return Err(format!("{} stands on no hosts", backend.ensemble()));
    }
    match &plan.cluster.image {
        Some(image) if !backend.capabilities.images => Err(format!(
            "{} has no ZooKeeper that could be {image:?}",
            backend.ensemble()
        )),
        _ => Ok(()),
    }
}

/// Whether a backend can run the clients of a workload, or its scenes.
///
/// # Errors
/// Why it cannot.
pub fn workload_on(backend: &BackendKind, workload: &Workload) -> Result<(), String> {
    let (name, capabilities) = (workload.name(), backend.capabilities);
    let protocol = network::variant(workload).is_some();
    if protocol == capabilities.zookeeper {
        return Err(match protocol {
            true => format!("{name} runs on a simulated network alone"),
            false => format!("{name} needs ZooKeeper, which is not on {}", backend.ensemble()),
        });
    }
    if workload.recipe.is_some() && !capabilities.containers {
        return Err(format!(
            "{name} is a program of its own, which {} cannot run",
            backend.ensemble()
        ));
    }
    if scenes::variant(workload).is_some() && !capabilities.election_logs {
        return Err(format!(
            "{name} shows ZooKeeper's own elections, which are not {}",
            backend.adjective
        ));
    }
    let variant = recipes::variant(&workload.family, &workload.variant);
    if variant.is_some_and(|variant| variant.client_library) && !capabilities.connections {
        return Err(format!(
            "{name} is built on the client library itself, which needs {}",
            backends::kind(On::default()).ensemble()
        ));
    }
    Ok(())
}
