//! What the command line offers for `measure`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `measure`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake measure herd
  zooquake measure herd --candidates 5,10 --changes 5 --json
  zooquake measure herd --variants lock/children,lock/predecessor --out locks
  zooquake measure commit --sites 3,5,9 --stagger 0
  zooquake measure channel
  zooquake measure clients --clients 5,20,50 --servers 5")]
pub struct MeasureOptions {
    /// What to measure.
    #[command(subcommand)]
    pub what: Measurement,
}

/// What there is to measure.
#[derive(Debug, Subcommand)]
pub enum Measurement {
    /// Requests and watch events for each change of leader, against the number of candidates
    Herd(HerdOptions),
    /// Requests, watch events and time for each two-phase commit, against the number of sites
    Commit(CommitOptions),
    /// Round trips a second through the control channel of one client
    Channel(ChannelOptions),
    /// Bring-up, round trips, recorded events and removal, against the number of clients
    Clients(ClientsOptions),
}

/// `measure herd`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake measure herd
  zooquake measure herd --variants lock/children,lock/predecessor --candidates 5,10 --out locks")]
pub struct HerdOptions {
    /// Elections or locks, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "election/ticket,election/ephemeral,election/sequential"
    )]
    pub variants: Vec<String>,
    /// Numbers of candidates, each a session of its own, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "5,20,50", value_parser = clap::value_parser!(u16).range(2..=200))]
    pub candidates: Vec<u16>,
    /// Changes of leader to measure at each number
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub changes: u16,
    #[command(flatten)]
    pub common: ChartOptions,
}

/// `measure commit`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake measure commit
  zooquake measure commit --sites 3,5,9 --stagger 0")]
pub struct CommitOptions {
    /// Variants of two-phase commit, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "commit/broadcast,commit/coordinated,commit/ephemeral,commit/atomic"
    )]
    pub variants: Vec<String>,
    /// Numbers of sites, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "3,5,9", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub sites: Vec<u16>,
    /// Transactions to measure at each number; every site votes yes
    #[arg(long, default_value_t = 31, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub transactions: u16,
    /// How much longer each site works before it votes than the one before it, in milliseconds
    #[arg(long, default_value_t = 15, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=1_000))]
    pub stagger: u64,
    #[command(flatten)]
    pub common: ChartOptions,
}

/// What the charts have in common.
#[derive(Debug, Args)]
pub struct ChartOptions {
    /// Servers of the ensemble: 1, 3 or 5
    #[arg(long, default_value_t = 3, value_parser = crate::planning::values::servers)]
    pub servers: usize,
    /// Folder for chart, page and numbers
    #[arg(long, default_value = "measurements", value_name = "DIR")]
    pub out: PathBuf,
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `measure channel`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake measure channel
  zooquake measure channel ./my-lock
  zooquake measure channel --requests 100000 --json")]
pub struct ChannelOptions {
    /// The variant of the client, or the folder of a recipe
    #[arg(default_value = super::ANY)]
    pub variant: String,
    /// How many requests
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: u64,
    /// JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `measure clients`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake measure clients
  zooquake measure clients --clients 5,20 --seconds 3 --json
  zooquake measure clients --hosts unix:///run/a.sock,ssh://me@b --servers 5 --out two-engines")]
pub struct ClientsOptions {
    /// Numbers of clients, each a container of its own, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "5,20,35,50", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub clients: Vec<u16>,
    /// How long all clients are asked at each number, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// Docker engines of one Swarm over which servers and clients are spread, as in `run --hosts`; the usual engine if
    /// not given
    #[arg(long, value_delimiter = ',', value_name = "HOST,HOST", value_parser = crate::planning::values::host)]
    pub hosts: Vec<String>,
    #[command(flatten)]
    pub common: ChartOptions,
}
