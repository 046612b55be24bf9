//! What a search finds, as runs: the schedule, and the smallest script that shows the same.

use super::schedules::{SchedulePlayer, ScheduleSpace};
use super::search::NetworkSearch;
use crate::explore::failure::Signature;
use crate::explore::failure_runs::{ExploredFailure, SHRINKING, ShrunkRun};
use crate::run::simulation;
use crate::shrink::network::{ShrunkScript, shrink};
use crate::shrink::{Size, sim};
use anyhow::Result;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use zooquake_history::plan::{On, Plan};
use zooquake_network::draft;

/// The plan of the schedule of a seed.
pub fn plan(space: &ScheduleSpace, seed: u64) -> Plan {
    let mut player = SchedulePlayer::new(space);
    let names = space.variant.setting(seed, &space.cluster).names();
    let clients = player.clients().to_vec();
    let drawn = player.draw(seed);
    let windows = draft::windows(&drawn.disturbances, &names);
    let kinds = space.faults.iter();
    let faults = kinds.filter(|kind| windows.iter().any(|window| window.fault == **kind));
    Plan {
        format: 1,
        on: On::Network,
        scheduler: space.scheduler.clone(),
        seed,
        workload: space.variant.workload(),
        cluster: space.cluster.clone(),
        // A schedule ends when all is healed and asked, which is no later than this.
        time_ms: 0,
        faults: faults.cloned().collect(),
        clients: draft::client_plans(&drawn.requests, &clients),
        windows,
        ..Plan::default()
    }
}

/// Writes the failures as runs, those that are not known of the variant first.
///
/// # Errors
/// If a run cannot be written.
pub fn write(
    space: &ScheduleSpace,
    found: &NetworkSearch,
    out: &Path,
    stop: &AtomicBool,
) -> Result<Vec<ExploredFailure>> {
    let mut failures = Vec::new();
    for (anomaly, schedules) in &found.failures {
        let plan = plan(space, schedules.seed);
        let finished = simulation::run(&plan, out)?;
        let record = finished.folder.load()?;
        let shown = finished.results.anomalies.iter().find(|shown| shown.kind == *anomaly);
        progress!("shrinking {anomaly} of seed {}", schedules.seed);
        let smallest = shrink(&plan, anomaly, Instant::now() + SHRINKING, stop)?;
        let run = finished.folder.path;
        let write = |ShrunkScript { plan, record, tried }| {
            let size = Size::new(&record);
            let run = sim::write_run(plan, Some(&run), out)?;
            anyhow::Ok(ShrunkRun { run, size, tried })
        };
        failures.push(ExploredFailure {
            signature: match shown {
                Some(shown) => Signature::new(&record, shown),
                None => anyhow::bail!(
                    "the run of seed {} does not show the {anomaly} that it showed",
                    schedules.seed
                ),
            },
            schedules: schedules.count,
            seed: schedules.seed,
            why: shown.map(|shown| shown.why.clone()).unwrap_or_default(),
            shrunk: smallest.map(write).transpose()?,
            run: Some(run),
            confirmation: None,
        });
    }
    failures.sort_by_key(|failure| failure.signature.known);
    Ok(failures)
}
