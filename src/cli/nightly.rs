//! `zooquake nightly`

use super::exit::{Code, Usage};
use super::paths::OutputKind;
use super::shard::ShardChoice;
use super::{campaign, interrupt, paths};
use crate::campaign::engine::{self, CampaignEnd, DriveLimits, TimeBudget};
use crate::campaign::ensembles::{self, Ensembles};
use crate::nightly::campaign::Campaign;
use crate::nightly::cell::Cell;
use crate::nightly::drive::{self, needed};
use crate::nightly::folder::{self, LedgerContent, NightLedger};
use crate::nightly::header::{self, NightHeader};
use crate::nightly::previous_nights::{self, NightRecord};
use crate::nightly::{conclusion, jobs, report, retention};
use crate::planning::spec::RunSpec;
use crate::planning::{admission, recipe, values};
use crate::run::folder::Folder;
use crate::{calendar, version};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_backend::files;
use zooquake_history::plan::On;
use zooquake_reports::night::{self, CellOutcome, Night};

/// The folder of nights unless the command line names another one.
const NIGHTS: &str = "nights";

/// `nightly`
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all as expected, 1 an anomaly, 2 a cell still unknown or too few cells run, 254 wrong usage, 255 the harness
failed.

Examples:
  zooquake nightly                                       a variant of each family under each of six faults
  zooquake nightly campaign.toml --budget 90m --junit junit.xml
  zooquake nightly campaign.toml --shard 2/4 --out nights/today-2
  zooquake nightly --on sim                              the same on simulated ensembles, in virtual time
  zooquake nightly --jobs 2                              two real ensembles at once, where there is room for them
  zooquake nightly                                       again after a crash: it goes on where it was")]
pub struct NightlyOptions {
    /// Variants, faults, seeds and more, in TOML; a built-in campaign if not given
    pub campaign: Option<PathBuf>,
    /// Only this part of the matrix; a cell is always in the same one. `auto`: the part that GitLab's or Slurm's
    /// variables name, or ZOOQUAKE_SHARD=K/N; `zooquake merge` makes one night of the parts
    #[arg(long, value_name = "K/N|auto")]
    pub shard: Option<ShardChoice>,
    /// Where to run: `docker`, a real ensemble, or `sim`, a simulated one; what the campaign states, or else docker, if
    /// not given
    #[arg(long, value_name = "docker|sim", value_parser = values::on)]
    pub on: Option<On>,
    /// Most cells that are run at once, where there are processors and memory for them; one, or of simulated cells as
    /// many as there are processors, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// No run is begun that would end later than this after the start, such as 90m
    #[arg(long, value_parser = values::duration)]
    pub budget: Option<Duration>,
    /// The share of the cells of this part that must be run at least, from 0 to 1: with fewer the exit code is 2. 0.5
    /// if not given, or what the night began with
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub require: Option<f64>,
    /// The date that new seeds are drawn from (`seeds = { count = 4, from = "date" }`), such as 2026-11-27, in UTC:
    /// give all parts of a night the same. That on which the night begins if not given
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = calendar::day)]
    pub date: Option<String>,
    /// The night's folder; nights beside it are what it is compared with. nights/DATE if not given
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the JUnit file also here
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Run also cells whose verdict can only be unknown or invalid, because the time is too short for a fault
    #[arg(long)]
    pub anyway: bool,
    /// JSON on stdout: cells, failures, remarks, trends, and the folder
    #[arg(long)]
    pub json: bool,
}

/// Runs the night, or what is left of it, and reports.
///
/// # Errors
/// [`Usage`] for a campaign that makes no sense or a folder of another one; otherwise the harness failed as a whole.
pub async fn nightly(options: NightlyOptions) -> Result<Code> {
    let budget = TimeBudget::new(options.budget);
    let mut campaign = read_campaign(options.campaign.as_deref()).await?;
    campaign.on = options.on.unwrap_or(campaign.on);
    let shard = options.shard.map(ShardChoice::resolve).transpose()?;
    let header = NightHeader {
        format: header::FORMAT,
        zooquake: version::NUMBER.to_string(),
        commit: version::COMMIT.map(String::from),
        checkout: header::checkout(),
        campaign,
        shard: shard.map(|shard| shard.to_string()),
        date: options.date.clone(),
        begun: calendar::now(),
        require: options.require.unwrap_or(conclusion::REQUIRE),
    };
    if !options.anyway {
        refuse(&header).map_err(Usage)?;
    }
    paths::output_folder(options.out.as_deref().unwrap_or(Path::new(NIGHTS)), "--out")?;
    if let Some(junit) = &options.junit {
        let way_out = "give another --junit FILE";
        paths::output_file_in_new_folder(junit, way_out)?;
        paths::replaceable(junit, OutputKind::Junit, &[], way_out)?;
    }
    let path = match &options.out {
        Some(out) => out.clone(),
        None => folder::choose(Path::new(NIGHTS), &header)?,
    };
    // Before there is a folder: without an engine there is no night.
    let interrupt = interrupt::listen()?;
    let place = header.campaign.backend().connect_to(&[]).await?;
    let mut ledger = NightLedger::open(&path, header)?;
    let mut header = ledger.recorded.header.clone();
    header.require = options.require.unwrap_or(header.require);
    let earlier = previous_nights::earlier(&path, &header)?;
    let runs = path.join("runs");
    ensembles::clear(&*place, &runs, &ledger.runs(), "its cell is run again").await?;
    let campaign = &header.campaign;
    let seeds = campaign.seeds.seeds(header.date());
    let order = previous_nights::order(header.cells(), &seeds, |cell| previous_nights::last(&earlier, cell));
    let end = match order.iter().any(|cell| needed(campaign, cell, &ledger).is_some()) {
        false => CampaignEnd::Through,
        true => {
            let runner =
                Ensembles::prepare(place, [campaign.cluster.image.as_deref()], runs.clone(), interrupt).await?;
            let specs: Vec<RunSpec> = order.iter().map(|cell| campaign.spec(cell, cell.seed)).collect();
            runner.prepare_recipes(&specs).await?;
            let count = jobs::count(options.jobs, campaign, runner.capacity().await?);
            if let Some(why) = count.why {
                progress!("{why}");
            }
            let jobs = count.jobs;
            let going_on = drive::Night {
                campaign,
                earlier: &earlier,
                runner: runner.for_jobs(jobs),
            };
            engine::drive(&going_on, &order, &mut ledger, DriveLimits { budget, jobs }).await?
        }
    };
    if end == CampaignEnd::Through && !ledger.recorded.closed {
        ledger.close()?;
    }
    compact_known(&ledger.recorded, &runs)?;
    let tonight = NightRecord::new(folder::name_of(&path), &ledger.recorded);
    let report = report::night_report(&header, &tonight, &earlier, end, vec![]);
    finish(options.junit.as_deref(), options.json, &path, &report)
}

