//! The ensemble and its clients: hosts with processes on them that can be killed, frozen and cut off.

mod docker;
mod evidence;
pub mod exec;
mod hosts;
mod sidecar;
pub mod sweep;

use anyhow::Result;
use std::future::Future;

pub use docker::{BringUp, DockerCluster, engine};

/// The state that a server tells of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerState {
    /// `leader`, `follower`, `observer` or `standalone`.
    pub mode: String,
    /// Its last zxid; the upper half is the epoch.
    pub zxid: i64,
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

/// The primitives that a run needs of a cluster. Nodes are named `n1`, … (servers) and `c1`, … (clients).
///
/// Every fault returns only after its effect was seen on the spot, with a sentence that says what was seen.
pub trait Cluster: Send + Sync + 'static {
    /// Names of the servers.
    fn servers(&self) -> Vec<String>;

    /// Names of the clients.
    fn clients(&self) -> Vec<String>;

    /// Kills the process on the node with SIGKILL and sees it gone.
    fn kill(&self, node: &str) -> impl Future<Output = Result<String>> + Send;

    /// Starts the process of a server again.
    fn restart_server(&self, server: &str) -> impl Future<Output = Result<()>> + Send;

    /// Starts a client's process; all that it says goes to `on_output`.
    fn start_client(
        &self,
        client: &str,
        incarnation: u64,
        on_output: impl FnMut(exec::Output) + Send + 'static,
    ) -> impl Future<Output = Result<exec::Stdin>> + Send;

    /// Freezes the node.
    fn pause(&self, node: &str) -> impl Future<Output = Result<String>> + Send;

    /// Thaws the node; nothing happens to one that is not frozen.
    fn resume(&self, node: &str) -> impl Future<Output = Result<String>> + Send;

    /// Drops what passes between the node and the peers, as its own network sees it.
    fn cut(&self, node: &str, peers: &[String], directions: Directions) -> impl Future<Output = Result<String>> + Send;

    /// Removes all cuts set at the node.
    fn heal(&self, node: &str, peers: &[String]) -> impl Future<Output = Result<String>> + Send;

    /// What the server tells of itself; an error if it does not serve.
    fn server_state(&self, server: &str) -> impl Future<Output = Result<ServerState>> + Send;

    /// The server to which a client's process is connected.
    fn server_of(&self, client: &str) -> impl Future<Output = Result<Option<String>>> + Send;
}
