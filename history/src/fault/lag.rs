//! A follower that falls behind while it serves.

use super::{FaultKind, Hatch, PLAIN, WireOp};
use serde::{Deserialize, Serialize};

/// What a leader sends to a follower arrives late, as the window's [`Lag`] says.
pub const LAG: FaultKind = FaultKind {
    name: "lag",
    summary: "delays what the leader sends to a follower by 30 to 70 % of syncLimit x tickTime: the follower serves, and \
              what it serves is old; now and then a client loses a reply and comes back to that follower",
    proxied: true,
    between_servers: true,
    payload: Some("lag"),
    colour: (17, 119, 51),
    dark: (80, 176, 112),
    hatch: Hatch {
        size: 6,
        path: "M0 3L3 0L6 3",
        line: true,
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// How far a follower falls behind, and who meets it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lag {
    /// The delay of what its leader sends, in hundredths of syncLimit x tickTime.
    pub delay_percent: u64,
    /// The client that comes to the follower while it is behind; `None` if none is brought there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
}

/// A client that loses the reply to a request, and with it the connection, and comes back to the follower that is behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The client.
    pub client: String,
    /// The kind of the request: the next one of that kind that is applied.
    pub op: WireOp,
}
