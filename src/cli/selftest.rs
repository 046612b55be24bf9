//! `zooquake selftest`

use super::exit::{Code, Usage};
use super::explore::threads;
use super::{interrupt, paths};
use crate::confirm::{Confirmation, Confirmer, were_played};
use crate::planning::{names, values};
use crate::selftest::{self, BugOutcome, PlantedBug, Settings};
use crate::shrink::strategy::write_run;
use crate::terminal::print_wrapped;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zooquake_workloads::recipes::planted::FAMILY;

/// How long a schedule that shows a bug is shrunk at most.
const SHRINKING: Duration = Duration::from_secs(20);

/// A recipe without its bug is played so often at least.
const TWIN: u64 = 64;

/// `selftest`
#[derive(Debug, Args)]
#[command(after_help = "\
Planted bugs are recipes that leave out a care, each as a library for ZooKeeper once did, and consensus protocols that violate their
papers. Each is explored on simulated ensembles, or networks, until the anomaly shows that it stands for; then the schedule is
shrunk, and the recipe or protocol without the bug is played under the same faults and seeds. A planted bug is a variant like others: `zooquake run planted/L12`, `zooquake explore planted/L12`.

Exit codes: 0 all were found and all recipes without them were silent; 1 one was missed, or a recipe without a bug was noisy; 2 it was
interrupted; 254 wrong usage; 255 the harness failed.

With --confirm the shrunk plan of each bug is played on a real ensemble until its anomaly shows. The outcome changes no exit
code, except for 255 if no try of a plan could be carried out.

Examples:
  zooquake selftest
  zooquake selftest L1 L12 Q1 --budget 30s
  zooquake selftest L12 --confirm
  zooquake selftest T1 --out planted           the shrunk run too, with its report
  zooquake selftest --json > selftest.json")]
pub struct SelftestOptions {
    /// Ids of planted bugs, such as L12; all if none is given
    pub ids: Vec<String>,
    /// How long to explore each bug, and each recipe without it
    #[arg(long, default_value = "10s", value_parser = values::duration)]
    pub budget: Duration,
    /// Seed of the first schedule of each
    #[arg(long, default_value_t = 1, value_parser = values::seed)]
    pub seed: u64,
    /// Threads; one a core if not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder of the runs of shrunk plans; none are written if not given, but for `runs` with --confirm
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Play the shrunk plans on a real ensemble, and report which bugs show there
    #[arg(long)]
    pub confirm: bool,
    /// How often a plan is played at most to confirm it
    #[arg(long, alias = "confirm-runs", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub confirm_times: u32,
    /// JSON on stdout: a list of the bugs with what was found
    #[arg(long)]
    pub json: bool,
}

/// Tries planted bugs.
///
/// # Errors
/// [`Usage`] for a bug that does not exist; otherwise the harness failed.
pub async fn selftest(mut options: SelftestOptions) -> Result<Code> {
    let chosen = chosen(&options.ids).map_err(Usage)?;
    if options.confirm {
        options.out.get_or_insert_with(|| "runs".into());
    }
    if let Some(out) = &options.out {
        paths::output_folder(out, "--out")?;
    }
    let interrupt = interrupt::listen()?;
    let stop = interrupt::flag(&interrupt);
    let confirmer = match &options.out {
        Some(out) if options.confirm => Some(Confirmer::prepare(options.confirm_times, out, interrupt).await?),
        _ => None,
    };
    let json = options.json;
    let trying = tokio::task::spawn_blocking(move || try_all(&chosen, &options, &stop));
    let (mut tried, interrupted) = trying.await.context("the selftest did not come to its end")??;
    if let Some(confirmer) = &confirmer {
        confirm(confirmer, &mut tried, json).await?;
    }
    let interrupted = interrupted || confirmer.is_some_and(|confirmer| confirmer.stopped());
    if json {
        crate::output::json(&tried.iter().map(as_json).collect::<Vec<_>>())?;
    }
    were_played(tried.iter().filter_map(|tried| tried.confirmation.as_ref()))?;
    let failed = tried.iter().filter(|tried| !tried.outcome.passed()).count();
    eprintln!("{} planted bugs tried, {failed} not as expected", tried.len());
    Ok(match (failed, interrupted) {
        (0, false) => Code::Valid,
        (0, true) => Code::Unknown,
        _ => Code::Invalid,
    })
}

/// The bugs of these ids, in the order of the table; all if there are none.
fn chosen(ids: &[String]) -> Result<Vec<PlantedBug>, String> {
    let bare = |id: &str| id.strip_prefix(&format!("{FAMILY}/")).unwrap_or(id).to_string();
    let ids: Vec<String> = ids.iter().map(|id| bare(id)).collect();
    let known = || PlantedBug::all().map(|planted| planted.id().to_string());
    match ids.iter().find(|id| !known().any(|other| other == **id)) {
        Some(id) => Err(names::unknown("planted bug", id, &known().collect::<Vec<_>>())),
        None => Ok(PlantedBug::all()
            .filter(|planted| ids.is_empty() || ids.iter().any(|id| id == planted.id()))
            .collect()),
    }
}

