//! What the command line offers.

use super::check::CheckOptions;
use super::compare::CompareOptions;
use super::convert::ConvertOptions;
use super::explore::ExploreOptions;
use super::generate::GenerateOptions;
use super::measure::args::MeasureOptions;
use super::merge::MergeOptions;
use super::new::NewOptions;
use super::nightly::NightlyOptions;
use super::pack::PackOptions;
use super::replay::ReplayOptions;
use super::schema::SchemaOptions;
use super::selftest::SelftestOptions;
use super::shrink::ShrinkOptions;
use super::trial::TrialOptions;
use crate::planning::spec::RunSpec;
use crate::planning::values;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Shakes real ZooKeeper ensembles until the recipes built on them break, and proves it from the history.
#[derive(Debug, Parser)]
#[command(
    name = "zooquake",
    version = crate::version::FULL,
    arg_required_else_help = true,
    after_help = "\
Exit codes: 0 valid, 1 invalid, 2 unknown, 254 wrong usage, 255 the harness failed.

A project's defaults: zookeeper, timing, clients and out in .config/zooquake.toml, here or in a folder above.

Examples:
  zooquake run lock/predecessor                     the tutorial's lock, 60 s under all faults
  zooquake run lock/fenced --faults pause --seed 7  one kind of fault, a given plan
  zooquake new lock my-lock --language python       a recipe of your own, to begin with
  zooquake check runs/latest                        the verdict again, from what was recorded
  zooquake compare lock --faults pause,kill         which variant breaks, which is fastest
  zooquake explore lock/protected --budget 60s      thousands of simulated schedules
  zooquake measure herd                             what one change of leader costs, as a chart
  zooquake clean                                    remove what crashed runs left behind"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print no progress, only results, warnings and errors
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Print each step
    #[arg(long, short, global = true, help_heading = "Output")]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Families and variants with what they promise, faults, checkers, models of histories
    List(ListOptions),
    /// Write a folder with a recipe of your own that runs at once
    New(NewOptions),
    /// Hold a client against the protocol, in seconds: each sentence that it keeps or breaks
    Try(TrialOptions),
    /// Run a recipe under faults on a real ensemble, and check what was recorded
    Run(RunSpec),
    /// Run the plan of an earlier run again, its faults pinned to what was going on when they struck
    Replay(ReplayOptions),
    /// Play as many simulated schedules of a recipe as there is time for: rare failures in seconds, without Docker
    Explore(ExploreOptions),
    /// Find the smallest plan that still fails the same way as a run
    Shrink(ShrinkOptions),
    /// Try the suite itself: find bugs that are planted in recipes, and nothing in the same recipes without them
    Selftest(SelftestOptions),
    /// Make one file of a run, to attach to a ticket; `check`, `replay` and `report` take it
    Pack(PackOptions),
    /// Check what earlier runs recorded again, and other people's histories
    Check(CheckOptions),
    /// Compare variants, versions, timings or sizes under the same faults: safety, speed, cost
    Compare(CompareOptions),
    /// Run a matrix of variants, faults and seeds, and separate new anomalies from known ones
    Nightly(NightlyOptions),
    /// Make one night, comparison or corpus of the parts that several machines made
    Merge(MergeOptions),
    /// Convert a history between our JSON lines and Jepsen's EDN
    Convert(ConvertOptions),
    /// Make a history of a simulated object, valid or with a planted violation, to try checkers with
    Generate(GenerateOptions),
    /// Render the report of a run again, or the index of a folder of runs
    Report(ReportOptions),
    /// Prepare the images, or show where they come from
    Images(ImagesOptions),
    /// Remove what crashed runs left behind: containers, networks, volumes; runs that go on are left alone
    Clean(CleanOptions),
    /// Measure what recipes cost without faults: the herd of an election, the messages of a commit
    Measure(MeasureOptions),
    /// Print the JSON Schema of a file that zooquake writes
    Schema(SchemaOptions),
    /// Print what makes a shell complete our commands and options
    Completions(CompletionsOptions),
    /// Write the manual pages into a folder
    Man(ManOptions),
    /// The client program, started in a container
    #[command(hide = true)]
    Client,
    /// Many clients in one process, started in a container
    #[command(hide = true)]
    Crowd,
    /// The program of a sidecar, started in a container
    #[command(hide = true)]
    Sidecar,
    /// Remove the network rules of a sidecar's host and continue its stopped processes; reports whether there were any
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
        /// Its history.
        history: Option<PathBuf>,
        /// Addresses of its hosts, if it is over several.
        #[arg(long = "host")]
        hosts: Vec<String>,
    },
}

impl Command {
    /// Whether people give it, rather than zooquake itself.
    pub fn is_of_users(&self) -> bool {
        !matches!(
            self,
            Self::Client | Self::Crowd | Self::Sidecar | Self::HealHost | Self::Lease | Self::Watch { .. }
        )
    }
}

/// `list`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake list
  zooquake list --json
  zooquake list --models")]
pub struct ListOptions {
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
    /// The models of histories alone, a line for each name: what --model takes, `generated` (or `checked` if `generate`
    /// does not take it), and what it is
    #[arg(long, conflicts_with = "json")]
    pub models: bool,
}

/// `report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake report runs/latest
  zooquake report failure.zooquake.tar.gz     into a folder of the run's name, here
  zooquake report runs/first runs/second      what differs between two runs
  zooquake report runs                        an index of the runs
  zooquake report nights                      what failed in which night, since when and how often")]
pub struct ReportOptions {
    /// A run's folder, or the file that `zooquake pack` made of it; a second one, beside which the first is shown, with
    /// what differs in their plans, verdicts, faults and times (difference.html, where the report of the second would
    /// be). A folder of runs: their index. A folder of nights, or several folders of nights: what failed in which of
    /// them (nights.html, in the folder of nights, else here)
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
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
  zooquake images --client
  zooquake images --remove")]
pub struct ImagesOptions {
    /// Remove the images that zooquake built instead
    #[arg(long)]
    pub remove: bool,
    /// Prepare the Chromium that zooquake's own tests open reports in instead; no run needs it
    #[arg(long, conflicts_with_all = ["remove", "zookeeper"])]
    pub chromium: bool,
    /// Prepare the base of clients of your own recipes instead, on which `FROM zooquake-client` builds; runs of them do
    /// so too
    #[arg(long, conflicts_with_all = ["remove", "zookeeper", "chromium"])]
    pub client: bool,
    /// `bookworm` (ZooKeeper 3.8.0, the default), `trixie` (3.9.3), or an image with the conventions of the official
    /// one
    #[arg(long, alias = "zookeeper-image", value_name = "VERSION|IMAGE", value_parser = values::zookeeper)]
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
  zooquake clean --hosts unix:///run/a.sock,ssh://me@b       of runs over several hosts
  zooquake clean --json")]
pub struct CleanOptions {
    /// Remove only this run, by its id (the label `zooquake.run` of its containers)
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Only print what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Docker engines that runs over several hosts left something on, as in `run --hosts`; the usual engine if not
    /// given
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',', value_parser = values::host)]
    pub hosts: Vec<String>,
    /// Remove runs that are going on as well
    #[arg(long)]
    pub force: bool,
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake completions bash > ~/.local/share/bash-completion/completions/zooquake
  zooquake completions fish > ~/.config/fish/completions/zooquake.fish")]
pub struct CompletionsOptions {
    /// Which shell
    pub shell: clap_complete::Shell,
}

/// `man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake man ~/.local/share/man/man1 && man zooquake-run")]
pub struct ManOptions {
    /// Folder of the pages; made if it is not there
    pub folder: PathBuf,
}
