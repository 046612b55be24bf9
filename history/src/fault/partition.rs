//! A network that is cut.

use super::{FaultKind, Hatch, PLAIN};
use serde::{Deserialize, Serialize};

/// The network is cut, as its [`Cut`] says.
pub const PARTITION: FaultKind = FaultKind {
    name: "partition",
    summary: "cuts a client from the ensemble (for longer and for less than its session timeout), a server or the \
              leader from everyone, halves of the ensemble from each other, also one way only",
    payload: Some("cut"),
    colour: (204, 121, 167),
    dark: (204, 121, 167),
    hatch: Hatch {
        size: 6,
        path: "M0 0H6V2H0z",
        ..PLAIN.hatch
    },
    ..PLAIN
};

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
