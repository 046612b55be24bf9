//! A follower that falls behind while it serves.

use super::{FaultKind, Hatch, PLAIN_HATCH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A leader's messages to a follower arrive late, by the delay that the window's [`Lag`] defines.
pub const LAG: FaultKind = FaultKind {
    name: "lag",
    summary: "delays what the leader sends to a follower by 30 to 70 % of syncLimit x tickTime: the follower goes on serving, and \
              what its clients read is old",
    begins: "begins",
    proxied: false,
    between_servers: true,
    payload: Some("lag"),
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (17, 119, 51),
    dark: (80, 176, 112),
    hatch: Hatch {
        size: 6,
        path: "M0 3L3 0L6 3",
        line: true,
        ..PLAIN_HATCH
    },
};

/// How far a follower falls behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lag {
    /// The delay of what its leader sends, in hundredths of syncLimit x tickTime; from 1 to 99.
    pub delay_percent: u64,
}
