//! What is asked of a run: everything that `zooquake run` takes. Nights and comparisons are made of specs too, so the
//! command line of a spec draws the plan that ran.

use super::case::{Case, Subject};
use super::names::NamedWorkload;
use super::placement::PlacedNode;
use super::{admission, drawing, names, network, placement, plan_file, scenes, schedule, values};
use crate::{faults, shell};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;
use zooquake_history::plan::{ClusterPlan, DrawnFor, On, Plan, Timing};
use zooquake_network::draft::FAULTS;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// How long operations and faults go on.
pub const TIME: Duration = Duration::from_secs(60);

/// Number of voting servers of a run that names none.
pub const SERVERS: usize = 3;

/// Number of clients of a run that names none.
pub const CLIENTS: usize = 5;

/// What is asked of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpec {
    /// Family and variant, such as `lock/predecessor`, or the folder of a recipe; empty where a plan states it.
    pub workload: String,
    /// The file of a plan that is played as it stands; `None` for one that is drawn.
    pub plan_file: Option<PathBuf>,
    /// The file of the windows, if these are not drawn.
    pub schedule: Option<PathBuf>,
    /// Kinds of fault, separated by commas, or `none`; `None` for the usual ones.
    pub faults: Option<String>,
    /// How long operations and faults go on; `None` for [`TIME`], of consensus protocols for the variant's own.
    pub time: Option<Duration>,
    /// What every random choice is drawn from; `None` for a random one.
    pub seed: Option<u64>,
    /// Where to run; `None` for the usual backend, of consensus protocols for a network.
    pub on: Option<On>,
    /// How often to run the plan.
    pub times: u32,
    /// Servers that vote; `None` for [`SERVERS`], of consensus protocols for as many as the variant has.
    pub servers: Option<usize>,
    /// Servers beside them that only observe; `None` for none.
    pub observers: Option<usize>,
    /// `None` for [`CLIENTS`], of consensus protocols for as many as the variant has.
    pub clients: Option<usize>,
    /// `None` for the timing that the variant usually has.
    pub timing: Option<Timing>,
    /// A suite of Debian or an image; `None` for the project's choice.
    pub zookeeper: Option<String>,
    /// The ensemble that faults and work are drawn for; `None` for the one that runs.
    pub drawn_for: Option<DrawnFor>,
    /// The Docker engines over which nodes are spread; none for a run on one.
    pub hosts: Vec<String>,
    /// Nodes that stand on a given one of these; the others are spread.
    pub place: Vec<PlacedNode>,
    /// The folder of the runs.
    pub out: PathBuf,
    /// Whether the ensemble is left standing at the end.
    pub keep: bool,
    /// Whether the report is served while the run goes on.
    pub live: bool,
    /// Whether a plan is run too that cannot end valid.
    pub anyway: bool,
    /// Whether stdout gets JSON.
    pub json: bool,
}