/// A bug that was tried.
struct SelftestRow {
    outcome: BugOutcome,
    /// The run of the shrunk plan, if that is written.
    run: Option<PathBuf>,
    /// What came of the shrunk plan on real ensembles; `None` if it was not played there, or not to an end.
    confirmation: Option<Confirmation>,
}

/// Plays the shrunk plans of recipes on real ensembles, until the user stops it; prints the outcome of each unless the
/// output is JSON.
async fn confirm(confirmer: &Confirmer, tried: &mut [SelftestRow], json: bool) -> Result<()> {
    for tried in tried
        .iter_mut()
        .filter(|tried| matches!(tried.outcome.planted, PlantedBug::Recipe(_)))
    {
        let (Some(shown), Some(run)) = (&tried.outcome.shown, &tried.run) else {
            continue;
        };
        tried.confirmation = confirmer.confirm(run, None, &shown.wanted).await?;
        if let (Some(confirmation), false) = (&tried.confirmation, json) {
            let id = tried.outcome.planted.id();
            print_wrapped(&format!("{id:<4} on a real ensemble {confirmation}"), INDENT);
        }
    }
    Ok(())
}

/// Tries them one after the other, and prints the row of each; whether it was interrupted.
fn try_all(chosen: &[PlantedBug], options: &SelftestOptions, stop: &AtomicBool) -> Result<(Vec<SelftestRow>, bool)> {
    let settings = Settings {
        budget: options.budget,
        shrinking: SHRINKING,
        twin: TWIN,
        seed: options.seed,
        threads: threads(options.threads),
        stop,
    };
    if !options.json {
        println!("{}", row(HEADER));
    }
    let mut tried = Vec::new();
    for planted in chosen {
        progress!("{}: looking for {}", planted.name(), planted.expected());
        let outcome = selftest::run(*planted, settings)?;
        if stop.load(Ordering::SeqCst) {
            // A bug whose search was cut short is neither found nor missed.
            return Ok((tried, true));
        }
        let run = match (&options.out, &outcome.shown) {
            (Some(out), Some(shown)) => Some(write_run(shown.case.clone(), None, out)?),
            _ => None,
        };
        if !options.json {
            print(&outcome);
        }
        tried.push(SelftestRow {
            outcome,
            run,
            confirmation: None,
        });
    }
    Ok((tried, false))
}

/// The columns of the table. What follows each row in words is indented.
const HEADER: [&str; 5] = ["id", "expected", "schedules", "seconds", "shrunk to"];

/// A row of the table.
fn row([id, expected, schedules, seconds, shrunk]: [&str; 5]) -> String {
    format!("{id:<4} {expected:<20} {schedules:>9} {seconds:>7}  {shrunk}")
}

/// Prints the row of a bug, and in words what was found and what the recipe does without it.
fn print(outcome: &BugOutcome) {
    let BugOutcome { planted, shown, .. } = outcome;
    let listed = |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let schedules = shown.as_ref().map_or(outcome.schedules, |shown| shown.tried);
    let shrunk = shown
        .as_ref()
        .map_or("missed".to_string(), |shown| shown.size.to_string());
    print_wrapped(
        &row([
            planted.id(),
            planted.expected(),
            &schedules.to_string(),
            &format!("{:.1}", outcome.took.as_secs_f64()),
            &shrunk,
        ]),
        INDENT,
    );
    let say = |text: String| print_wrapped(&format!("{:INDENT$}{text}", ""), INDENT + 2);
    say(planted.mechanism().to_string());
    if !outcome.found.is_empty() {
        say(format!("found: {}", listed(&outcome.found)));
    }
    say(match outcome.noise.is_empty() {
        true => format!("without the bug: silent in {} schedules", outcome.twin_schedules),
        false => format!("without the bug: noisy: {}", listed(&outcome.noise)),
    });
}

/// The columns by which words below a row are indented.
const INDENT: usize = 5;

fn as_json(tried: &SelftestRow) -> Value {
    let SelftestRow {
        outcome,
        run,
        confirmation,
    } = tried;
    let BugOutcome { planted, shown, .. } = outcome;
    json!({
        "id": planted.id(),
        "variant": planted.name(),
        "mechanism": planted.mechanism(),
        "source": planted.source(),
        "faults": planted.faults(),
        "expected": planted.expected(),
        "found": outcome.found,
        "runs": outcome.schedules,
        "tried": shown.as_ref().map(|shown| shown.tried),
        "seconds": outcome.took.as_secs_f64(),
        "shrunk": shown.as_ref().map(|shown| shown.size),
        "run": run,
        "confirmation": confirmation,
        "twin": outcome.twin(),
        "twin_variant": planted.twin(),
        "twin_runs": outcome.twin_schedules,
        "twin_found": outcome.noise,
    })
}
