//! Runs on simulated ensembles, each in a moment and on the calling thread.

use super::RunOrder;
use super::execute::{FinishedRun, attempt, record as record_run, released};
use super::folder::Folder;
use super::slot::Slot;
use super::stage::Stage;
use super::store::Store;
use crate::backends::sim::SimBackend;
use crate::judge;
use crate::planning::case::Case;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use zooquake_backend::Backend;
use zooquake_history::Record;

thread_local! {
    /// Stops no run: they take a moment.
    static NEVER: watch::Sender<bool> = watch::channel(false).0;
}

fn order(case: &Case, backend: &SimBackend, out: &Path) -> RunOrder {
    RunOrder {
        case: case.clone(),
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

/// Runs a case on this thread, quietly and in memory, and gives what was recorded: what its folder would give.
///
/// # Errors
/// If the harness fails.
pub fn record(case: &Case) -> Result<Record> {
    record_steps(case).map(|(record, _)| record)
}

/// The same, and how many steps its scheduler has chosen of which another one could have come first.
///
/// # Errors
/// If the harness fails.
pub fn record_steps(case: &Case) -> Result<(Record, u32)> {
    let backend = SimBackend::for_plan(case.plan());
    let (order, store) = (order(case, &backend, Path::new("")), Store::memory(case.plan()));
    let kept = store.clone();
    backend.run(async move { attempt(order, &store, "sim", &Stage::default()).await.map(drop) })?;
    Ok((kept.into_record().context("it is kept in memory")?, backend.steps()))
}

/// Runs a case on this thread, quietly, into a folder of its own under `out`, and judges it.
///
/// # Errors
/// If the harness fails.
pub fn run(case: &Case, out: &Path) -> Result<FinishedRun> {
    let backend = SimBackend::for_plan(case.plan());
    let order = order(case, &backend, out);
    let folder = Folder::create(out, case.plan())?;
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
    use zooquake_history::plan::Plan;

    #[test]
    fn the_seed_decides_the_order_in_which_things_happen_and_nothing_else_does() {
        let line = "lock/protected --on sim --faults none --time 2s --seed 7";
        let case = RunSpec::from_args(line.split(' ')).unwrap().case().unwrap();
        let history = |seed| {
            let case = case.clone().changed(|plan| Plan { seed, ..plan });
            record(&case).unwrap().history.events
        };
        assert!(history(7) == history(7));
        // The clients' work is that of the plan, whose seed decides nothing else for a lock.
        assert!((8..12).any(|seed| history(seed) != history(7)));
    }
}
