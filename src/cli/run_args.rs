//! The options of `zooquake run`, as clap reads them.

use crate::planning::placement::PlacedNode;
use crate::planning::spec::RunSpec;
use crate::planning::values;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use std::path::PathBuf;
use std::time::Duration;
use zooquake_history::plan::{DrawnFor, On, Timing};

/// `run`
#[derive(Args)]
#[command(after_help = "\
Examples:
  zooquake run lock/predecessor
  zooquake run lock/fenced --faults kill,pause --time 30s --seed 7
  zooquake run ./my-lock --faults pause                          a recipe of your own; `zooquake new` makes one
  zooquake run lock/protected --timing 500/4/1000 --faults partition
  zooquake run ensemble/textbook
  zooquake run consensus/paxos --faults kill,partition,loss     a protocol of the textbooks, on a simulated network
  zooquake run lock/protected --on sim                           on a simulated ensemble, in virtual time, without Docker
  zooquake run lock/crate --faults none --times 3 --json
  zooquake run lock/children --zookeeper zookeeper:3.9 --keep --live
  zooquake run lock/fenced --servers 5 --observers 1 --zookeeper trixie
  zooquake run lock/fenced --hosts unix:///run/a.sock,ssh://me@b --faults host-kill
  zooquake run lock/fenced --faults pause --time 3s --anyway     though no pause fits into 3 s
  zooquake run lock/protected --schedule faults.toml --time 20s  your own windows, which may overlap
  zooquake run --plan runs/latest/plan.json                      that plan as it stands, or as you have changed it

A schedule is TOML. Its windows begin at a moment, in a state of a client, or after so many operations:

  [[window]]
  fault = \"pause\"
  victim = \"holder\"          # or c2, n1, [\"n1\", \"n2\"], client, waiter, leader, follower, holder-server, h1
  at = \"5s\"
  for = \"3s\"
  every = \"10s\"

  [[window]]
  fault = \"kill\"             # while the holder is frozen
  victim = \"leader\"
  at = \"6s\"
  for = \"1s\"

docs/schedules.md has an example for each fault, `zooquake schema schedule` the keys.

--plan plays a plan whole, and needs no run of it. `replay` takes a run: it leaves out what came after the anomaly, pins
each window to what was going on when it struck, and compares what comes of that with the run.")]
struct RunOptions {
    /// Family and variant, such as lock/predecessor; `zooquake list` shows all; or the folder of a recipe, such as
    /// ./my-lock
    #[arg(required_unless_present = "plan")]
    workload: Option<String>,
    /// Play the plan in this file, or in the folder of a run, as it stands: with its own recipe, seed, windows and
    /// time, by its own clock. WORKLOAD and options that state the plan may be left out, and must agree with it
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Strike in the windows of this file in TOML, in place of drawn ones: what, whom, when, for how long, how often
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Kinds of fault, separated by commas, or `none`; kill,pause,partition if not given
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
    /// How long operations and faults go on, such as 60s, 2m, 1h30m or 500ms; 60s if not given
    #[arg(long, value_parser = values::duration)]
    time: Option<Duration>,
    /// What every random choice is drawn from; a random one if not given
    #[arg(long, value_parser = values::seed)]
    seed: Option<u64>,
    /// Where to run: `docker`, a real ensemble in containers, `sim`, a simulated one in virtual time, or `network`,
    /// where consensus protocols run, and they alone; without it simulated only where DOCKER_HOST is not set, no engine
    /// has its socket here, and stderr is a terminal
    #[arg(long, value_name = "docker|sim|network", value_parser = values::on)]
    on: Option<On>,
    /// How often to run the plan
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    times: u32,
    /// Servers of the ensemble that vote: 1, 3 or 5; 3 if not given. Of consensus protocols the acceptors, servers,
    /// nodes or replicas
    #[arg(long, value_parser = values::nodes)]
    servers: Option<usize>,
    /// Servers beside them that only observe, named after them; none if not given
    #[arg(long, value_parser = values::observers)]
    observers: Option<usize>,
    /// Clients; 5 if not given, of consensus protocols as many as the variant has
    #[arg(long, value_parser = values::clients)]
    clients: Option<usize>,
    /// tickTime in ms, syncLimit in ticks, session timeout in ms; 250/4/2000 if not given, 250/4/5000 for registers
    #[arg(long, value_name = "TICK/SYNC/SESSION", value_parser = values::timing)]
    timing: Option<Timing>,
    /// `bookworm` (3.8.0, the default), `trixie` (3.9.3), or an image with the official one's conventions, used
    /// unmodified
    #[arg(long, alias = "zookeeper-image", value_name = "VERSION|IMAGE", value_parser = values::zookeeper)]
    zookeeper: Option<String>,
    /// Draw faults and work as for an ensemble of other size and timing, as `compare` does for all its subjects
    #[arg(long, value_name = "SERVERS:TICK/SYNC/SESSION", value_parser = values::drawn_for)]
    drawn_for: Option<DrawnFor>,
    /// Docker engines of one Swarm over which servers and clients are spread, separated by commas: unix:///path,
    /// tcp://host:port, ssh://user@host, or names of docker contexts; `h1`, `h2`, … in this order
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',', value_parser = values::host)]
    hosts: Vec<String>,
    /// Servers and clients that stand on a given one of these hosts, such as n1=h1,c3=h2; the others are spread
    #[arg(long, value_name = "NODE=HOST", value_delimiter = ',')]
    place: Vec<PlacedNode>,
    /// Folder of the runs
    #[arg(long, default_value = "runs", value_name = "DIR")]
    out: PathBuf,
    /// Leave the ensemble standing at the end, and print how to reach it
    #[arg(long)]
    keep: bool,
    /// Serve the report while the run goes on, on an address of this machine alone that is printed
    #[arg(long)]
    live: bool,
    /// Run also a plan whose verdict can only be unknown or invalid, because the time is too short for a fault
    #[arg(long)]
    anyway: bool,
    /// JSON on stdout: results.json and the folder
    #[arg(long)]
    json: bool,
}

impl From<RunOptions> for RunSpec {
    fn from(options: RunOptions) -> Self {
        Self {
            workload: options.workload.unwrap_or_default(),
            plan_file: options.plan,
            schedule: options.schedule,
            faults: options.faults,
            time: options.time,
            seed: options.seed,
            on: options.on,
            times: options.times,
            servers: options.servers,
            observers: options.observers,
            clients: options.clients,
            timing: options.timing,
            zookeeper: options.zookeeper,
            drawn_for: options.drawn_for,
            hosts: options.hosts,
            place: options.place,
            out: options.out,
            keep: options.keep,
            live: options.live,
            anyway: options.anyway,
            json: options.json,
        }
    }
}

impl FromArgMatches for RunSpec {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        RunOptions::from_arg_matches(matches).map(Into::into)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RunSpec {
    fn augment_args(command: Command) -> Command {
        RunOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        RunOptions::augment_args_for_update(command)
    }
}

#[cfg(test)]
impl RunSpec {
    /// The spec that these arguments of `zooquake run` give.
    ///
    /// # Errors
    /// If `zooquake run` would refuse them as no arguments of its own.
    pub fn from_args(
        arguments: impl IntoIterator<Item = impl Into<std::ffi::OsString> + Clone>,
    ) -> Result<Self, Error> {
        let command = Self::augment_args(Command::new("run").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }
}
