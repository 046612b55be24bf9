//! What is asked of a run: everything that `zooquake run` takes. Nights and comparisons are made of specs too, so the
//! command line of a spec draws the plan that ran.

mod arguments;
mod protocols;

use super::placement::{self, PlacedNode};
use super::{drawing, feasibility, names, network, scenes, support, values};
use crate::faults;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use zooquake_history::plan::{ClusterPlan, DrawnFor, On, Plan, Timing};

/// How long operations and faults go on.
pub const TIME: Duration = Duration::from_secs(60);

/// Number of voting servers of a run that names none.
pub const SERVERS: usize = 3;

/// Number of clients of a run that names none.
pub const CLIENTS: usize = 5;

/// `run`
#[derive(Debug, Clone, PartialEq, Args)]
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
  zooquake run lock/fenced --faults pause --time 3s --anyway     though no pause fits into 3 s")]
pub struct RunSpec {
    /// Family and variant, such as lock/predecessor; `zooquake list` shows all; or the folder of a recipe, such as
    /// ./my-lock
    pub workload: String,
    /// Kinds of fault, separated by commas, or `none`; kill,pause,partition if not given
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<String>,
    /// How long operations and faults go on, such as 60s, 2m, 1h30m or 500ms; 60s if not given
    #[arg(long, value_parser = values::duration)]
    pub time: Option<Duration>,
    /// What every random choice is drawn from; a random one if not given
    #[arg(long, value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Where to run: `docker`, a real ensemble in containers, `sim`, a simulated one in virtual time, or `network`,
    /// where consensus protocols run, and they alone; without it simulated only where DOCKER_HOST is not set, no engine
    /// has its socket here, and stderr is a terminal
    #[arg(long, value_name = "docker|sim|network", value_parser = values::on)]
    pub on: Option<On>,
    /// How often to run the plan
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub times: u32,
    /// Servers of the ensemble that vote: 1, 3 or 5; 3 if not given. Of consensus protocols the acceptors, servers,
    /// nodes or replicas
    #[arg(long, value_parser = values::nodes)]
    pub servers: Option<usize>,
    /// Servers beside them that only observe, named after them; none if not given
    #[arg(long, value_parser = values::observers)]
    pub observers: Option<usize>,
    /// Clients; 5 if not given, of consensus protocols as many as the variant has
    #[arg(long, value_parser = values::clients)]
    pub clients: Option<usize>,
    /// tickTime in ms, syncLimit in ticks, session timeout in ms; 250/4/2000 if not given, 250/4/5000 for registers
    #[arg(long, value_name = "TICK/SYNC/SESSION", value_parser = values::timing)]
    pub timing: Option<Timing>,
    /// `bookworm` (3.8.0, the default), `trixie` (3.9.3), or an image with the official one's conventions, used
    /// unmodified
    #[arg(long, alias = "zookeeper-image", value_name = "VERSION|IMAGE", value_parser = values::zookeeper)]
    pub zookeeper: Option<String>,
    /// Draw faults and work as for an ensemble of other size and timing, as `compare` does for all its subjects
    #[arg(long, value_name = "SERVERS:TICK/SYNC/SESSION", value_parser = values::drawn_for)]
    pub drawn_for: Option<DrawnFor>,
    /// Docker engines of one Swarm over which servers and clients are spread, separated by commas: unix:///path,
    /// tcp://host:port, ssh://user@host, or names of docker contexts; `h1`, `h2`, … in this order
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',', value_parser = values::host)]
    pub hosts: Vec<String>,
    /// Servers and clients that stand on a given one of these hosts, such as n1=h1,c3=h2; the others are spread
    #[arg(long, value_name = "NODE=HOST", value_delimiter = ',')]
    pub place: Vec<PlacedNode>,
    /// Folder of the runs
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Leave the ensemble standing at the end, and print how to reach it
    #[arg(long)]
    pub keep: bool,
    /// Serve the report while the run goes on, on an address of this machine alone that is printed
    #[arg(long)]
    pub live: bool,
    /// Run also a plan whose verdict can only be unknown or invalid, because the time is too short for a fault
    #[arg(long)]
    pub anyway: bool,
    /// JSON on stdout: results.json and the folder
    #[arg(long)]
    pub json: bool,
}

