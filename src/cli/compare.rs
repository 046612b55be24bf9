//! `zooquake compare`

use super::exit::{Code, Usage};
use super::{interrupt, paths};
use crate::backends;
use crate::calendar;
use crate::campaign::engine::{self, CampaignEnd, TimeBudget};
use crate::campaign::ensembles::{self, Ensembles};
use crate::campaign::ledger::CampaignHeader as _;
use crate::compare::drive::{self, ComparisonHeader, ComparisonLedger, last, left};
use crate::compare::order::turns;
use crate::compare::report;
use crate::compare::setup::{Setup, Subject};
use crate::planning::drawing;
use crate::planning::names;
use crate::planning::recipe;
use crate::planning::refusal;
use crate::planning::spec;
use crate::planning::values;
use anyhow::{Context, Result};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_history::plan::{On, Timing, Workload};
use zooquake_reports::compare::{Comparison, summary, write_all};

/// `compare`
#[derive(Debug, Args)]
#[command(after_help = "\
What is given several times separated by commas is compared: variants, versions of ZooKeeper, timings, sizes. All of them
run the same plans, interleaved. The folder gets compare.html, compare.png, compare.md (a table for a README), compare.json and
a folder for each run. The same command again goes on where it was stopped; runs in which the harness failed are tried again.

Exit codes: 0 the comparison was made, whatever it found; 254 wrong usage; 255 the harness failed in a run, or as a whole.

Examples:
  zooquake compare lock --faults pause,partition,kill,drop-reply --time 20s --times 2
  zooquake compare lock --variants predecessor,protected,fenced --faults pause,partition --times 5
  zooquake compare election --faults none,kill+partition
  zooquake compare lock --variants fenced --zookeeper bookworm,trixie --faults partition
  zooquake compare lock --variants protected --timings 250/4/2000,500/4/1000 --faults partition
  zooquake compare commit --variants broadcast,coordinated --servers 3,5 --faults none")]
pub struct CompareOptions {
    /// Family whose variants are compared: lock, rwlock, election, semaphore, barrier, queue, commit, register or
    /// counter
    pub family: String,
    /// Its variants, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "VARIANTS")]
    pub variants: Vec<String>,
    /// Faults, each for runs of its own; `+` joins several into one, `none` is none
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "pause,partition",
        value_name = "FAULTS"
    )]
    pub faults: Vec<String>,
    /// How long operations and faults go on in each run
    #[arg(long, default_value = "20s", value_parser = values::duration)]
    pub time: Duration,
    /// How often to run each subject under each kind of faults; every run has a plan of its own
    #[arg(long, alias = "runs", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub times: u32,
    /// What the first plan is drawn from; the next ones follow
    #[arg(long, default_value_t = 1, value_parser = values::seed)]
    pub seed: u64,
    /// Versions of ZooKeeper (`bookworm`, `trixie`) or images
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS", value_parser = values::zookeeper)]
    pub zookeeper: Vec<String>,
    /// tickTime in ms, syncLimit in ticks, session timeout in ms, each
    #[arg(long, value_delimiter = ',', value_name = "TICK/SYNC/SESSION", value_parser = values::timing)]
    pub timings: Vec<Timing>,
    /// Servers of the ensemble that vote: 1, 3 or 5; 3 if not given
    #[arg(long, value_delimiter = ',', value_parser = values::servers)]
    pub servers: Vec<usize>,
    /// Clients
    #[arg(long, default_value_t = spec::CLIENTS, value_parser = values::clients)]
    pub clients: usize,
    /// Where to run: `docker`, a real ensemble, or `sim`, a simulated one
    #[arg(long, default_value = "docker", value_name = "docker|sim", value_parser = values::on)]
    pub on: On,
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
    for variant in &options.variants {
        recipe::prepare(&named(family(&options), variant)).await?;
    }
    let setup = setup(&options).map_err(Usage)?;
    if !options.anyway {
        refuse(&setup).map_err(Usage)?;
    }
    paths::output_folder(&options.out, "--out")?;
    let header = ComparisonHeader {
        format: 1,
        setup,
        begun: calendar::now(),
    };
    // A record is begun only where an engine answers: without one there is no comparison.
    if !options.out.join(header.file()).exists() {
        backends::connect(options.on).await?;
    }
    let mut ledger = ComparisonLedger::open(&options.out, header)?;
    let end = go_on(&mut ledger, &options.out).await?;
    let comparison = report::comparison(&ledger).map_err(Usage)?;
    let failed = comparison.runs.iter().filter(|run| run.verdict.is_none()).count();
    finish(&options, &ledger, &comparison)?;
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
    let specs = setup.specs()?;
    refusal::refuse(&specs, || {
        let time = |enough| {
            let enough = values::whole_seconds(enough);
            format!("the shortest time that works for all of them is --time {enough}")
        };
        let enough = refusal::enough_ms(specs.iter().map(|(_, spec)| spec.clone()));
        enough.map_or_else(|| "give --clients 2 or more".to_string(), time)
    })
}

fn family(options: &CompareOptions) -> &str {
    options.family.trim_end_matches('/')
}

