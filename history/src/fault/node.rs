//! What happens to nodes: they are killed or frozen, lose their data, or are cut off from each other.

use super::{FaultKind, Hatch, PLAIN_HATCH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A process is killed.
pub const KILL: FaultKind = FaultKind {
    name: "kill",
    summary: "SIGKILL to a client, a server or the ensemble's leader; the process is started again in the same host",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: true,
    freezes: false,
    per_node: None,
    colour: (213, 94, 0),
    dark: (213, 94, 0),
    hatch: Hatch {
        path: "M1 1L6 6M6 1L1 6",
        line: true,
        ..PLAIN_HATCH
    },
};

/// A node is frozen.
pub const PAUSE: FaultKind = FaultKind {
    name: "pause",
    summary: "freezes a client, a server or the ensemble's leader for longer than the session timeout",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: true,
    per_node: None,
    colour: (230, 159, 0),
    dark: (230, 159, 0),
    hatch: Hatch {
        turned: 45,
        path: "M0 0H2.2V7H0z",
        ..PLAIN_HATCH
    },
};

/// A majority's data is lost.
pub const WIPE: FaultKind = FaultKind {
    name: "wipe",
    summary: "positive control, never a default: kills all voters, deletes snapshots and transaction logs of a majority, \
              and starts that one first, so that acknowledged writes are gone and a durability checker must report it",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (128, 136, 144),
    dark: (128, 136, 144),
    hatch: PLAIN_HATCH,
};

/// The network is cut, in the way that its [`Cut`] defines.
pub const PARTITION: FaultKind = FaultKind {
    name: "partition",
    summary: "cuts a client from the ensemble (for longer and for less than its session timeout), a server or the \
              leader from everyone, halves of the ensemble from each other, also one way only",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: Some("cut"),
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (204, 121, 167),
    dark: (204, 121, 167),
    hatch: Hatch {
        size: 6,
        path: "M0 0H6V2H0z",
        ..PLAIN_HATCH
    },
};

/// How the network is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// From everyone, both ways.
    Isolate,
    /// From the other servers, both ways; clients still reach it.
    FromServers,
    /// It receives nothing, and what it sends arrives.
    Deaf,
    /// It receives, and nothing that it sends arrives.
    Mute,
}
