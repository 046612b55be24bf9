//! What a simulated ensemble can run: the clients are this program's own recipes, on a model of ZooKeeper.

use crate::backend::sim::SimBackend;
use crate::run::scenes;
use zooquake_checkers::plan::{On, Plan, Workload};

/// The simulated backend of a plan's run, which has it to itself.
pub fn backend(_: &Plan) -> SimBackend {
    zooquake_workloads::stderr::mute();
    SimBackend::default()
}

/// Refuses a plan that is to run on a simulated ensemble and cannot.
///
/// # Errors
/// Why it cannot, and what can be done.
pub fn check(plan: &Plan) -> Result<(), String> {
    match plan.on {
        On::Docker => Ok(()),
        On::Sim => supports(plan).map_err(|why| format!("{why}: give --on docker")),
    }
}

/// Whether a plan can run on a simulated ensemble.
///
/// # Errors
/// Why it cannot.
pub fn supports(plan: &Plan) -> Result<(), String> {
    supports_workload(&plan.workload)?;
    match &plan.cluster.image {
        Some(image) => Err(format!("a simulated ensemble has no ZooKeeper that could be {image:?}")),
        None => Ok(()),
    }
}

/// Whether the clients of a workload can run on a simulated ensemble.
///
/// # Errors
/// Why they cannot.
pub fn supports_workload(workload: &Workload) -> Result<(), String> {
    let name = workload.name();
    if workload.recipe.is_some() {
        return Err(format!(
            "{name} is a program of its own, which a simulated ensemble cannot run"
        ));
    }
    if scenes::of(workload).is_some() {
        return Err(format!(
            "{name} shows ZooKeeper's own elections, which are not simulated"
        ));
    }
    if name == "lock/crate" {
        return Err(format!(
            "{name} is built on the client library itself, which needs a real ensemble"
        ));
    }
    Ok(())
}
