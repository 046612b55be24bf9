//! The plan of a run: all that decides it, as data, saved before anything else happens.

mod capabilities;
mod client_plan;
mod goal;
mod hosts;
mod recipe;
pub mod record_files;
mod scene;
mod scheduler;
mod window;

use crate::node::Node;
use crate::operation::semaphore;
pub use capabilities::{BarrierKind, Capabilities, Delivery, LeaseTerm, RegisterReads};
pub use client_plan::{ClientPlan, Cycle};
pub use goal::ConsensusGoal;
pub use hosts::PlannedHost;
pub use recipe::RecipeSource;
pub use scene::{Act, Scene, Step};
pub use scheduler::{Scheduler, ScriptAct, ScriptStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
pub use window::{ClientState, Target, Trigger, Window};

/// Where a run takes place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// On a real ensemble, in containers on a Docker engine.
    #[default]
    Docker,
    /// On a simulated ensemble: a model of ZooKeeper in memory and in virtual time.
    Sim,
    /// On a network of consensus protocols, in memory and in virtual time, in which no ZooKeeper is.
    Network,
}

impl On {
    /// Its name on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Sim => "sim",
            Self::Network => "network",
        }
    }

    /// Whether servers are ZooKeeper itself, rather than a model of it in virtual time; the default that files omit.
    pub fn is_real(&self) -> bool {
        *self == Self::Docker
    }
}

/// Everything that decides a run. The run is driven by this alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format; [`Plan::FORMAT`]. 0 is that of a plan that could not be read, or was inferred from a
    /// history.
    pub format: u32,
    /// The files beside plan and history that the record of the run has once the run has ended, by their names in its
    /// folder; none in a plan of format 1, and in one that no run has begun with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record: Vec<String>,
    /// Where it runs; left out for a real ensemble.
    #[serde(default, skip_serializing_if = "On::is_real")]
    pub on: On,
    /// How a simulated ensemble decides what happens next; left out for a random walk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduler: Scheduler,
    /// What every random choice below was drawn from; a simulated ensemble draws its own from it too.
    pub seed: u64,
    /// What is tested.
    pub workload: Workload,
    /// What it is tested on.
    pub cluster: ClusterPlan,
    /// Milliseconds of operations and faults, before recovery.
    pub time_ms: u64,
    /// The kinds of fault asked for (`kill`, `pause`, `drop-reply`, …); empty for none.
    pub faults: Vec<String>,
    /// The fault schedule.
    pub windows: Vec<Window>,
    /// What each client does, by position: `clients[0]` is `c1`.
    pub clients: Vec<ClientPlan>,
    /// Of two-phase commits: the transactions in order, and again from the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<PlannedTransaction>,
    /// Of a run without clients: what is done to fresh ensembles instead, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenes: Vec<Scene>,
    /// Name of the run that this one replays; `None` for one whose plan was drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<String>,
    /// What windows and cycles were drawn for, if that is not the cluster that the plan is run on: a comparison gives
    /// ensembles of different sizes and clocks the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn_for: Option<DrawnFor>,
}

impl Plan {
    /// The version of plans that this program writes. It plays and judges those of format 1 too, which do not name the
    /// files of their records.
    pub const FORMAT: u32 = 2;

    /// Whether this program plays and judges plans of this format.
    pub fn has_known_format(&self) -> bool {
        (1..=Self::FORMAT).contains(&self.format)
    }

    /// Why the plan's format cannot be read, as the end of a sentence about the plan; `None` of one that this program
    /// knows, and of a plan that could not be read at all.
    pub fn unknown_format(&self) -> Option<String> {
        let unknown = self.format != 0 && !self.has_known_format();
        unknown.then(|| {
            format!(
                "is of format {}, and this zooquake reads formats 1 to {}",
                self.format,
                Self::FORMAT
            )
        })
    }

    /// The same plan as a run of this program begins with it: of the present format, with the names of the files that
    /// its record will have.
    #[must_use]
    pub fn of_new_run(self) -> Self {
        Self {
            format: Self::FORMAT,
            record: record_files::of_plan(&self),
            ..self
        }
    }

    /// Whether the record of the plan's run has this file, once the run has ended.
    pub fn names(&self, file: &str) -> bool {
        self.format > 1 && self.record.iter().any(|name| name == file)
    }

    /// The same plan on this kind of ensemble. A real one has no scheduler.
    #[must_use]
    pub fn placed(self, on: On) -> Self {
        let scheduler = match on.is_real() {
            true => Scheduler::default(),
            false => self.scheduler,
        };
        Self { on, scheduler, ..self }
    }
}

/// What drawing a plan takes of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnFor {
    /// Number of servers that vote; at most that of the cluster.
    pub servers: usize,
    /// Clocks of the ensemble.
    pub timing: Timing,
}

/// One transaction of a two-phase commit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTransaction {
    /// Each site's vote, by position: the first is that of `c2`.
    pub votes: Vec<bool>,
    /// Milliseconds that each site works before it votes.
    pub work_ms: Vec<u64>,
    /// Whether the decision is asked for at once, rather than when all have voted.
    pub early: bool,
}

