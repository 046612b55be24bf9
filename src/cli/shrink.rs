//! `zooquake shrink`

use super::exit::{Code, Usage};
use super::{interrupt, paths};
use crate::campaign::values;
use crate::explore::space::state;
use crate::replay::{headline, pin, runnable};
use crate::run::simulated;
use crate::shrink::{Shrinker, Size, Wanted};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zooquake_checkers::Record;
use zooquake_checkers::plan::{On, Plan};

/// A plan whose run took place on a real ensemble is tried with so many seeds on simulated ones.
const SEEDS: u64 = 50;

/// `shrink`
#[derive(Debug, Args)]
#[command(after_help = "\
Looks for the smallest plan that still shows the same anomaly of the same property: fewer windows of faults, clients and
operations, shorter times. It does so on simulated ensembles, also for a run of a real one, if its failure shows there.

Exit codes: 0 the anomaly was kept, 2 it did not recur, 254 wrong usage, 255 the harness failed.

Examples:
  zooquake shrink runs/latest
  zooquake shrink failure.zooquake.tar.gz --budget 5m --out shrunk")]
pub struct ShrinkOptions {
    /// The run's folder, or the file that `zooquake pack` made of it
    pub run: PathBuf,
    /// How long to look for smaller plans
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    pub budget: Duration,
    /// Folder of the runs, for that of the smallest plan
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// JSON on stdout: the anomaly, what was tried, sizes before and after, and the folder
    #[arg(long)]
    pub json: bool,
}

/// Shrinks the plan of a run.
///
/// # Errors
/// [`Usage`] if there is no such run, it has no anomaly, or it cannot be simulated; otherwise the harness failed.
pub async fn shrink(options: ShrinkOptions) -> Result<Code> {
    let (opened, record) = paths::run(&options.run)?;
    let cannot = |why: String| Usage(format!("{:?} cannot be shrunk: its plan {why}", options.run));
    runnable::check(&record.plan).map_err(cannot)?;
    let simulated_plan = Plan {
        on: On::Sim,
        ..record.plan.clone()
    };
    simulated::supports(&simulated_plan).map_err(|why| Usage(format!("{:?} cannot be shrunk: {why}", options.run)))?;
    paths::output_folder(&options.out, "--out")?;
    let results = zooquake_checkers::check(&record);
    let Some(anomaly) = headline(&results).cloned() else {
        return Err(Usage(format!(
            "{:?} has no anomaly that could be kept: its verdict is {}",
            options.run, results.verdict
        ))
        .into());
    };
    let name = opened.folder.name();
    let pinned = pin(&record, &anomaly, &name).plan;
    let (wanted, before) = (Wanted::of(&anomaly), Size::of(&record));
    eprintln!("shrinking {name}, {}, for its {}", before, wanted.anomaly);
    let stop = Arc::new(AtomicBool::new(false));
    let mut interrupt = interrupt::listen()?;
    let stopping = Arc::clone(&stop);
    tokio::spawn(async move {
        // Closed only when the program ends.
        let _ = interrupt.wait_for(|stop| *stop).await;
        stopping.store(true, Ordering::SeqCst);
    });
    let (until, wanted_again) = (Instant::now() + options.budget, wanted.clone());
    let shrinking = tokio::task::spawn_blocking(move || {
        let mut shrinker = Shrinker::new(wanted_again, until, &stop);
        // A simulated run fails again as it did; a real one maybe with another seed, or pinned to what was going on.
        let seeds = if record.plan.on == On::Sim { 0 } else { SEEDS };
        if !shrinker.find(&simulated_plan, seeds)? {
            shrinker.find(&pinned, SEEDS)?;
        }
        shrinker.shrink()
    });
    let (shrunk, tried) = shrinking.await.context("the shrinking did not come to its end")??;
    let Some((plan, small)) = shrunk else {
        let text = format!("{} did not recur in {tried} simulated runs", wanted.anomaly);
        match options.json {
            true => println!(
                "{}",
                json!({ "anomaly": wanted.anomaly, "property": wanted.property, "tried": tried, "kept": false })
            ),
            false => println!("{text}: `zooquake replay` runs the plan again where it ran"),
        }
        return Ok(Code::Unknown);
    };
    let run = write(plan, &Some(opened.folder.path.clone()), &options.out)?;
    let after = Size::of(&small);
    if options.json {
        let value = json!({
            "anomaly": wanted.anomaly, "property": wanted.property, "tried": tried, "kept": true,
            "before": before, "after": after, "run": run,
        });
        println!("{}", serde_json::to_string_pretty(&value).context("writing JSON")?);
    } else {
        println!("{} is kept by {}, after {tried} runs:", wanted.anomaly, after);
        story(&small).iter().for_each(|line| println!("  {line}"));
        println!("report: {}", run.join("report.html").display());
    }
    Ok(Code::Valid)
}

/// Runs a shrunk plan into a folder of its own, and gives that.
///
/// # Errors
/// If the harness fails.
pub fn write(plan: Plan, of: &Option<PathBuf>, out: &Path) -> Result<PathBuf> {
    let name = of
        .as_deref()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    let plan = Plan {
        replay_of: name,
        ..plan
    };
    Ok(simulated::run(&plan, out)?.folder.path)
}

/// The plan in lines.
fn story(record: &Record) -> Vec<String> {
    let windows = record.plan.windows.iter().map(|window| {
        format!(
            "window {}: {} for {} ms, {}",
            window.id,
            window.fault,
            window.duration_ms,
            state(window)
        )
    });
    let clients = (1..)
        .zip(&record.plan.clients)
        .map(|(number, client)| match client.ops {
            Some(0) => format!("c{number}: nothing before the faults are healed"),
            Some(ops) => format!("c{number}: {ops} operations"),
            None => format!("c{number}: as many operations as there is time for"),
        });
    windows.chain(clients).collect()
}