/// The campaign in the file, or the built-in one.
async fn read_campaign(file: Option<&Path>) -> Result<Campaign> {
    let (text, called, shown) = match file {
        None => (
            campaign::EXAMPLE.to_string(),
            "nightly".to_string(),
            "the built-in campaign".to_string(),
        ),
        Some(path) => {
            let way_out = "give a campaign in TOML, or none for the built-in one";
            paths::file(path, way_out)?;
            let text = files::read_to_string(path, files::SETTINGS)
                .map_err(|error| Usage(format!("reading the campaign {path:?}: {error}: {way_out}")))?;
            let called = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            (text, called.unwrap_or_default(), path.display().to_string())
        }
    };
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    for recipe in campaign::recipes(&text, folder) {
        recipe::prepare(&recipe).await?;
    }
    campaign::read(&text, &called, folder).map_err(|why| Usage(format!("{shown}: {why}")).into())
}

/// Refuses a night with cells that cannot end valid, and names them.
fn refuse(header: &NightHeader) -> Result<(), String> {
    let campaign = &header.campaign;
    let cells = header.cells();
    let named = |cell: &Cell| (cell.to_string(), campaign.spec(cell, cell.seed));
    let named: Vec<(String, RunSpec)> = cells.iter().map(named).collect();
    admission::refuse(&named, || {
        // Also with the seeds with which unknown cells are run again.
        let again = cells
            .iter()
            .map(|cell| campaign.spec(cell, campaign.next_seed(cell.seed, header.date())));
        match admission::enough_for_all_ms(named.iter().map(|(_, spec)| spec.clone()).chain(again)) {
            Some(enough) => {
                let enough = values::whole_seconds(enough);
                format!("give the campaign `time = \"{enough}\"`, the shortest that works for all of its cells")
            }
            None => "give the campaign `clients = 2` or more".to_string(),
        }
    })
}

fn compact_known(recorded: &LedgerContent, runs: &Path) -> Result<()> {
    for attempt in &recorded.attempts {
        if let (CellOutcome::Expected, Some(run)) = (attempt.outcome(), &attempt.run) {
            let path = runs.join(run);
            // Somebody may have removed it to make room.
            if path.is_dir() {
                retention::compact(&Folder { path })?;
            }
        }
    }
    Ok(())
}

/// Writes the report, prints its conclusion, and returns the exit code.
///
/// # Errors
/// If a file cannot be written.
pub fn finish(junit: Option<&Path>, json: bool, path: &Path, report: &Night) -> Result<Code> {
    night::write_all(report, path)?;
    if let Some(file) = junit {
        let doing = || format!("writing {}", file.display());
        if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).with_context(doing)?;
        }
        zooquake_reports::publish(file, night::junit(report)?).with_context(doing)?;
    }
    if json {
        let mut value = serde_json::to_value(report).context("writing the night as JSON")?;
        value["night"] = serde_json::json!(path);
        crate::output::json(&value)?;
    } else {
        print(path, report);
    }
    Ok(match report.code {
        0 => Code::Valid,
        1 => Code::Invalid,
        2 => Code::Unknown,
        _ => Code::Harness,
    })
}

fn print(path: &Path, report: &Night) {
    report.remarks.iter().for_each(|remark| println!("remark: {remark}"));
    println!("report: {}", path.join("index.html").display());
    report.conclusion.iter().for_each(|line| println!("{line}"));
    if !report.failures.is_empty() {
        println!("to reproduce:");
        report
            .failures
            .iter()
            .for_each(|failure| println!("  {}", failure.again));
    }
    println!("exit code {}", report.code);
}
