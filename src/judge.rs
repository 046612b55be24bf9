//! From a run's folder to its verdict, its results and its report.

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use std::path::Path;
use zooquake_checkers::{Record, Results};
use zooquake_reports::Extras;

/// Checks the run in the folder, writes `results.json` anew, and renders its report.
///
/// # Errors
/// If the folder cannot be read or written.
pub fn judge(folder: &Folder) -> Result<Results> {
    let record = folder.load()?;
    let results = zooquake_checkers::check(&record);
    keep(folder, &record, &results)?;
    Ok(results)
}

/// Writes the results of a check and their report into the run's folder.
///
/// # Errors
/// If a file cannot be written.
pub fn keep(folder: &Folder, record: &Record, results: &Results) -> Result<()> {
    folder.write_json("results.json", results)?;
    render(folder, record, results, &folder.path)
}

/// Renders the report of a checked run into a folder.
///
/// # Errors
/// If a file cannot be written.
pub fn render(folder: &Folder, record: &Record, results: &Results, into: &Path) -> Result<()> {
    let extras = Extras {
        reproduce: reproduce(folder, record),
        run_name: folder.name(),
    };
    zooquake_reports::write_all(record, results, &extras, into)
        .with_context(|| format!("rendering the report of {}", folder.path.display()))?;
    Ok(())
}

/// The lines that reproduce a run: check it again, run it again.
pub fn reproduce(folder: &Folder, record: &Record) -> Vec<String> {
    let plan = &record.plan;
    let check = format!("zooquake check {}", folder.path.display());
    let replay = format!("zooquake replay {}", folder.path.display());
    if plan.replay_of.is_some() {
        return vec![check, format!("{replay} --exact")];
    }
    let faults = if plan.faults.is_empty() {
        "none".to_string()
    } else {
        plan.faults.join(",")
    };
    let cluster = &plan.cluster;
    // Scenes bring their own faults, take their own time, and have no clients.
    let drawn = plan.scenes.is_empty();
    let mut again = format!("zooquake run {}", plan.workload.name());
    if drawn {
        again += &format!(" --seed {} --faults {faults} --time {}ms", plan.seed, plan.time_ms);
    }
    if cluster.servers != 3 {
        again += &format!(" --servers {}", cluster.servers);
    }
    if cluster.observers != 0 || !drawn {
        again += &format!(" --observers {}", cluster.observers);
    }
    if drawn && cluster.clients != 5 {
        again += &format!(" --clients {}", cluster.clients);
    }
    let timing = cluster.timing;
    if timing != zooquake_checkers::plan::Timing::default() {
        again += &format!(
            " --timing {}/{}/{}",
            timing.tick_ms, timing.sync_limit, timing.session_ms
        );
    }
    if let Some(image) = &cluster.image {
        again += &format!(" --zookeeper {image}");
    }
    vec![check, replay, again]
}
