//! `zooquake replay`

use super::exit::{Code, Usage};
use super::run::refuse_keep;
use super::series::{Series, print_json};
use super::{consent, paths};
use crate::judge;
use crate::planning::{admission, values};
use crate::replay::{headline, pin};
use crate::run::FinishedRun;
use crate::run::folder::{Folder, RECIPE};
use anyhow::Result;
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use zooquake_backend::images::Source;
use zooquake_checkers::Anomaly;
use zooquake_history::plan::{On, RecipeSource};

/// `replay`
#[derive(Debug, Args)]
#[command(after_help = "\
Where the run has an anomaly, windows that began after its witness are left out, and each other one strikes at the
moment of the operations at which it struck then, such as 210 ms into the second write of c3, rather than by the clock.
A simulated run is repeated as it was, event by event; `--on docker` shows its plan on a real ensemble.

Examples:
  zooquake replay runs/latest
  zooquake replay runs/latest --times 5
  zooquake replay runs/latest --on docker           a simulated run, on a real ensemble
  zooquake replay failure.zooquake.tar.gz --exact
  zooquake replay failure.zooquake.tar.gz --yes     pulls the image that its plan names, if it is not there")]
pub struct ReplayOptions {
    /// The run's folder, or the file that `zooquake pack` made of it
    pub run: PathBuf,
    /// The original clock, and all windows
    #[arg(long)]
    pub exact: bool,
    /// Where to run: `docker`, a real ensemble, or `sim`, a simulated one; where the run took place if not given
    #[arg(long, value_name = "docker|sim", value_parser = values::on)]
    pub on: Option<On>,
    /// How often to run it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub times: u32,
    /// Folder of the runs
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Leave the ensemble standing at the end, and print how to reach it
    #[arg(long)]
    pub keep: bool,
    /// Pull the image that the plan names, and build and run the recipe that the run has kept, without asking
    #[arg(long)]
    pub yes: bool,
    /// JSON on stdout: results.json and the folder
    #[arg(long)]
    pub json: bool,
}

/// Runs the plan of a run again, and prints whether its anomaly came back.
///
/// # Errors
/// [`Usage`] if there is no such run; otherwise the harness failed.
pub async fn replay(options: ReplayOptions) -> Result<Code> {
    let (opened, mut record) = paths::run_to_play(&options.run)?;
    let case = admission::admit(record.plan.clone())
        .map_err(|why| Usage(format!("{:?} has no plan that could be run: it {why}", options.run)))?;
    let ran_on = record.plan.on;
    let case = case.changed(|plan| plan.placed(options.on.unwrap_or(ran_on)));
    admission::check_backend(&case).map_err(Usage)?;
    refuse_keep(&case, options.keep)?;
    let original = std::mem::replace(&mut record.plan, case.plan().clone());
    // A run in virtual time is repeated as it was, and needs no pins.
    let capabilities = case.backend().capabilities;
    let repeated = ran_on == record.plan.on && capabilities.virtual_time;
    let exact = options.exact || repeated;
    paths::output_folder(&options.out, "--out")?;
    let recipe = match &record.plan.workload.recipe {
        Some(recipe) => Some(kept_recipe(&opened.folder, recipe)?),
        None => None,
    };
    if !options.yes && capabilities.containers {
        consent::to_run(&options.run, &record.plan).await?;
    }
    let before = zooquake_checkers::check(&record);
    let wanted = headline(&before).cloned();
    let name = opened.folder.name();
    let mut plan = record.plan.clone();
    plan.replay_of = Some(name.clone());
    if let (Some(own), Some((_, files))) = (&mut plan.workload.recipe, &recipe) {
        own.files.clone_from(files);
    }
    match &wanted {
        Some(anomaly) if !exact && plan.scenes.is_empty() => {
            progress!("replaying {name} for its {}", anomaly.kind);
            let pinned = pin(&record, anomaly, &name);
            pinned.notes.iter().for_each(|note| progress!("  {note}"));
            plan = pinned.plan;
        }
        Some(anomaly) => progress!("replaying {name} for its {}, by its own clock", anomaly.kind),
        None => progress!("replaying {name}, which has no anomaly to bring back, by its own clock"),
    }
    let case = case.replanned(plan);
    let place = case.backend().connect_to(&case.plan().cluster.hosts).await?;
    let series = Series {
        cases: vec![case; options.times as usize],
        place,
        recipe: recipe.map(|(folder, _)| folder),
        out: options.out,
        keep: options.keep,
        live: false,
        json: options.json,
    };
    let runs = series.execute().await?;
    record.plan = original;
    if repeated && !options.json {
        println!("{}", sameness(&opened.folder, &runs)?);
    }
    for FinishedRun { folder, results, .. } in &runs {
        let replayed = folder.load()?;
        let sides = [(name.clone(), &record, &before), (folder.name(), &replayed, results)];
        let file = judge::render_pair(sides, &folder.path)?;
        progress!("against the original: {}", file.display());
    }
    if let Some(anomaly) = &wanted {
        let text = tally(anomaly, &runs);
        // Machines count the anomalies themselves: stdout is theirs.
        if options.json {
            eprintln!("{text}");
        } else {
            println!("{text}");
        }
    }
    if options.json {
        print_json(&runs, options.times > 1)?;
    }
    Ok(Code::worst(runs.iter().map(|run| run.results.verdict.into())))
}

/// The folder in which a run has kept its recipe, and the hashes of what lies in it. Differences from the recipe that
/// ran are printed to stderr.
///
/// # Errors
/// If the run has not kept it.
pub fn kept_recipe(run: &Folder, recipe: &RecipeSource) -> Result<(PathBuf, BTreeMap<String, String>), Usage> {
    let folder = run.file(RECIPE);
    if folder.is_symlink() {
        return Err(Usage(format!(
            "{folder:?} is a link: a run keeps its recipe in a folder of its own"
        )));
    }
    let source = Source::from_recipe(&folder, recipe).map_err(|error| {
        Usage(format!(
            "the run has not kept its recipe, {:?}: {error:#}",
            recipe.folder
        ))
    })?;
    for difference in source.differences(&recipe.files) {
        eprintln!("not the recipe that ran: {difference}");
    }
    Ok((folder, source.hashes()))
}

/// In how many runs an anomaly came back, of those that say something of it: it came back, or every window counts.
fn tally(wanted: &Anomaly, runs: &[FinishedRun]) -> String {
    let again = runs.iter().filter(|run| comes_back(run, wanted)).count();
    let counts = |run: &&FinishedRun| run.results.windows.iter().all(|window| window.counts);
    let struck = runs.iter().filter(|run| comes_back(run, wanted) || counts(run)).count();
    let missed = match runs.len() - struck {
        0 => String::new(),
        missed => format!("; in {missed} a window does not count"),
    };
    format!("{} came back in {again} of {struck} that struck{missed}", wanted.kind)
}

/// Whether runs in virtual time have the original's history, in a sentence.
///
/// # Errors
/// If a history cannot be read.
fn sameness(original: &Folder, runs: &[FinishedRun]) -> Result<String> {
    let before = original.read("history.jsonl")?;
    for FinishedRun { folder, .. } in runs {
        if folder.read("history.jsonl")? != before {
            return Ok(format!(
                "the history of {} differs from the original's, which another version or a changed plan made",
                folder.name()
            ));
        }
    }
    Ok("the history came back byte for byte".to_string())
}

fn comes_back(run: &FinishedRun, wanted: &Anomaly) -> bool {
    run.results
        .anomalies
        .iter()
        .any(|anomaly| anomaly.kind == wanted.kind && !anomaly.advisory)
}
