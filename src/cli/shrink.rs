//! `zooquake shrink`

use super::exit::{Code, Usage};
use super::replay::kept_recipe;
use super::{consent, interrupt, paths};
use crate::backends::{self, sim};
use crate::campaign::ensembles::Ensembles;
use crate::planning::admission;
use crate::planning::support;
use crate::planning::values;
use crate::replay::headline;
use crate::replay::pin;
use crate::run::folder::Folder;
use crate::run::simulation;
use crate::shrink::real::Real;
use crate::shrink::sim::Simulated;
use crate::shrink::{Played, Shrinker, Size, Stage, Wanted, story};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use zooquake_checkers::plan::{On, Plan};

/// A plan whose run took place on a real ensemble is tried with so many seeds more on simulated ones.
const SEEDS: u64 = 50;

/// How often a plan is played again on a real ensemble before its failure counts as one that does not recur.
const TIMES: u64 = 4;

/// How long smaller plans are looked for on simulated ensembles, and on real ones, where each takes about half a minute.
const BUDGET: Duration = Duration::from_secs(60);
const BUDGET_REAL: Duration = Duration::from_secs(20 * 60);

/// `shrink`
#[derive(Debug, Args)]
#[command(after_help = "\
Looks for the smallest plan that still shows the same anomaly of the same property: fewer windows of faults, clients and
operations, shorter times. It does so on simulated ensembles, also for a run of a real one. What does not show there is shrunk on
real ensembles, one after the other, if a Docker engine answers; that is slow, and is said first.

Exit codes: 0 the anomaly was kept, 2 it did not recur, 254 wrong usage, 255 the harness failed.

Examples:
  zooquake shrink runs/latest
  zooquake shrink runs/latest --on docker --budget 1h
  zooquake shrink failure.zooquake.tar.gz --budget 5m --out shrunk")]
pub struct ShrinkOptions {
    /// The run's folder, or the file that `zooquake pack` made of it
    pub run: PathBuf,
    /// Only on real ensembles (`docker`), or only on simulated ones (`sim`)
    #[arg(long, value_name = "docker|sim", value_parser = values::on)]
    pub on: Option<On>,
    /// How long to look for smaller plans; 60s on simulated ensembles, 20m on real ones if not given
    #[arg(long, value_parser = values::duration)]
    pub budget: Option<Duration>,
    /// Folder of the runs, for that of the smallest plan
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Pull the image that the plan names, and build and run the recipe that the run has kept, without asking
    #[arg(long)]
    pub yes: bool,
    /// JSON on stdout: the anomaly, what was tried and where, sizes before and after, and the folder
    #[arg(long)]
    pub json: bool,
}

/// What is shrunk.
struct Task {
    wanted: Wanted,
    /// The run's name, folder and size.
    name: String,
    folder: Folder,
    before: Size,
    /// Its plan, and the same pinned to the witness.
    plan: Plan,
    pinned: Plan,
    stop: Arc<AtomicBool>,
    interrupt: watch::Receiver<bool>,
}

/// What came of it: the smallest plan that fails, how many runs were tried, and where.
type Shrunk = (Option<Played>, u64, On);

/// Shrinks the plan of a run.
///
/// # Errors
/// [`Usage`] if there is no such run, it has no anomaly, or it cannot be run where it is to be; otherwise the harness failed.
pub async fn shrink(options: ShrinkOptions) -> Result<Code> {
    let (opened, record) = paths::run(&options.run)?;
    let cannot = |why: String| Usage(format!("{:?} cannot be shrunk: {why}", options.run));
    admission::check(&record.plan).map_err(|why| cannot(format!("its plan {why}")))?;
    let simulable = support::plan_on(&sim::KIND, &record.plan);
    if let Err(why) = &simulable
        && (!record.plan.scenes.is_empty() || options.on == Some(On::Sim))
    {
        return Err(cannot(why.clone()).into());
    }
    paths::output_folder(&options.out, "--out")?;
    let results = zooquake_checkers::check(&record);
    let Some(anomaly) = headline(&results) else {
        let why = format!("has no anomaly that could be kept: its verdict is {}", results.verdict);
        return Err(Usage(format!("{:?} {why}", options.run)).into());
    };
    let (name, interrupt) = (opened.folder.name(), interrupt::listen()?);
    let task = Task {
        wanted: Wanted::of(anomaly),
        folder: opened.folder.clone(),
        before: Size::of(&record),
        plan: record.plan.clone(),
        pinned: pin(&record, anomaly, &name).plan,
        stop: interrupt::flag(&interrupt),
        interrupt,
        name,
    };
    progress!(
        "shrinking {}, {}, for its {}",
        task.name,
        task.before,
        task.wanted.anomaly
    );
    let shrunk = match (options.on, simulable) {
        (Some(On::Docker), _) => task.on_real(&options).await?,
        (on, Ok(())) => task.on_sim_first(&options, on.is_none()).await?,
        (_, Err(why)) => {
            eprintln!("{why}: it is shrunk on real ensembles");
            task.on_real(&options).await?
        }
    };
    task.tell(shrunk, &options).await
}

