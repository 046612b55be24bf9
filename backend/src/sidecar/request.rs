//! What a sidecar is asked, as both ends of its stream have it.

use super::PeerRule;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use zooquake_history::fault::{Latency, Wire};

/// One request, and what it is answered with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SidecarRequest {
    /// `()`: a sign of life.
    Ping,
    /// `()`, once the host drops what these rules say.
    Cut { rules: Vec<PeerRule> },
    /// `u64`: how many packets the cut has dropped.
    Dropped,
    /// `()`, once nothing is dropped any more.
    Heal,
    /// `bool`: whether a connection was made.
    Probe { address: SocketAddr, within: Duration },
    /// `Vec<i32>`: the processes under test that were killed and seen gone.
    Kill,
    /// `usize`: the threads under test that ran within the time.
    Ran { within: Duration },
    /// `Vec<String>`: the threads under test that are stopped.
    Stopped,
    /// `Vec<i32>`: the processes under test.
    Processes,
    /// `Option<Ipv4Addr>`: the server that the client is connected to.
    ServerOfClient,
    /// [`crate::ServerState`].
    Srvr,
    /// `()`, once these persistent znodes are there, and those above them.
    Setup { paths: Vec<String> },
    /// `bool`: whether a znode is there after a write.
    Exists { path: String },
    /// `i64`: the zxid of the write.
    ProbeWrite,
    /// `Vec<Znode>`: all znodes.
    Tree,
    /// `u64`: milliseconds after which a silent session of this timeout was seen expired.
    Canary { session_ms: u64 },
    /// `Vec<u16>`: the ports on the client's loopback, from the first one, that lead to these servers.
    Proxy { servers: Vec<SocketAddr>, port: u16 },
    /// `Option<RuleEffect>`: what was lost or kept back within the time.
    Arm { wire: Wire, within: Duration },
    /// `()`: what was armed does nothing any more.
    Disarm,
    /// `DisconnectEffect`.
    Disconnect { wire: Wire },
    /// `Option<ExpiryEffect>`; `None` if the client has no session.
    Expire { servers: Vec<SocketAddr> },
    /// `LatencyEffect`, once all that passes through the proxy is late.
    Delay { latency: Latency },
    /// `StallEffect`, once nothing passes through the proxy.
    Stall,
    /// `PassageEffect`, once what has waited in the proxy was passed on.
    PassOn { within: Duration },
    /// `ReconnectEffect`.
    Reconnect { within: Duration },
    /// `RouteEffect`, once the client's connections are let to this server alone.
    Route { server: SocketAddr, within: Duration },
    /// `Vec<SocketAddr>`: the servers that answer over a connection, once all are let through again.
    Unroute,
    /// `()`, once the server's connections with these peers go through the proxy.
    QuorumProxy { peers: Vec<SocketAddr> },
    /// `Links` when the leader's words begin to come late.
    Lag { delay: Duration, at_most: Duration },
    /// `Relief`.
    CatchUp,
    /// `Links`.
    Links,
    /// `()`, once a session reads on the server.
    ReadAlong,
    /// `Lateness` of what was written as this zxid.
    Late { zxid: i64, within: Duration },
}

impl fmt::Display for SidecarRequest {
    /// Its name, as on the stream.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match json!(self) {
            Value::String(name) => f.write_str(&name),
            written => f.write_str(
                written
                    .as_object()
                    .and_then(|one| one.keys().next())
                    .map_or("", |name| name),
            ),
        }
    }
}

/// A line of the stream to a sidecar; its answer is a reply of this number.
#[derive(Debug, Serialize, Deserialize)]
pub struct SidecarLine {
    pub id: u64,
    pub request: SidecarRequest,
}
