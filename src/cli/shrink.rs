//! `zooquake shrink`

use super::exit::{Code, Usage};
use super::replay::kept_recipe;
use super::{consent, interrupt, paths};
use crate::backends::{network as on_network, sim};
use crate::explore::space::state;
use crate::planning::case::Case;
use crate::planning::{admission, values};
use crate::replay::{headline, pin};
use crate::run::folder::Folder;
use crate::shrink::network::{self, ShrunkScript};
use crate::shrink::strategy::{SmallestPlan, Strategy, write_run};
use crate::shrink::{PlayedCase, Size, WantedAnomaly};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use zooquake_history::plan::{On, Plan};
use zooquake_history::{Node, Record};

/// `shrink`
#[derive(Debug, Args)]
#[command(after_help = "\
Looks for the smallest plan that still shows the same anomaly of the same property: fewer windows of faults, clients and
operations, shorter times. It does so on simulated ensembles, also for a run of a real one. What does not show there is shrunk on
real ensembles, one after the other, if a Docker engine answers; that is slow, and is announced first.

Exit codes: 0 the anomaly was kept, 2 it did not recur, 254 wrong usage, 255 the harness failed.

Examples:
  zooquake shrink runs/latest
  zooquake shrink runs/latest --on docker --budget 1h
  zooquake shrink failure.zooquake.tar.gz --budget 5m --out shrunk")]
pub struct ShrinkOptions {
    /// The run's folder, or the file that `zooquake pack` made of it
    pub run: PathBuf,
    /// Only on real ensembles (`docker`), or only on simulated ones (`sim`); runs of networks are shrunk there alone
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

/// Shrinks the plan of a run.
///
/// # Errors
/// [`Usage`] if there is no such run, it has no anomaly, or it cannot be run where it is to be; otherwise the harness
/// failed.
pub async fn shrink(options: ShrinkOptions) -> Result<Code> {
    let (opened, record) = paths::run_to_play(&options.run)?;
    let cannot = |why: String| Usage(format!("{:?} cannot be shrunk: {why}", options.run));
    let case = admission::admit(record.plan.clone()).map_err(|why| cannot(format!("its plan {why}")))?;
    if record.plan.on == On::Network {
        return of_network(&options, &opened.folder, (&case, &record)).await;
    }
    let simulable = admission::case_on(&sim::KIND, &case);
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
    let (kept, before) = (WantedAnomaly::new(anomaly), Size::new(&record));
    progress!("shrinking {name}, {before}, for its {}", kept.anomaly);
    let strategy = Strategy {
        pinned: case.replanned(pin(&record, anomaly, &name).plan),
        case,
        name,
        wanted: kept.clone(),
        budget: options.budget,
        out: options.out.clone(),
        stop: interrupt::flag(&interrupt),
        interrupt,
    };
    let recipe = async || {
        let kept = record.plan.workload.recipe.as_ref();
        let kept = kept.map(|recipe| kept_recipe(&opened.folder, recipe)).transpose()?;
        if !options.yes {
            consent::to_run(&options.run, &record.plan).await?;
        }
        Ok(kept)
    };
    let smallest = match (options.on, simulable) {
        (Some(On::Docker), _) => strategy.on_real(recipe).await?,
        (on, Ok(())) => strategy.on_simulated_first(on.is_none(), recipe).await?,
        (_, Err(why)) => {
            eprintln!("{why}: it is shrunk on real ensembles");
            strategy.on_real(recipe).await?
        }
    };
    let report = ShrinkReport {
        wanted: kept,
        before,
        folder: &opened.folder,
        options: &options,
    };
    report.print(smallest).await
}

/// Shrinks the run of a network to the smallest script that violates the same property.
async fn of_network(options: &ShrinkOptions, folder: &Folder, (case, record): (&Case, &Record)) -> Result<Code> {
    let cannot = |why: String| Usage(format!("{:?} cannot be shrunk: {why}", options.run));
    if let Some(on) = options.on.filter(|on| *on != On::Network) {
        return Err(cannot(format!("it is the run of a network, which --on {} is not", on.name())).into());
    }
    paths::output_folder(&options.out, "--out")?;
    let results = zooquake_checkers::check(record);
    let Some(anomaly) = headline(&results) else {
        return Err(cannot(format!(
            "it has no anomaly that could be kept: its verdict is {}",
            results.verdict
        ))
        .into());
    };
    let (wanted, before) = (WantedAnomaly::new(anomaly), Size::new(record));
    progress!("shrinking {}, {before}, for its {}", folder.name(), wanted.anomaly);
    let stop = interrupt::flag(&interrupt::listen()?);
    let until = Instant::now() + options.budget.unwrap_or(NETWORK_BUDGET);
    let smallest = network::shrink(case, &wanted.anomaly, until, &stop)?;
    let tried = smallest.as_ref().map_or(1, |smallest| smallest.tried);
    let played = smallest.map(|ShrunkScript { case, record, .. }| PlayedCase {
        case,
        record,
        run: None,
    });
    let report = ShrinkReport {
        wanted,
        before,
        folder,
        options,
    };
    let backend = &on_network::KIND;
    report.print(SmallestPlan { played, tried, backend }).await
}

/// How long smaller scripts are looked for, if nothing else is asked for.
const NETWORK_BUDGET: Duration = Duration::from_secs(20);

/// What the outcome of a shrinking is reported with.
struct ShrinkReport<'a> {
    wanted: WantedAnomaly,
    before: Size,
    /// The folder of the run that was shrunk.
    folder: &'a Folder,
    options: &'a ShrinkOptions,
}

