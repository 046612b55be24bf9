//! The plan of a run: all that decides it, as data, saved before anything else happens.

use serde::{Deserialize, Serialize};

/// Everything that decides a run. The run is driven by this alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this format; 1.
    pub format: u32,
    /// What every random choice below was drawn from.
    pub seed: u64,
    /// What is tested.
    pub workload: Workload,
    /// What it is tested on.
    pub cluster: Cluster,
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
    pub transactions: Vec<Transaction>,
}

/// One transaction of a two-phase commit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// Each site's vote, by position: the first is that of `c2`.
    pub votes: Vec<bool>,
    /// Milliseconds that each site works before it votes.
    pub work_ms: Vec<u64>,
    /// Whether the decision is asked for at once, rather than when all have voted.
    pub early: bool,
}

/// A recipe variant and what it promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Anomalies that are known and accepted.
    pub accepted: Vec<Accepted>,
}

impl Workload {
    /// `family/variant`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.family, self.variant)
    }
}

/// Where the protected resource lives, which decides the order of its writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// In the orchestrator: writes arrive in the order in which their replies were read.
    #[default]
    External,
    /// A znode: writes are ordered by zxid, whatever the order of the replies.
    Zookeeper,
}

/// An anomaly that a variant is known to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Number of servers, named `n1`, ….
    pub servers: usize,
    /// Number of clients, named `c1`, ….
    pub clients: usize,
    /// The ZooKeeper image asked for; `None` for the project's choice.
    pub image: Option<String>,
    /// Clocks of the ensemble.
    pub timing: Timing,
}

/// Clocks of the ensemble, as in `zoo.cfg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
        self.sync_limit * self.tick_ms
    }

    /// Whether a client can be served by a cut-off server after its session has expired: the session timeout is shorter
    /// than twice syncLimit × tickTime.
    pub fn hazardous(&self) -> bool {
        self.session_ms < 2 * self.sync_ms()
    }
}

/// One fault to inject and to heal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Number of the window, from 1; its events in the history carry it.
    pub id: usize,
    /// `kill`, `pause`, `partition`, `drop-reply` or `cut`.
    pub fault: String,
    /// Whom it hits.
    pub target: Target,
    /// How the network is cut; `None` unless `fault` is `partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What the proxy between a client and the ensemble does; `None` unless `fault` is `drop-reply` or `cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// When it begins.
    pub trigger: Trigger,
    /// How long it stays, in milliseconds; for a kill, how long the process stays dead.
    pub duration_ms: u64,
}

/// Whom a fault hits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The server or client of this name.
    Node(String),
    /// The client whose state fired the trigger.
    Client,
    /// The client that holds when the trigger fires.
    Holder,
    /// The ensemble's leader.
    Leader,
    /// The server to which the client that holds is connected.
    HolderServer,
    /// Some of the servers, cut off from the other servers and all clients but their own.
    Servers(Vec<String>),
}

/// How the network is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// From everyone, both ways.
    Isolate,
    /// From the other servers, both ways; clients still reach it.
    FromServers,
    /// It hears nobody, and is heard.
    Deaf,
    /// It is heard by nobody, and hears.
    Mute,
}

/// What the proxy between a client and the ensemble does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Drops the reply to a request that was applied, and closes the connection.
    DropReply(Which),
    /// Drops a request before a server sees it, and closes the connection.
    DropRequest(Which),
    /// Closes the client's connections (FIN) and refuses new ones.
    Close,
    /// Resets the client's connections (RST) and refuses new ones.
    Reset,
}

/// A request of a client, counted from the moment at which the proxy is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Which {
    /// Its kind.
    pub op: WireOp,
    /// Its number among those of the kind, from 1.
    pub nth: u32,
}

/// Kinds of requests, as ZooKeeper's protocol tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireOp {
    /// A znode is created.
    Create,
    /// A znode is deleted.
    Delete,
    /// A znode's data is set.
    SetData,
    /// A transaction.
    Multi,
    /// The session ends, and its ephemeral znodes with it.
    CloseSession,
    /// Whatever removes a znode: its deletion or its session's end.
    Removal,
    /// All of these.
    AnyWrite,
}

/// When a fault begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// At a moment.
    At {
        /// Milliseconds since operations began.
        at_ms: u64,
    },
    /// When, after a moment, some client comes into a state.
    State {
        /// The state.
        state: State,
        /// Milliseconds since operations began before which the trigger is not armed.
        from_ms: u64,
        /// Milliseconds that the state must have lasted.
        after_ms: u64,
    },
}

/// A client's state, as the orchestrator knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// An acquire was sent and is not answered.
    Acquiring,
    /// A write with work that outlasts the trigger's `after_ms` is not answered.
    Working,
    /// A release was sent and is not answered.
    Releasing,
    /// An acquire has been waiting while another client holds.
    Waiting,
    /// An operation of this name was sent and is not answered.
    Asked(String),
}

/// What one client does: its cycles in order, and again from the first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientPlan {
    /// The cycles.
    pub cycles: Vec<Cycle>,
}

/// Acquire, write, release.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// Milliseconds to wait before the acquire.
    pub think_ms: u64,
    /// The writes while holding, each by the milliseconds it works between its check and its write.
    pub writes: Vec<u64>,
}
