//! Where runs take place: the ensemble and its clients, on hosts whose processes can be killed, frozen and cut off.

// Sidecar and lease answer on stdout; what a person reads is logged.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod clock;
pub mod docker;
pub mod files;
pub mod images;
mod retry;
pub mod sidecar;
mod stdin;
mod txnlog;
mod znodes;

use anyhow::Result;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sidecar::RuleEffect;
use std::collections::BTreeSet;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zooquake_history::evidence::Znode;
use zooquake_history::fault::{Latency, Wire};
use zooquake_history::plan::Plan;
use zooquake_history::txnlog::TxnLogs;
use zooquake_history::{Host, Node};
use zooquake_workloads::protocol::ProcessOutput;

pub use clock::{Clock, RealClock, within};
pub use stdin::Stdin;
pub use znodes::{lineage, setup_paths};

/// The state that a server reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerState {
    /// `leader`, `follower`, `observer` or `standalone`.
    pub mode: String,
    /// Its last zxid; the upper half is the epoch.
    pub zxid: i64,
    /// Version of ZooKeeper that it runs, such as `3.8.0`.
    pub version: String,
}

impl ServerState {
    /// Epoch of the last zxid.
    pub fn epoch(&self) -> i64 {
        self.zxid >> 32
    }

    /// Whether it leads, alone or with followers.
    pub fn leads(&self) -> bool {
        self.mode == "leader" || self.mode == "standalone"
    }
}

/// Which directions of a cut are dropped, as seen from the node that is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directions {
    /// What comes to it.
    pub inbound: bool,
    /// What it sends.
    pub outbound: bool,
}

/// How far a server is behind its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaderDelay {
    /// By how much what the leader sends is late, in hundredths of syncLimit x tickTime.
    pub delay_percent: u64,
    /// After how long that ends by itself.
    pub at_most: Duration,
}

/// What was seen when everything passed a client's proxy again.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// A sentence.
    pub detail: String,
    /// What became of the reply that was kept back, if one was.
    pub evidence: Option<Value>,
}

/// Receives the output of a process, in order.
pub type OnOutput = Box<dyn FnMut(ProcessOutput) + Send>;

/// What to bring up.
#[derive(Debug)]
pub struct BringUp<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The run's plan: the cluster's servers, clients and clocks.
    pub plan: &'a Plan,
    /// Folder for the logs of servers and clients.
    pub logs: PathBuf,
    /// Whether the cluster is to be left standing, so that its host has to reach it.
    pub keep: bool,
}

/// The result of a primitive: for most of them a sentence that states what was observed.
pub type BackendFuture<'a, T = String> = BoxFuture<'a, Result<T>>;

/// A place where runs take place, one [`Cluster`] after another.
pub trait Backend: Send + Sync {
    /// The clock of all that happens in runs here.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Lets work go on that takes place here, to its end: a backend whose time is virtual lets that time pass for it.
    fn drive<'a>(&'a self, work: BoxFuture<'static, ()>) -> BackendFuture<'a, ()> {
        work.map(Ok).boxed()
    }

    /// Claims a run before anything of it is started. While the claim is held, nobody takes the run for dead; when this
    /// program dies, what it had frozen or cut off is healed, and what it was about to, as its history has it, if it
    /// writes one.
    fn claim<'a>(&'a self, run: &'a str, history: Option<&'a Path>) -> BackendFuture<'a, Box<dyn RunClaim>>;

    /// What finds all that a run starts here, for `containers.json`.
    fn finds(&self, run: &str) -> Value;

    /// What the processes of a run may do, as the history has it.
    fn confinement(&self) -> BackendFuture<'_, Value>;

    /// What runs the containers here, with its version and its machine's; `None` where there are none.
    fn engine(&self) -> BackendFuture<'_, Option<String>>;

    /// Makes the hosts of all servers and clients. No process is started on them. What was made when this fails goes
    /// with [`Backend::remove_dead`].
    fn bring_up<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, Arc<dyn Cluster>>;

    /// Ids of the runs that go on.
    fn alive(&self) -> BackendFuture<'_, BTreeSet<String>>;

    /// Removes the cluster of a run whose claim is held.
    fn clear<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()>;

    /// Removes all that a run left whose claim is held no longer, or which failed.
    fn remove_dead<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()>;
}

/// A run that is claimed.
pub trait RunClaim: Send {
    /// Gives the claim up. Begins at once; the future is ready when the claim is gone.
    fn end(self: Box<Self>) -> BackendFuture<'static, ()>;
}

/// What a run needs of an ensemble and its clients.
///
/// Every fault returns only after its effect was seen on the spot, with a sentence that states what was observed.
pub trait Cluster: Send + Sync {
    /// The servers.
    fn servers(&self) -> Vec<Node>;

    /// A phase of the run begins. Only a simulated ensemble makes anything of it.
    fn entered(&self, _phase: &str) {}

    /// The servers that vote.
    fn voters(&self) -> Vec<Node>;

    /// The clients.
    fn clients(&self) -> Vec<Node>;

    /// The servers and clients on a machine of the plan; `None` if it has none of that name.
    fn nodes_on(&self, host: &Host) -> Option<Vec<Node>>;

    /// Waits until one server leads, the others follow, and a write through every server was acknowledged. An error if
    /// that does not come about in 60 s, with the last log lines of the servers that do not serve.
    fn ready(&self) -> BackendFuture<'_, ()>;

    /// Kills the process on the node with SIGKILL and sees it gone.
    fn kill<'a>(&'a self, node: &'a Node) -> BackendFuture<'a>;

    /// Starts the process of a server; nothing happens to one that runs.
    fn start_server<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()>;

    /// Deletes the snapshots and transaction logs of a server whose process is dead, and sees them gone.
    ///
    /// The epochs that it has promised stay, or those that keep their data could never follow it again.
    fn wipe<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()>;