impl Task {
    /// On simulated ensembles; if the failure of a real run does not show there, then on real ones.
    async fn on_sim_first(&self, options: &ShrinkOptions, or_real: bool) -> Result<Shrunk> {
        // A simulated run fails again as it did; a real one maybe with another seed, or pinned to what was going on.
        let (seeds, pinned) = match self.plan.on {
            On::Sim => (0, SEEDS),
            On::Docker => (SEEDS, SEEDS),
        };
        let plans = vec![(self.plan.clone(), seeds), (self.pinned.clone(), pinned)];
        let (shrunk, tried) = self.through(Simulated, plans, options.budget.unwrap_or(BUDGET)).await?;
        let real = or_real && self.plan.on == On::Docker && !self.stop.load(Ordering::SeqCst);
        if shrunk.is_some() || !real {
            return Ok((shrunk, tried, On::Sim));
        }
        progress!(
            "{} did not recur in {tried} simulated runs: it is shrunk on real ensembles",
            self.wanted.anomaly
        );
        match backends::connect(On::Docker).await {
            Ok(_) => self.on_real(options).await,
            Err(error) => {
                eprintln!("no real ensemble can be had: {error:#}");
                Ok((None, tried, On::Sim))
            }
        }
    }

    async fn on_real(&self, options: &ShrinkOptions) -> Result<Shrunk> {
        let recipe = match &self.plan.workload.recipe {
            Some(recipe) => Some(kept_recipe(&self.folder, recipe)?),
            None => None,
        };
        if !options.yes {
            consent::to_run(&options.run, &self.plan).await?;
        }
        let replay = |plan: &Plan| {
            let mut plan = Plan {
                replay_of: Some(self.name.clone()),
                ..plan.clone()
            };
            if let (Some(own), Some((_, files))) = (&mut plan.workload.recipe, &recipe) {
                own.files.clone_from(files);
            }
            plan
        };
        let plans = vec![(replay(&self.pinned), TIMES), (replay(&self.plan), TIMES)];
        let asked = [self.plan.cluster.image.as_deref()];
        let place = backends::connect(On::Docker).await?;
        let ensembles = Ensembles::prepare(place, asked, options.out.clone(), self.interrupt.clone()).await?;
        let ensembles = ensembles.with_recipe(recipe.as_ref().map(|(folder, _)| folder.clone()));
        let budget = options.budget.unwrap_or(BUDGET_REAL);
        progress!("for up to {} s, half a minute or more each run", budget.as_secs());
        let stage = Real::new(ensembles, options.out.clone(), Handle::current());
        let (shrunk, tried) = self.through(stage, plans, budget).await?;
        Ok((shrunk, tried, On::Docker))
    }

    /// Shrinks the first of these plans that fails when it is played once and so many times more.
    async fn through<S: Stage + Send + 'static>(
        &self,
        stage: S,
        plans: Vec<(Plan, u64)>,
        budget: Duration,
    ) -> Result<(Option<Played>, u64)> {
        let (wanted, stop, until) = (self.wanted.clone(), Arc::clone(&self.stop), Instant::now() + budget);
        let shrinking = tokio::task::spawn_blocking(move || {
            let mut shrinker = Shrinker::new(wanted, stage, until, &stop);
            for (plan, again) in plans {
                if shrinker.find(&plan, again)? {
                    break;
                }
            }
            shrinker.shrink()
        });
        shrinking.await.context("the shrinking did not come to its end")?
    }

    async fn tell(&self, (shrunk, tried, on): Shrunk, options: &ShrinkOptions) -> Result<Code> {
        let mut value = json!({
            "anomaly": self.wanted.anomaly, "property": self.wanted.property, "on": on, "tried": tried,
            "kept": shrunk.is_some(), "before": self.before,
        });
        let anomaly = &self.wanted.anomaly;
        let runs = match on {
            On::Sim => "simulated runs",
            On::Docker => "runs on real ensembles",
        };
        let code = match shrunk {
            None if options.json => Code::Unknown,
            None => {
                println!(
                    "{anomaly} did not recur in {tried} {runs}: `zooquake replay` runs the plan again where it ran"
                );
                Code::Unknown
            }
            Some(Played { plan, record, run }) => {
                let run = match run {
                    Some(run) => run,
                    None => {
                        let (of, out) = (Some(self.folder.path.clone()), options.out.clone());
                        // Not on a thread of the runtime, which bounds how often a task may poll at a time.
                        let writing = tokio::task::spawn_blocking(move || write(plan, &of, &out));
                        writing.await.context("the run was not written")??
                    }
                };
                Folder { path: run.clone() }.make_latest();
                let after = Size::of(&record);
                (value["after"], value["run"]) = (json!(after), json!(run));
                if !options.json {
                    println!("{anomaly} is kept by {after}, after {tried} {runs}:");
                    story::of(&record).iter().for_each(|line| println!("  {line}"));
                    println!("report: {}", run.join("report.html").display());
                }
                Code::Valid
            }
        };
        if options.json {
            crate::output::json(&value)?;
        }
        Ok(code)
    }
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
    Ok(simulation::run(&plan, out)?.folder.path)
}
