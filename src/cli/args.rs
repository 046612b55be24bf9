//! What the command line offers.

use super::check::CheckOptions;
use super::compare::CompareOptions;
use super::convert::ConvertOptions;
use super::measure::args::MeasureOptions;
use super::nightly::NightlyOptions;
use super::pack::PackOptions;
use super::replay::ReplayOptions;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use zooquake_checkers::plan::Timing;

/// Shakes real ZooKeeper ensembles until the recipes built on them break, and proves it from the history.
#[derive(Debug, Parser)]
#[command(
    name = "zooquake",
    version,
    arg_required_else_help = true,
    after_help = "\
Exit codes: 0 valid, 1 invalid, 2 unknown, 254 wrong usage, 255 the harness failed.

Examples:
  zooquake run lock/predecessor                     the tutorial's lock, 60 s under all faults
  zooquake run lock/fenced --faults pause --seed 7  one kind of fault, a given plan
  zooquake check runs/latest                        the verdict again, from what was recorded
  zooquake compare lock --faults pause,kill         which variant breaks, which is fastest
  zooquake measure herd                             what one change of leader costs, as a chart
  zooquake clean                                    remove whatever crashed runs left behind"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Families and variants with what they promise, faults, checkers
    List(ListOptions),
    /// Run a recipe under faults on a real ensemble, and check what was recorded
    Run(RunOptions),
    /// Run the plan of an earlier run again, its faults tied to what was going on when they struck
    Replay(ReplayOptions),
    /// Make one file of a run, to attach to a ticket; `check`, `replay` and `report` take it
    Pack(PackOptions),
    /// Check what earlier runs recorded again, and other people's histories
    Check(CheckOptions),
    /// Compare variants, versions, timings or sizes under the same faults: safety, speed, cost
    Compare(CompareOptions),
    /// Run a matrix of variants, faults and seeds, and tell news from what is known
    Nightly(NightlyOptions),
    /// Convert a history between our JSON lines and Jepsen's EDN
    Convert(ConvertOptions),
    /// Render the report of a run again, or the index of a folder of runs
    Report(ReportOptions),
    /// Prepare the images, or show where they come from
    Images(ImagesOptions),
    /// Remove whatever crashed runs left behind: containers, networks, volumes; runs that go on are left alone
    Clean(CleanOptions),
    /// Measure what recipes cost without faults: the herd of an election, the messages of a commit
    Measure(MeasureOptions),
    /// The client program, started in a container
    #[command(hide = true)]
    Client,
    /// Many clients in one process, started in a container
    #[command(hide = true)]
    Crowd,
    /// The program of a sidecar, started in a container
    #[command(hide = true)]
    Sidecar,
    /// Remove the network rules of a sidecar's host and continue its stopped processes; says so if there were any
    #[command(hide = true)]
    HealHost,
    /// Run until stdin ends, or nothing comes for a minute
    #[command(hide = true)]
    Lease,
    /// Wait for the end of stdin, then heal what is left of a run
    #[command(hide = true)]
    Watch {
        /// Id of the run.
        run: String,
    },
}

/// `list`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake list
  zooquake list --json")]