impl RunSpec {
    /// The run of a variant with nothing else given.
    pub fn new(workload: impl Into<String>) -> Self {
        Self {
            workload: workload.into(),
            faults: None,
            time: None,
            seed: None,
            on: None,
            times: 1,
            servers: None,
            observers: None,
            clients: None,
            timing: None,
            zookeeper: None,
            drawn_for: None,
            hosts: Vec::new(),
            place: Vec::new(),
            out: "runs".into(),
            keep: false,
            live: false,
            anyway: false,
            json: false,
        }
    }

    /// The plan; without a seed a new one each time.
    ///
    /// # Errors
    /// If the variant or a fault does not exist, or the variant does not take an option: a message for the user.
    pub fn plan(&self) -> Result<Plan, String> {
        let plan = self.drawn()?;
        support::check(&plan).map(|()| plan)
    }

    fn drawn(&self) -> Result<Plan, String> {
        let workload = names::workload(&self.workload)?;
        if let Some(variant) = network::variant(&workload) {
            return protocols::drawn(self, variant);
        }
        let on = self.on.unwrap_or_default();
        if let Some(servers) = self.servers {
            values::servers(&servers.to_string())?;
        }
        if let Some(variant) = scenes::variant(&workload) {
            return self.of_scenes(variant).map(|plan| Plan { on, ..plan });
        }
        let faults = match &self.faults {
            Some(list) => names::faults(list)?,
            None => faults::usual(),
        };
        names::check_ensemble_faults(&faults, self.hosts.len())?;
        let cluster = self.placed(ClusterPlan {
            servers: self.servers.unwrap_or(SERVERS),
            observers: self.observers.unwrap_or(0),
            clients: self.clients.unwrap_or(CLIENTS),
            image: self.zookeeper.clone(),
            timing: self.timing.unwrap_or_else(|| drawing::timing(&workload)),
            hosts: Vec::new(),
        })?;
        let seed = self.seed.unwrap_or_else(|| u64::from(fastrand::u32(..)));
        let own = DrawnFor {
            servers: cluster.servers,
            timing: cluster.timing,
        };
        let drawn_for = self.drawn_for.filter(|other| *other != own);
        if drawn_for.is_some_and(|other| other.servers > own.servers) {
            return Err("--drawn-for has more servers than the ensemble, whose faults could not strike them".into());
        }
        let DrawnFor { servers, timing } = drawn_for.unwrap_or(own);
        let shape = ClusterPlan {
            servers,
            timing,
            ..cluster.clone()
        };
        Ok(Plan {
            on,
            cluster,
            drawn_for,
            ..drawing::plan(seed, workload, shape, self.time_ms(), &faults)
        })
    }

    /// The plan of a run of scenes.
    fn of_scenes(&self, variant: &scenes::Variant) -> Result<Plan, String> {
        let name = &self.workload;
        if self.servers.is_some_and(|servers| servers != variant.servers) {
            return Err(format!("{name} is played on {} servers", variant.servers));
        }
        if self.faults.as_deref().is_some_and(|faults| faults != "none") {
            return Err(format!("{name} brings its own faults; leave --faults out"));
        }
        let cluster = ClusterPlan {
            servers: variant.servers,
            observers: self.observers.unwrap_or(variant.observers),
            clients: 0,
            image: self.zookeeper.clone(),
            timing: self.timing.unwrap_or_default(),
            hosts: Vec::new(),
        };
        Ok((variant.plan)(self.seed.unwrap_or(0), self.placed(cluster)?))
    }

    /// The same ensemble and clients, on the hosts that are asked for.
    fn placed(&self, cluster: ClusterPlan) -> Result<ClusterPlan, String> {
        let hosts = placement::hosts(&self.hosts, &self.place, &cluster)?;
        Ok(ClusterPlan { hosts, ..cluster })
    }

    /// Milliseconds of operations and faults.
    pub fn time_ms(&self) -> u64 {
        self.time.unwrap_or(TIME).as_millis() as u64
    }

    /// The shortest time with which this seed's plan can end valid, in milliseconds; `None` if no time would do.
    pub fn shortest_ms(&self) -> Option<u64> {
        feasibility::shortest_ms(|time_ms| {
            let mut lasting = self.clone();
            lasting.time = Some(Duration::from_millis(time_ms));
            lasting.plan().unwrap_or_default()
        })
    }
}

#[cfg(test)]
pub mod tests;
