//! What happens to messages of a network: some are lost, and some arrive twice.

use super::{FaultKind, Hatch, PLAIN_HATCH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages are lost, by the share that the window's [`Share`] defines.
pub const LOSS: FaultKind = FaultKind {
    name: "loss",
    summary: "of consensus protocols: loses a share of all messages",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: Some("share"),
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (51, 34, 136),
    dark: (136, 119, 221),
    hatch: Hatch {
        size: 6,
        path: "M1 5L5 1M0 0L2 2",
        line: true,
        ..PLAIN_HATCH
    },
};

/// Messages arrive twice, by the share that the window's [`Share`] defines.
pub const DUPLICATE: FaultKind = FaultKind {
    name: "duplicate",
    summary: "of consensus protocols: delivers a share of all messages twice, each copy at a time of its own",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: Some("share"),
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (170, 68, 153),
    dark: (221, 136, 204),
    hatch: Hatch {
        size: 6,
        path: "M1 1H5M1 4H5",
        line: true,
        ..PLAIN_HATCH
    },
};

/// How many messages a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// So many of a hundred; from 1 to 99.
    pub percent: u8,
}