impl RunSpec {
    /// The run of a variant with nothing else given.
    pub fn new(workload: impl Into<String>) -> Self {
        Self {
            workload: workload.into(),
            plan_file: None,
            schedule: None,
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
    /// If the variant or a fault does not exist, or the variant or the plan's file does not take an option: a message
    /// for the user.
    pub fn plan(&self) -> Result<Plan, String> {
        self.case().map(Case::into_plan)
    }

    /// The case of the plan; without a seed a new one each time.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn case(&self) -> Result<Case, String> {
        let case = match &self.plan_file {
            Some(file) => plan_file::case(self, file)?,
            None => Case::new(self.drawn()?)?,
        };
        admission::check_backend(&case).map(|()| case)
    }

    fn drawn(&self) -> Result<Plan, String> {
        let NamedWorkload { workload, subject } = names::named(&self.workload)?;
        if let Some(file) = self
            .schedule
            .as_ref()
            .filter(|_| !matches!(subject, Subject::Recipe(_) | Subject::OwnRecipe))
        {
            return Err(format!(
                "the windows of {} are not those of a schedule: leave --schedule {file:?} out, or give a plan with --plan",
                self.workload
            ));
        }
        if let Subject::Protocol(variant) = subject {
            return self.protocol(variant);
        }
        let on = self.on.unwrap_or_default();
        if let Some(servers) = self.servers {
            values::servers(&servers.to_string())?;
        }
        if let Subject::Scenes(variant) = subject {
            return self.of_scenes(variant).map(|plan| Plan { on, ..plan });
        }
        let faults = match (&self.faults, &self.schedule) {
            (Some(_), Some(file)) => {
                return Err(format!("the schedule {file:?} has its own faults: leave --faults out"));
            }
            (Some(list), None) => names::faults(list)?,
            (None, Some(_)) => Vec::new(),
            (None, None) => faults::usual(),
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
        let plan = Plan {
            on,
            cluster,
            drawn_for,
            ..drawing::plan(seed, workload, shape, self.time_ms(), &faults)
        };
        match &self.schedule {
            Some(file) => schedule::scheduled(plan, file),
            None => Ok(plan),
        }
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
        admission::shortest_ms(|time_ms| {
            let mut lasting = self.clone();
            lasting.time = Some(Duration::from_millis(time_ms));
            lasting.plan().unwrap_or_default()
        })
    }

    /// What `zooquake run` reads of [`Self::to_args`], but for what decides nothing of the plan.
    ///
    /// # Errors
    /// If it would refuse an argument, as those of a plan from elsewhere may be out of bounds: a message for the user.
    pub fn read_again(&self) -> Result<Self, String> {
        fn each<T>(value: Option<String>, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
            value.map(|text| read(&text)).transpose()
        }
        if self.workload.starts_with('-') {
            return Err(format!("`{}` would be taken for an option", self.workload));
        }
        let number = |number: usize| number.to_string();
        let hosts = self.hosts.join(",");
        let hosts = hosts.split(',').filter(|_| !self.hosts.is_empty());
        let place = self.place.iter().map(placement::text);
        Ok(Self {
            time: each(self.time.map(values::duration_text), values::duration)?,
            servers: each(self.servers.map(number), values::nodes)?,
            observers: each(self.observers.map(number), values::observers)?,
            clients: each(self.written_clients().map(number), values::clients)?,
            timing: each(self.timing.as_ref().map(values::timing_text), values::timing)?,
            zookeeper: each(self.zookeeper.clone(), values::zookeeper)?,
            drawn_for: each(self.drawn_for.as_ref().map(drawn_for_text), values::drawn_for)?,
            hosts: hosts.map(values::host).collect::<Result<_, _>>()?,
            place: place.map(|text| text.parse()).collect::<Result<_, _>>()?,
            ..self.clone()
        })
    }

    /// The arguments of `zooquake run` that give this spec; what is not given, or as usual, is left out. Former names
    /// of variants and faults are replaced by the present ones; names that do not exist are kept.
    pub fn to_args(&self) -> Vec<OsString> {
        let usual = Self::new("");
        let workload = names::built_in(&self.workload).map_or_else(|| self.workload.clone(), |known| known.name());
        let present = |list: &String| match names::faults(list) {
            Ok(kinds) if !kinds.is_empty() => kinds.join(","),
            _ => list.clone(),
        };
        let named = (!workload.is_empty()).then(|| workload.into());
        let mut all: Vec<OsString> = named.into_iter().collect();
        let mut give = |name: &str, value: Option<OsString>| match value {
            // As a word of its own it would be taken for an option.
            Some(value) if value.as_bytes().starts_with(b"-") => {
                let mut joined = OsString::from(format!("{name}="));
                joined.push(value);
                all.push(joined);
            }
            Some(value) => all.extend([name.into(), value]),
            None => {}
        };
        let number = |n: usize| OsString::from(n.to_string());
        let unusual = |n: usize, usual: usize| (n != usual).then(|| number(n));
        give("--plan", self.plan_file.clone().map(Into::into));
        give("--schedule", self.schedule.clone().map(Into::into));
        give("--seed", self.seed.map(|seed| seed.to_string().into()));
        give("--faults", self.faults.as_ref().map(|list| present(list).into()));
        give("--time", self.time.map(|time| values::duration_text(time).into()));
        give("--servers", self.servers.map(number));
        give("--observers", self.observers.map(number));
        give("--clients", self.written_clients().map(number));
        let timing = self.timing.map(|timing| values::timing_text(&timing));
        give("--timing", timing.map(Into::into));
        give("--zookeeper", self.zookeeper.clone().map(Into::into));
        give(
            "--drawn-for",
            self.drawn_for.as_ref().map(|shape| drawn_for_text(shape).into()),
        );
        let list = |all: Vec<String>| (!all.is_empty()).then(|| all.join(",").into());
        give("--hosts", list(self.hosts.clone()));
        give("--place", list(self.place.iter().map(placement::text).collect()));
        give("--on", self.on.map(|on| on.name().into()));
        give("--times", unusual(self.times as usize, usual.times as usize));
        give("--out", (self.out != usual.out).then(|| self.out.clone().into()));
        let flags = [("--keep", self.keep), ("--live", self.live), ("--anyway", self.anyway)];
        all.extend(flags.iter().filter(|flag| flag.1).map(|flag| flag.0.into()));
        all.extend(self.json.then(|| "--json".into()));
        all
    }

    /// The number of clients, unless it is the usual one.
    fn written_clients(&self) -> Option<usize> {
        self.clients.filter(|&clients| clients != CLIENTS)
    }

    /// The command line of this spec; `None` if it cannot be written for a shell.
    pub fn line(&self) -> Option<String> {
        shell::line(std::iter::once(OsStr::new("run").to_owned()).chain(self.to_args()))
    }

    /// The spec that draws this case's plan, if any does. [`Plan::replay_of`], which no spec draws, is not looked at.
    pub fn from_case(case: &Case) -> Self {
        let plan = case.plan();
        let cluster = &plan.cluster;
        let workload = match &plan.workload.recipe {
            Some(recipe) => recipe.folder.clone(),
            None => plan.workload.name(),
        };
        let named = Self {
            seed: Some(plan.seed),
            zookeeper: cluster.image.clone(),
            on: Some(plan.on).filter(|on| !on.is_real()),
            hosts: cluster.hosts.iter().map(|host| host.address.clone()).collect(),
            place: placement::placed(cluster),
            ..Self::new(workload)
        };
        if let Subject::Protocol(variant) = case.subject() {
            return Self::of_protocol(plan, variant, named);
        }
        let other = |usual: Timing| (cluster.timing != usual).then_some(cluster.timing);
        // Scenes bring their own faults, take their own time, and have no clients.
        if !plan.scenes.is_empty() {
            return Self {
                observers: Some(cluster.observers),
                timing: other(Timing::default()),
                ..named
            };
        }
        let none = plan.faults.is_empty();
        Self {
            faults: Some(if none { "none".into() } else { plan.faults.join(",") }),
            time: Some(Duration::from_millis(plan.time_ms)),
            servers: (cluster.servers != SERVERS).then_some(cluster.servers),
            observers: (cluster.observers != 0).then_some(cluster.observers),
            clients: (cluster.clients != CLIENTS).then_some(cluster.clients),
            timing: other(drawing::timing(&plan.workload)),
            drawn_for: plan.drawn_for,
            anyway: !admission::shortfalls(plan).is_empty(),
            ..named
        }
    }

    /// The plan of a run of a consensus protocol.
    ///
    /// # Errors
    /// If an option is given that does not go with networks, or a fault that they do not have: a message for the user.
    fn protocol(&self, variant: &ConsensusVariant) -> Result<Plan, String> {
        let name = &self.workload;
        if let Some(on) = self.on.filter(|on| *on != On::Network) {
            return Err(format!(
                "{name} is no recipe of ZooKeeper and runs on a simulated network alone: leave --on {} out",
                on.name()
            ));
        }
        let given = [
            ("--timing", self.timing.is_some()),
            ("--zookeeper", self.zookeeper.is_some()),
            ("--drawn-for", self.drawn_for.is_some()),
            ("--hosts", !self.hosts.is_empty()),
            ("--place", !self.place.is_empty()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(format!("no ZooKeeper takes part in {name}: leave {option} out"));
        }
        let faults = match &self.faults {
            Some(list) => names::faults(list)?,
            None => FAULTS.map(String::from).to_vec(),
        };
        network::check_faults(name, &faults)?;
        let cluster = ClusterPlan {
            servers: self.servers.unwrap_or(variant.servers),
            observers: self.observers.unwrap_or(0),
            clients: self.clients.unwrap_or(variant.clients),
            ..ClusterPlan::default()
        };
        let time_ms = self.time.map_or(variant.time_ms, |time| time.as_millis() as u64);
        let seed = self.seed.unwrap_or_else(|| u64::from(fastrand::u32(..)));
        network::plan(seed, variant, cluster, (time_ms, &faults))
    }

    /// The spec that draws the plan of a consensus protocol, from what its seed and name give.
    fn of_protocol(plan: &Plan, variant: &ConsensusVariant, named: Self) -> Self {
        let (cluster, none) = (&plan.cluster, plan.faults.is_empty());
        Self {
            on: None,
            faults: Some(if none { "none".into() } else { plan.faults.join(",") }),
            time: (plan.time_ms != variant.time_ms).then(|| Duration::from_millis(plan.time_ms)),
            servers: (cluster.servers != variant.servers).then_some(cluster.servers),
            observers: (cluster.observers != 0).then_some(cluster.observers),
            clients: (cluster.clients != variant.clients).then_some(cluster.clients),
            ..named
        }
    }
}

/// `3:250/4/2000`, as [`values::drawn_for`] reads it.
fn drawn_for_text(shape: &DrawnFor) -> String {
    format!("{}:{}", shape.servers, values::timing_text(&shape.timing))
}

#[cfg(test)]
pub mod tests;
