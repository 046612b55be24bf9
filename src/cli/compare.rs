//! `zooquake compare`

mod decision;
mod setup;

use super::exit::{Code, Usage};
use super::shard::ShardChoice;
use super::{interrupt, paths};
use crate::campaign::engine::{self, CampaignEnd, DriveLimits};
use crate::campaign::ensembles::{self, Ensembles};
use crate::campaign::ledger::CampaignHeader as _;
use crate::compare::drive::{self, ComparisonLedger, last, left};
use crate::compare::header::ComparisonHeader;
use crate::compare::report;
use crate::compare::setup::Setup;
use crate::planning::{admission, recipe, values};
use crate::{calendar, version};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_history::plan::{On, Timing};
use zooquake_reports::compare::{Comparison, summary, write_all};

/// `compare`
#[derive(Debug, Args)]
#[command(after_help = "\
What is given several times separated by commas is compared: variants, versions of ZooKeeper, timings, sizes. All of them
run the same plans, interleaved. The folder gets compare.html, compare.png, compare.md (a table for a README), compare.json and
a folder for each run. The same command again goes on where it was stopped; runs in which the harness failed are tried again.

`compare consensus` has no runs: it plays single decisions of Paxos and Fast Paxos, with and without collisions, a lost leader and a lost
acceptor, and compares the message delays and messages that each takes with what the papers claim.

Exit codes: 0 the comparison was made, whatever it found; 254 wrong usage; 255 the harness failed in a run, or as a whole.

Examples:
  zooquake compare lock --faults pause,partition,kill,drop-reply --time 20s --times 2
  zooquake compare lock --variants predecessor,protected,fenced --faults pause,partition --times 5
  zooquake compare election --faults none,kill+partition
  zooquake compare lock --variants fenced --zookeeper bookworm,trixie --faults partition
  zooquake compare lock --variants protected --timings 250/4/2000,500/4/1000 --faults partition
  zooquake compare commit --variants broadcast,coordinated --servers 3,5 --faults none
  zooquake compare consensus
  zooquake compare consensus --variants paxos,fast-paxos --servers 3,5 --json")]
pub struct CompareOptions {
    /// Family whose variants are compared: lock, rwlock, election, semaphore, barrier, queue, commit, register,
    /// counter, membership or consensus
    pub family: String,
    /// Its variants, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "VARIANTS")]
    pub variants: Vec<String>,
    /// Faults, each for runs of its own; `+` joins several into one, `none` is none; `pause,partition` if not given
    #[arg(long, value_delimiter = ',', value_name = "FAULTS")]
    pub faults: Vec<String>,
    /// How long operations and faults go on in each run; 20s if not given
    #[arg(long, value_parser = values::duration)]
    pub time: Option<Duration>,
    /// How often to run each subject under each kind of faults, 5 if not given; every run has a plan of its own
    #[arg(long, alias = "runs", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub times: Option<u32>,
    /// What the first plan is drawn from, 1 if not given; the next ones follow
    #[arg(long, value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Versions of ZooKeeper (`bookworm`, `trixie`) or images
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS", value_parser = values::zookeeper)]
    pub zookeeper: Vec<String>,
    /// tickTime in ms, syncLimit in ticks, session timeout in ms, each
    #[arg(long, value_delimiter = ',', value_name = "TICK/SYNC/SESSION", value_parser = values::timing)]
    pub timings: Vec<Timing>,
    /// Servers of the ensemble that vote: 1, 3 or 5, 3 if not given; acceptors of `consensus`: 3 to 7, 3,4,5,7 if not
    /// given
    #[arg(long, value_delimiter = ',', value_parser = values::nodes)]
    pub servers: Vec<usize>,
    /// Clients; 5 if not given
    #[arg(long, value_parser = values::clients)]
    pub clients: Option<usize>,
    /// Where to run: `docker`, a real ensemble, if not given; `sim`, a simulated one; `consensus` has `network` alone
    #[arg(long, value_name = "docker|sim", value_parser = values::on)]
    pub on: Option<On>,
    /// Only this part of the runs; what is compared with each other stays in one. `auto`: the part that GitLab's or
    /// Slurm's variables name, or ZOOQUAKE_SHARD=K/N; `zooquake merge` makes one comparison of the parts
    #[arg(long, value_name = "K/N|auto")]
    pub shard: Option<ShardChoice>,
    /// The comparison's folder
    #[arg(long, default_value = "compare", value_name = "DIR")]
    pub out: PathBuf,
    /// Run also what can only end unknown or invalid, because the time is too short for a fault
    #[arg(long)]
    pub anyway: bool,
    /// JSON on stdout: what is in compare.json
    #[arg(long)]
    pub json: bool,
}

