//! Runs on simulated ensembles, each in a moment and on the calling thread.

use super::RunOrder;
use super::execute::{FinishedRun, attempt, record as record_run, released};
use super::folder::Folder;
use super::slot::Slot;
use super::stage::Stage;
use super::store::Store;
use crate::backends::sim::SimBackend;
use crate::judge;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use zooquake_backend::Backend;
use zooquake_history::{Record, plan::Plan};

thread_local! {
    /// Stops no run: they take a moment.
    static NEVER: watch::Sender<bool> = watch::channel(false).0;
}

fn order(plan: &Plan, backend: &SimBackend, out: &Path) -> RunOrder {
    RunOrder {
        plan: plan.clone(),
        recipe: None,
        backend: Arc::new(backend.clone()),
        out: out.to_path_buf(),
        keep: false,
        quiet: true,
        slot: Slot::default(),
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
    let backend = SimBackend::for_plan(plan);
    let (order, store) = (order(plan, &backend, Path::new("")), Store::memory(plan));
    let kept = store.clone();
    backend.run(async move { attempt(order, &store, "sim", &Stage::default()).await.map(drop) })?;
    Ok((kept.into_record().context("it is kept in memory")?, backend.steps()))
}

/// Runs a plan on this thread, quietly, into a folder of its own under `out`, and judges it.
///
/// # Errors
/// If the harness fails.
pub fn run(plan: &Plan, out: &Path) -> Result<FinishedRun> {
    let backend = SimBackend::for_plan(plan);
    let order = order(plan, &backend, out);
    let folder = Folder::create(out, plan)?;
    let (interrupt, clock) = (order.interrupt.clone(), backend.clock());
    let recorded = record_run(folder.clone(), order);
    backend.run(async move {
        released(recorded.await?.ended, &interrupt, &*clock).await;
        anyhow::Ok(())
    })?;
    let results = judge::judge(&folder)?;
    Ok(FinishedRun { folder, results })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::spec::RunSpec;

    #[test]
    fn the_seed_decides_the_order_in_which_things_happen_and_nothing_else_does() {
        let line = "lock/protected --on sim --faults none --time 2s --seed 7";
        let plan = RunSpec::from_args(line.split(' ')).unwrap().plan().unwrap();
        let history = |seed| record(&Plan { seed, ..plan.clone() }).unwrap().history.events;
        assert!(history(7) == history(7));
        // The clients' work is that of the plan, whose seed decides nothing else for a lock.
        assert!((8..12).any(|seed| history(seed) != history(7)));
    }
}