impl ShrinkReport<'_> {
    /// Prints what came of it, once the smallest plan has a run in a folder.
    async fn print(&self, SmallestPlan { played, tried, backend }: SmallestPlan) -> Result<Code> {
        let (anomaly, json) = (&self.wanted.anomaly, self.options.json);
        let mut value = json!({
            "anomaly": anomaly, "property": self.wanted.property, "on": backend.on, "tried": tried,
            "kept": played.is_some(), "before": self.before,
        });
        let runs = match backend.capabilities.virtual_time {
            true => format!("{} runs", backend.adjective),
            false => format!("runs on {} ensembles", backend.adjective),
        };
        let code = match played {
            None if json => Code::Unknown,
            None => {
                println!(
                    "{anomaly} did not recur in {tried} {runs}: `zooquake replay` runs the plan again where it ran"
                );
                Code::Unknown
            }
            Some(PlayedCase { case, record, run }) => {
                let run = match run {
                    Some(run) => run,
                    None => self.write(case).await?,
                };
                Folder { path: run.clone() }.make_latest();
                let after = Size::new(&record);
                (value["after"], value["run"]) = (json!(after), json!(run));
                if !json {
                    println!("{anomaly} is kept by {after}, after {tried} {runs}:");
                    plan_lines(&record.plan).iter().for_each(|line| println!("  {line}"));
                    println!("report: {}", run.join("report.html").display());
                }
                Code::Valid
            }
        };
        if json {
            crate::output::json(&value)?;
        }
        Ok(code)
    }

    /// Runs the smallest case into a folder.
    async fn write(&self, case: Case) -> Result<PathBuf> {
        let (of, out) = (self.folder.path.clone(), self.options.out.clone());
        // Not on a thread of the runtime, which bounds how often a task may poll at a time.
        let writing = tokio::task::spawn_blocking(move || write_run(case, Some(&of), &out));
        writing.await.context("the run was not written")?
    }
}

/// The windows and the clients of a plan, a line each.
pub fn plan_lines(plan: &Plan) -> Vec<String> {
    let windows = plan.windows.iter().map(|window| {
        format!(
            "window {}: {} for {} ms, {}",
            window.id,
            window.fault,
            window.duration_ms,
            state(window)
        )
    });
    let clients = (1..)
        .map(Node::client)
        .zip(&plan.clients)
        .map(|(name, client)| match client.ops {
            Some(0) => format!("{name}: nothing before the faults are healed"),
            Some(ops) => format!("{name}: {ops} operations"),
            None => format!("{name}: as many operations as there is time for"),
        });
    windows.chain(clients).collect()
}