/// Makes the comparison, or what is left of it, and reports.
///
/// # Errors
/// [`Usage`] for what does not exist or a folder of another comparison; otherwise the harness failed as a whole.
pub async fn compare(options: CompareOptions) -> Result<Code> {
    if decision::is_asked(&options) {
        return decision::compare(&options);
    }
    for variant in &options.variants {
        recipe::prepare(&setup::named(setup::family(&options), variant)).await?;
    }
    let setup = setup::setup(&options).map_err(Usage)?;
    if !options.anyway {
        refuse(&setup).map_err(Usage)?;
    }
    paths::output_folder(&options.out, "--out")?;
    let header = ComparisonHeader {
        format: 1,
        setup,
        shard: options.shard.map(ShardChoice::resolve).transpose()?,
        zooquake: version::FULL.to_string(),
        begun: calendar::now(),
    };
    // A record is begun only where an engine answers: without one there is no comparison.
    if !options.out.join(header.file()).exists() {
        header.setup.backend().connect_to(&[]).await?;
    }
    let mut ledger = ComparisonLedger::open(&options.out, header)?;
    let end = go_on(&mut ledger, &options.out).await?;
    let comparison = report::comparison(&ledger).map_err(Usage)?;
    let failed = comparison.runs.iter().filter(|run| run.verdict.is_none()).count();
    finish((&options.out, options.json), &ledger, &comparison)?;
    if end == CampaignEnd::Interrupted {
        let left = comparison.planned - comparison.runs.len() + failed;
        let planned = comparison.planned;
        eprintln!("stopped with {left} of {planned} runs to go: the same command goes on");
    }
    Ok(match (failed, end) {
        (0, CampaignEnd::Through | CampaignEnd::Interrupted) => Code::Valid,
        _ => {
            eprintln!("the harness failed in {failed} runs: the same command tries them again");
            Code::Harness
        }
    })
}

/// Refuses a comparison with runs that cannot end valid, and names them.
fn refuse(setup: &Setup) -> Result<(), String> {
    let specs = setup.resolve()?.specs();
    admission::refuse(&specs, || {
        let time = |enough| {
            let enough = values::whole_seconds(enough);
            format!("the shortest time that works for all of them is --time {enough}")
        };
        admission::enough_for_all_ms(specs.iter().map(|(_, spec)| spec.clone()))
            .map_or_else(|| "give --clients 2 or more".to_string(), time)
    })
}

async fn go_on(ledger: &mut ComparisonLedger, out: &Path) -> Result<CampaignEnd> {
    if left(ledger).is_empty() {
        return Ok(CampaignEnd::Through);
    }
    let interrupt = interrupt::listen()?;
    let setup = ledger.recorded.header.setup.clone();
    let place = setup.backend().connect_to(&[]).await?;
    let runs = out.join("runs");
    ensembles::clear(&*place, &runs, &ledger.runs(), "it is run again").await?;
    let asked = setup.subjects.iter().map(|subject| subject.zookeeper.as_deref());
    let runner = Ensembles::prepare(place, asked, runs, interrupt).await?;
    let setup = setup.resolve().map_err(Usage)?;
    runner
        .prepare_recipes(setup.specs().iter().map(|(_, spec)| spec))
        .await?;
    let turns = ledger.recorded.header.turns();
    let comparison = drive::Comparison { setup, runner };
    engine::drive(&comparison, &turns, ledger, DriveLimits::one_by_one()).await
}

/// Writes the report, and prints its summary.
///
/// # Errors
/// If a file cannot be written.
pub fn finish((out, json): (&Path, bool), ledger: &ComparisonLedger, comparison: &Comparison) -> Result<()> {
    let written = write_all(comparison, out)?;
    let mut value = serde_json::to_value(comparison).context("writing the comparison as JSON")?;
    value["summary"] = serde_json::json!(summary(comparison));
    // In the order of the runs.
    for (run, attempt) in value["runs"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .zip(last(ledger).values())
    {
        run["again"] = serde_json::json!(attempt.again);
    }
    value["order"] = serde_json::json!(ledger.recorded.header.turns());
    value["folder"] = serde_json::json!(out);
    write_json(&value, &out.join("compare.json"))?;
    if json {
        return crate::output::json(&value);
    }
    summary(comparison).iter().for_each(|line| println!("{line}"));
    written.iter().for_each(|path| println!("{}", path.display()));
    Ok(())
}

/// Writes what is compared as JSON for people.
fn write_json(value: &serde_json::Value, path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(value).context("writing the comparison as JSON")?;
    zooquake_reports::publish(path, format!("{text}\n")).with_context(|| format!("writing {}", path.display()))
}