/// A recipe variant and what it promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// `lock`, …
    pub family: String,
    /// `predecessor`, …
    pub variant: String,
    /// What the variant is and promises, in a sentence.
    pub promise: String,
    /// Where the protected resource lives.
    pub resource: Resource,
    /// Whether grants carry a fencing token that the resource checks.
    pub fenced: bool,
    /// Parents whose children are contender znodes (locks, tickets), such as `/lock`.
    pub contenders: Vec<String>,
    /// Persistent znodes, beside those parents, that exist before a client starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub znodes: Vec<String>,
    /// Whether each client connects to one server only: c1 to n1, c2 to n2, and from the first again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// What the variant promises beyond its family; `None` in plans of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// Of a consensus protocol, what it is to bring about.
    #[serde(default, skip_serializing_if = "is_default")]
    pub goal: ConsensusGoal,
    /// Anomalies that are known and accepted.
    pub accepted: Vec<AcceptedAnomaly>,
    /// What runs its clients, if it is a user's own recipe; `None` for one that is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeSource>,
}

impl Workload {
    /// What the variant promises beyond its family.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
            .unwrap_or_else(|| Capabilities::of_former(&self.family, &self.variant))
    }

    /// For how long its leases last; `None` if not for a time, and of another family than semaphores.
    pub fn lease_term(&self) -> Option<LeaseTerm> {
        let capabilities = Some(self.capabilities()).filter(|_| self.family == semaphore::FAMILY.name);
        capabilities.and_then(|capabilities| capabilities.lease_term())
    }

    /// `family/variant`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.family, self.variant)
    }
}

/// Where the protected resource lives, which decides the order of its writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// In the orchestrator: writes arrive in the order in which their replies were read.
    #[default]
    External,
    /// A znode: writes are ordered by zxid, whatever the order of the replies.
    Zookeeper,
}

/// An anomaly that a variant is known to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedAnomaly {
    /// Its name, such as `stale-write`.
    pub anomaly: String,
    /// The kinds of fault under which it is accepted; `none` means: even without faults.
    pub faults: Vec<String>,
    /// Why it happens.
    pub reason: String,
    /// Where that is known from: a ticket, a paper, a document.
    pub source: String,
}

/// The ensemble and its clients.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterPlan {
    /// Number of servers that vote, named `n1`, ….
    pub servers: usize,
    /// Number of observers: servers that neither vote nor take part in commits, named after those that vote.
    #[serde(default, skip_serializing_if = "is_default")]
    pub observers: usize,
    /// Number of clients, named `c1`, ….
    pub clients: usize,
    /// The ZooKeeper asked for: `bookworm` or `trixie` as that suite of Debian packages it, else the name of an image;
    /// `None` for the project's choice. The servers' own samples contain the version that ran.
    pub image: Option<String>,
    /// Clocks of the ensemble.
    pub timing: Timing,
    /// The machines that it stands on, in order; none if it stands on one alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<PlannedHost>,
}

/// Whether it is the default, which files omit.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ClusterPlan {
    /// The servers that vote.
    pub fn voters(&self) -> Vec<Node> {
        (1..=self.servers).map(Node::server).collect()
    }

    /// The observers.
    pub fn observers(&self) -> Vec<Node> {
        let first = self.servers + 1;
        (first..first + self.observers).map(Node::server).collect()
    }

    /// The clients, in the order of their numbers.
    pub fn client_nodes(&self) -> Vec<Node> {
        (1..=self.clients).map(Node::client).collect()
    }

    /// The servers that vote, then the observers.
    pub fn ensemble(&self) -> Vec<Node> {
        [self.voters(), self.observers()].concat()
    }
}

/// Clocks of the ensemble, as in `zoo.cfg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// `tickTime`, in milliseconds.
    pub tick_ms: u64,
    /// `initLimit`, in ticks.
    pub init_limit: u64,
    /// `syncLimit`, in ticks.
    pub sync_limit: u64,
    /// The session timeout that clients ask for, in milliseconds.
    pub session_ms: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            tick_ms: 250,
            init_limit: 20,
            sync_limit: 4,
            session_ms: 2000,
        }
    }
}

impl Timing {
    /// How long a server that is cut off from its leader goes on serving, in milliseconds.
    pub fn sync_ms(&self) -> u64 {
        self.sync_limit.saturating_mul(self.tick_ms)
    }

    /// So many hundredths of the time for which a server that is cut off from its leader goes on serving.
    pub fn lag(&self, percent: u64) -> Duration {
        Duration::from_millis(self.sync_ms().saturating_mul(percent) / 100)
    }

    /// Whether a client can be served by a cut-off server after its session has expired: the session timeout is shorter
    /// than twice syncLimit × tickTime.
    pub fn hazardous(&self) -> bool {
        self.session_ms < self.sync_ms().saturating_mul(2)
    }
}