/// The whole name of a variant that may be given without its family, or the path of a recipe's folder.
fn named(family: &str, variant: &str) -> String {
    let whole = match variant.split_once('/') {
        Some((before, _)) if before == family => variant.to_string(),
        _ => format!("{family}/{variant}"),
    };
    match names::built_in(&whole).is_none() && recipe::is_path(variant) {
        true => variant.to_string(),
        false => whole,
    }
}

/// What the options ask for.
fn setup(options: &CompareOptions) -> Result<Setup, String> {
    let family = family(options);
    let prefix = format!("{family}/");
    let known: Vec<String> = names::variants();
    let of_family: Vec<&str> = known.iter().filter_map(|name| name.strip_prefix(&prefix)).collect();
    if of_family.is_empty() {
        let families: BTreeSet<&str> = known.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        let families: Vec<String> = families.into_iter().map(String::from).collect();
        return Err(names::unknown("family", family, &families));
    }
    let variants: Vec<&str> = match options.variants.is_empty() {
        true => of_family,
        false => options.variants.iter().map(String::as_str).collect(),
    };
    let faults: Result<Vec<String>, String> = options.faults.iter().map(|list| joined(list)).collect();
    let workloads: Result<Vec<Workload>, String> = variants
        .iter()
        .map(|variant| names::workload(&named(family, variant)))
        .collect();
    let workloads = workloads?;
    // A former name may be that of a variant that has moved to another family.
    let family = workloads[0].family.clone();
    if let Some(other) = workloads.iter().find(|other| other.family != family) {
        let names = (workloads[0].name(), other.name());
        return Err(format!(
            "{} and {} cannot be compared: give variants of one family",
            names.0, names.1
        ));
    }
    let mut subjects = Vec::new();
    for workload in workloads {
        for zookeeper in one_at_least(&options.zookeeper) {
            for timing in one_at_least(&options.timings) {
                for servers in one_at_least(&options.servers) {
                    subjects.push(Subject {
                        variant: workload.variant.clone(),
                        folder: workload.recipe.as_ref().map(|recipe| recipe.folder.clone()),
                        zookeeper: zookeeper.cloned(),
                        timing: timing.copied().unwrap_or_else(|| drawing::timing(&workload)),
                        servers: servers.copied().unwrap_or(spec::SERVERS),
                    });
                }
            }
        }
    }
    let seeds = (0..u64::from(options.times)).map(|round| options.seed.wrapping_add(round));
    let setup = Setup {
        family,
        subjects,
        faults: faults?,
        seeds: seeds.collect(),
        time_ms: options.time.as_millis() as u64,
        clients: options.clients,
        on: options.on,
    };
    setup.check()?;
    Ok(setup)
}

/// Kinds of fault joined by `+`, or `none`.
fn joined(list: &str) -> Result<String, String> {
    let kinds = names::faults(&list.replace('+', ","))?;
    Ok(match kinds.is_empty() {
        true => "none".to_string(),
        false => kinds.join("+"),
    })
}

/// The values given, or that none was.
fn one_at_least<T>(values: &[T]) -> Vec<Option<&T>> {
    match values.is_empty() {
        true => vec![None],
        false => values.iter().map(Some).collect(),
    }
}

async fn go_on(ledger: &mut ComparisonLedger, out: &Path) -> Result<CampaignEnd> {
    if left(ledger).is_empty() {
        return Ok(CampaignEnd::Through);
    }
    let interrupt = interrupt::listen()?;
    let place = backends::connect(ledger.recorded.header.setup.on).await?;
    let runs = out.join("runs");
    ensembles::clear(&*place, &runs, &ledger.runs(), "it is run again").await?;
    let setup = ledger.recorded.header.setup.clone();
    let asked = setup.subjects.iter().map(|subject| subject.zookeeper.as_deref());
    let runner = Ensembles::prepare(place, asked, runs, interrupt).await?;
    let specs = setup.specs().map_err(Usage)?;
    runner.prepare_recipes(specs.iter().map(|(_, spec)| spec)).await?;
    let turns = turns(&setup);
    let mut comparison = drive::Comparison { setup, runner };
    engine::drive(&mut comparison, &turns, ledger, TimeBudget::new(None)).await
}

/// Writes the report, and prints its summary.
fn finish(options: &CompareOptions, ledger: &ComparisonLedger, comparison: &Comparison) -> Result<()> {
    let written = write_all(comparison, &options.out)?;
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
    value["order"] = serde_json::json!(turns(&ledger.recorded.header.setup));
    value["folder"] = serde_json::json!(options.out);
    let text = serde_json::to_string_pretty(&value).context("writing the comparison as JSON")?;
    let path = options.out.join("compare.json");
    zooquake_reports::publish(&path, format!("{text}\n")).with_context(|| format!("writing {}", path.display()))?;
    if options.json {
        return crate::output::json(&value);
    }
    summary(comparison).iter().for_each(|line| println!("{line}"));
    written.iter().for_each(|path| println!("{}", path.display()));
    Ok(())
}
