//! What a simulated ensemble can run: the clients are this program's own recipes, on a model of ZooKeeper.

use super::execute::{Finished, Order, attempt, execute_here};
use super::store::Store;
use crate::planning::scenes;
use crate::sim::SimBackend;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use zooquake_checkers::Record;
use zooquake_checkers::plan::{On, Plan, Workload};

/// The simulated backend of a plan's run, which has it to itself.
pub fn backend(plan: &Plan) -> SimBackend {
    zooquake_workloads::stderr::mute();
    SimBackend::seeded(plan.seed).scheduled(&plan.scheduler)
}

thread_local! {
    /// Stops no run: they take a moment.
    static NEVER: watch::Sender<bool> = watch::channel(false).0;
}

fn order(plan: &Plan, backend: &SimBackend, out: &Path) -> Order {
    Order {
        plan: plan.clone(),
        recipe: None,
        backend: Arc::new(backend.clone()),
        out: out.to_path_buf(),
        keep: false,
        quiet: true,
        begun: None,
        interrupt: NEVER.with(watch::Sender::subscribe),
    }
}

/// Runs a plan on this thread, quietly and in memory, and gives what was recorded: what its folder would give.
///
/// # Errors
/// If the harness fails.
pub fn record(plan: &Plan) -> Result<Record> {
    record_steps(plan).map(|(record, _)| record)
}

/// The same, and how many steps its scheduler has chosen of which another one could have come first.
///
/// # Errors
/// If the harness fails.
pub fn record_steps(plan: &Plan) -> Result<(Record, u32)> {
    let backend = backend(plan);
    let (order, store) = (order(plan, &backend, Path::new("")), Store::memory(plan));
    let kept = store.clone();
    backend.run(async move { attempt(order, &store, "sim").await.map(drop) })?;
    let record = kept.into_record().context("it is kept in memory")?;
    Ok((record, backend.steps()))
}

/// Runs a plan on this thread, quietly, into a folder of its own under `out`, and judges it.
///
/// # Errors
/// If the harness fails.
pub fn run(plan: &Plan, out: &Path) -> Result<Finished> {
    let backend = backend(plan);
    let order = order(plan, &backend, out);
    backend.run(execute_here(order))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::spec::RunSpec;

    #[test]
    fn the_seed_decides_the_order_in_which_things_happen_and_nothing_else_does() {
        let line = "lock/protected --on sim --faults none --time 2s --seed 7";
        let plan = RunSpec::from_args(line.split(' ')).unwrap().plan().unwrap();
        let history = |seed| {
            let plan = Plan { seed, ..plan.clone() };
            record(&plan).unwrap().history.events
        };
        assert!(history(7) == history(7));
        // The clients' work is that of the plan, whose seed decides nothing else for a lock.
        assert!((8..12).any(|seed| history(seed) != history(7)));
    }
}