pub struct ListOptions {
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake run lock/predecessor
  zooquake run lock/fenced --faults kill,pause --time 30s --seed 7
  zooquake run lock/protected --timing 500/4/1000 --faults partition
  zooquake run ensemble/textbook
  zooquake run lock/crate --faults none --times 3 --json
  zooquake run lock/children --zookeeper zookeeper:3.9 --keep
  zooquake run lock/fenced --servers 5 --observers 1 --zookeeper trixie
  zooquake run lock/fenced --faults pause --time 3s --anyway     though no pause fits into 3 s")]
pub struct RunOptions {
    /// Family and variant, such as lock/predecessor; `zooquake list` shows all
    pub workload: String,
    /// Kinds of fault, separated by commas, or `none`; kill,pause,partition if not given
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<String>,
    /// How long operations and faults go on, such as 60s, 2m or 500ms
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub time: Duration,
    /// What every random choice is drawn from; a random one if not given
    #[arg(long)]
    pub seed: Option<u64>,
    /// Where to run: a Docker engine
    #[arg(long, default_value = "docker", value_parser = ["docker"])]
    pub on: String,
    /// How often to run the plan
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub times: u32,
    /// Servers of the ensemble that vote: 1, 3 or 5; 3 if not given
    #[arg(long, value_parser = servers)]
    pub servers: Option<usize>,
    /// Servers beside them that only observe, named after them; none if not given
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub observers: Option<u8>,
    /// Clients
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub clients: u16,
    /// tickTime in ms, syncLimit in ticks, session timeout in ms; 250/4/2000 if not given, 250/4/5000 for registers
    #[arg(long, value_name = "TICK/SYNC/SESSION", value_parser = timing)]
    pub timing: Option<Timing>,
    /// `bookworm` (ZooKeeper 3.8.0, the default), `trixie` (3.9.3), or an image with the conventions of the official one,
    /// used unmodified
    #[arg(long, alias = "zookeeper-image", value_name = "VERSION|IMAGE")]
    pub zookeeper: Option<String>,
    /// Folder of the runs
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Leave the ensemble standing at the end, and say how to reach it
    #[arg(long)]
    pub keep: bool,
    /// Run also a plan whose verdict can only be unknown or invalid, because the time is too short for a fault
    #[arg(long)]
    pub anyway: bool,
    /// JSON on stdout: results.json and the folder
    #[arg(long)]
    pub json: bool,
}

/// `report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake report runs/latest
  zooquake report failure.zooquake.tar.gz     into a folder of the run's name, here
  zooquake report runs                        an index of the runs")]
pub struct ReportOptions {
    /// The run's folder, or the file that `zooquake pack` made of it; of a folder of runs, their index is written
    pub run: PathBuf,
    /// JSON on stdout: the files written
    #[arg(long)]
    pub json: bool,
}

/// `images`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake images
  zooquake images --zookeeper trixie
  zooquake images --remove")]
pub struct ImagesOptions {
    /// Remove the images that zooquake built instead
    #[arg(long)]
    pub remove: bool,
    /// Prepare the Chromium that zooquake's own tests open reports in instead; no run needs it
    #[arg(long, conflicts_with_all = ["remove", "zookeeper"])]
    pub chromium: bool,
    /// `bookworm` (ZooKeeper 3.8.0, the default), `trixie` (3.9.3), or an image with the conventions of the official one
    #[arg(long, alias = "zookeeper-image", value_name = "VERSION|IMAGE")]
    pub zookeeper: Option<String>,
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `clean`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake clean
  zooquake clean --json")]
pub struct CleanOptions {
    /// Remove only this run, by its id (the label `zooquake.run` of its containers)
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Remove runs that are going on as well
    #[arg(long)]
    pub force: bool,
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// A length of time such as `60s`, `2m`, `500ms`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no length of time such as 60s, 2m or 500ms"))?;
    let milliseconds = match unit {
        "ms" => number,
        "s" | "" => number * 1000,
        "m" => number * 60_000,
        _ => return Err(format!("`{text}` ends in neither ms, s nor m")),
    };
    if !(1000..=24 * 3_600_000).contains(&milliseconds) {
        return Err("give between one second and a day".to_string());
    }
    Ok(Duration::from_millis(milliseconds))
}

/// Servers of an ensemble.
pub fn servers(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "5" => Ok(5),
        _ => Err("an ensemble has 1, 3 or 5 servers".to_string()),
    }
}

/// The clocks of an ensemble, as tickTime/syncLimit/session timeout.
pub fn timing(text: &str) -> Result<Timing, String> {
    let numbers: Vec<u64> = text.split('/').map_while(|part| part.parse().ok()).collect();
    let &[tick_ms, sync_limit, session_ms] = numbers.as_slice() else {
        return Err("give tickTime/syncLimit/session timeout, such as 250/4/2000".to_string());
    };
    if !(50..=10_000).contains(&tick_ms) || !(1..=100).contains(&sync_limit) {
        return Err("tickTime is 50 to 10000 ms, syncLimit 1 to 100 ticks".to_string());
    }
    // ZooKeeper negotiates the timeout into this range, so another one would be a lie in the plan.
    if !(2 * tick_ms..=20 * tick_ms).contains(&session_ms) {
        return Err(format!(
            "the session timeout must be 2 to 20 ticks: {} to {} ms",
            2 * tick_ms,
            20 * tick_ms
        ));
    }
    Ok(Timing {
        tick_ms,
        sync_limit,
        session_ms,
        ..Timing::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_of_time() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert!(duration("5h").is_err());
        assert!(duration("0s").is_err());
        assert!(duration("x").is_err());
    }

    #[test]
    fn reads_timings() {
        let hazard = timing("500/4/1000").unwrap();
        assert!(hazard.hazardous());
        assert!(!timing("250/4/2000").unwrap().hazardous());
        assert!(timing("250/4/400").unwrap_err().contains("500 to 5000"));
        assert!(timing("250/4").is_err());
    }
}
