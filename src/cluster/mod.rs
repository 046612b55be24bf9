//! The ensemble and its clients: hosts with processes on them that can be killed, frozen and cut off.

pub mod confinement;
mod docker;
mod evidence;
pub mod exec;
mod hosts;
pub mod lease;
mod sidecar;
pub mod sweep;

use crate::sidecar::Dropped;
use anyhow::Result;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::time::Duration;
use zooquake_checkers::plan::Wire;

pub use docker::{BringUp, DockerCluster, engine};

/// The state that a server tells of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// What comes of a primitive: mostly a sentence that says what was seen.
pub type Doing<'a, T = String> = BoxFuture<'a, Result<T>>;

/// The primitives that a run needs of a cluster. Nodes are named `n1`, … (servers) and `c1`, … (clients).
///
/// Every fault returns only after its effect was seen on the spot, with a sentence that says what was seen.
pub trait Cluster: Send + Sync + 'static {
    /// Names of the servers.
    fn servers(&self) -> Vec<String>;

    /// Names of the servers that vote.
    fn voters(&self) -> Vec<String>;

    /// Names of the clients.
    fn clients(&self) -> Vec<String>;

    /// Kills the process on the node with SIGKILL and sees it gone.
    fn kill<'a>(&'a self, node: &'a str) -> Doing<'a>;

    /// Starts the process of a server again; nothing happens to one that runs.
    fn restart_server<'a>(&'a self, server: &'a str) -> Doing<'a, ()>;

    /// Deletes the snapshots and transaction logs of a server whose process is dead, and sees them gone.
    ///
    /// The epochs that it has promised stay, or those that keep their data could never follow it again.
    fn wipe<'a>(&'a self, server: &'a str) -> Doing<'a, ()>;

    /// Starts a client's process; all that it says goes to `on_output`.
    fn start_client(
        &self,
        client: &str,
        incarnation: u64,
        on_output: impl FnMut(exec::Output) + Send + 'static,
    ) -> impl Future<Output = Result<exec::Stdin>> + Send
    where
        Self: Sized;

    /// Freezes the node.
    fn pause<'a>(&'a self, node: &'a str) -> Doing<'a>;

    /// Thaws the node; nothing happens to one that is not frozen.
    fn resume<'a>(&'a self, node: &'a str) -> Doing<'a>;

    /// Sees a client's node not frozen, and none of its threads stopped.
    fn sees_running<'a>(&'a self, client: &'a str) -> Doing<'a>;

    /// Drops what passes between the node and the peers, as its own network sees it.
    fn cut<'a>(&'a self, node: &'a str, peers: &'a [String], directions: Directions) -> Doing<'a>;

    /// Removes all cuts set at the node.
    fn heal<'a>(&'a self, node: &'a str, peers: &'a [String]) -> Doing<'a>;

    /// Has a client's proxy lose a request or a reply, and waits for it; `None` if none came that fits.
    fn lose<'a>(&'a self, client: &'a str, wire: Wire, limit: Duration) -> Doing<'a, Option<Dropped>>;

    /// Lets a client's proxy lose nothing, if it still waits; what waits in [`Cluster::lose`] then ends.
    fn lose_nothing<'a>(&'a self, client: &'a str) -> Doing<'a, ()>;

    /// Ends a client's connections at its proxy, which refuses new ones.
    fn sever<'a>(&'a self, client: &'a str, wire: Wire) -> Doing<'a>;

    /// Lets a client's connections through its proxy again.
    fn rejoin<'a>(&'a self, client: &'a str) -> Doing<'a>;

    /// Creates persistent znodes through a server; one that exists is left as it is.
    fn create<'a>(&'a self, server: &'a str, paths: &'a [String]) -> Doing<'a, ()>;

    /// Creates the znodes that the workload stands on.
    fn set_up<'a>(&'a self, server: &'a str) -> Doing<'a, ()>;

    /// Whether a znode is there, as a server sees it after a write.
    fn exists<'a>(&'a self, server: &'a str, path: &'a str) -> Doing<'a, bool>;

    /// What the server tells of itself; an error if it does not serve.
    fn server_state<'a>(&'a self, server: &'a str) -> Doing<'a, ServerState>;

    /// The server to which a client's process is connected.
    fn server_of<'a>(&'a self, client: &'a str) -> Doing<'a, Option<String>>;
}