    /// Starts a client's process; `on_output` receives all of its output.
    fn start_client<'a>(&'a self, client: &'a Node, incarnation: u64, on_output: OnOutput) -> BackendFuture<'a, Stdin>;

    /// Freezes the node.
    fn pause<'a>(&'a self, node: &'a Node) -> BackendFuture<'a>;

    /// Thaws the node; nothing happens to one that is not frozen.
    fn resume<'a>(&'a self, node: &'a Node) -> BackendFuture<'a>;

    /// Sees a client's node not frozen, and none of its threads stopped.
    fn sees_running<'a>(&'a self, client: &'a Node) -> BackendFuture<'a>;

    /// Drops what passes between the node and the peers, as its own network sees it.
    fn partition<'a>(&'a self, node: &'a Node, peers: &'a [Node], directions: Directions) -> BackendFuture<'a>;

    /// Removes all cuts set at the node.
    fn heal_partition<'a>(&'a self, node: &'a Node, peers: &'a [Node]) -> BackendFuture<'a>;

    /// Has a client's proxy lose a request or a reply, or keep a reply back, and waits for it; `None` if none came that
    /// fits.
    fn arm<'a>(&'a self, client: &'a Node, wire: Wire, limit: Duration) -> BackendFuture<'a, Option<RuleEffect>>;

    /// Lets a client's proxy do nothing to requests and replies, if it still waits; what waits in [`Cluster::arm`] then
    /// ends.
    fn disarm<'a>(&'a self, client: &'a Node) -> BackendFuture<'a, ()>;

    /// Delays all that passes a client's proxy, both ways and in order, and sees it late.
    fn delay<'a>(&'a self, client: &'a Node, latency: Latency) -> BackendFuture<'a>;

    /// Lets nothing pass a client's proxy, whose connections stay open, and sees that something waits there.
    fn stall<'a>(&'a self, client: &'a Node) -> BackendFuture<'a>;

    /// Lets everything pass a client's proxy again, what has waited first, and sees a server reached; not late, where
    /// it was delayed before.
    fn pass_on<'a>(&'a self, client: &'a Node, delayed: Option<Latency>) -> BackendFuture<'a, Passage>;

    /// Ends a client's connections at its proxy, which refuses new ones.
    fn disconnect<'a>(&'a self, client: &'a Node, wire: Wire) -> BackendFuture<'a>;

    /// Lets a client's connections through its proxy again.
    fn reconnect<'a>(&'a self, client: &'a Node) -> BackendFuture<'a>;

    /// Ends a client's connections to all servers but this one, refuses new ones at its proxy, and sees this one serve
    /// the client.
    fn route<'a>(&'a self, client: &'a Node, server: &'a Node) -> BackendFuture<'a>;

    /// Lets a client's connections to all servers through its proxy again, and sees more than one reached.
    fn unroute<'a>(&'a self, client: &'a Node) -> BackendFuture<'a>;

    /// Closes the session of a client's newest connection from another one, and sees it refused afterwards; `None` if
    /// the client has no session at the moment.
    fn expire<'a>(&'a self, client: &'a Node) -> BackendFuture<'a, Option<String>>;

    /// Has what its leader sends reach a server late, and sees a write of another server late there.
    fn lag<'a>(&'a self, server: &'a Node, behind: LeaderDelay) -> BackendFuture<'a>;

    /// Ends that, and sees a write of another server there at once.
    fn catch_up<'a>(&'a self, server: &'a Node, behind: LeaderDelay) -> BackendFuture<'a>;

    /// Creates persistent znodes, and those above them, through a server; one that exists is left as it is.
    fn create<'a>(&'a self, server: &'a Node, paths: &'a [String]) -> BackendFuture<'a, ()>;

    /// Creates the znodes that the workload stands on.
    fn set_up<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()>;

    /// Whether a znode is there, as a server sees it after a write.
    fn exists<'a>(&'a self, server: &'a Node, path: &'a str) -> BackendFuture<'a, bool>;

    /// The state that the server reports; an error if it does not serve.
    fn server_state<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ServerState>;

    /// The server to which a client's process is connected.
    fn server_of<'a>(&'a self, client: &'a Node) -> BackendFuture<'a, Option<Node>>;

    /// Opens a session of this timeout, leaves it silent, and sees it expire; milliseconds that it took.
    fn canary<'a>(&'a self, server: &'a Node, session_ms: u64) -> BackendFuture<'a, u64>;

    /// Reads all znodes through a server.
    fn tree<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, Vec<Znode>>;

    /// The transaction logs of all servers, whether they run or not; what could not be read is named in them.
    fn transactions(&self) -> BoxFuture<'_, TxnLogs>;

    /// The last lines of a node's log, headed by its name.
    fn log_tail(&self, node: &Node) -> String;

    /// The engines of containers that do not answer at the moment, in words: `the Docker engine of h2`. What they run
    /// goes on.
    fn lost_engines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why there is no way to the last process of a client, which may live; `None` if it has ended or could not be
    /// started.
    fn unreachable<'a>(&'a self, _client: &'a Node) -> BoxFuture<'a, Option<String>> {
        Box::pin(ready(None))
    }

    /// What was measured of the machines of a run over several, as its history has it; `None` where there is one alone.
    fn hosts(&self) -> BackendFuture<'_, Option<Value>> {
        Box::pin(ready(Ok(None)))
    }

    /// How a person reaches the cluster when it is left standing; an error if a server has no address.
    fn how_to_reach(&self) -> Result<String>;

    /// Removes the cluster, and returns when the logs of its servers are complete.
    fn remove(&self) -> BackendFuture<'_, ()>;
}

#[cfg(test)]
mod tests;
