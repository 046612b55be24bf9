//! What happens on the wire between a client and the ensemble: lost, held and late replies and requests, ended
//! connections, closed sessions.

use super::{FaultKind, Hatch, PLAIN_HATCH};
use crate::Node;
use crate::operation::Field;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reply or a request is lost, as its [`Wire`] defines.
pub const DROP_REPLY: FaultKind = FaultKind {
    name: "drop-reply",
    summary: "loses the reply to a client's create, delete or other write after a server has applied it, now and then the \
              request before, and with it the connection",
    begins: "is armed",
    proxied: true,
    between_servers: false,
    payload: Some("wire"),
    armed: true,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (136, 34, 85),
    dark: (208, 88, 140),
    hatch: Hatch {
        size: 6,
        path: "M1 1h2.5v2.5h-2.5z",
        ..PLAIN_HATCH
    },
};

/// A reply is kept back for a while with all that follows it, as its [`Wire`] defines.
pub const HOLD_REPLY: FaultKind = FaultKind {
    name: "hold-reply",
    summary: "keeps back the reply to a client's create, delete or other write after a server has applied it, with all that \
              follows on that connection, for a twentieth to one and a half of the session timeout",
    begins: "is armed",
    proxied: true,
    between_servers: false,
    payload: Some("wire"),
    armed: true,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (34, 85, 85),
    dark: (96, 176, 172),
    hatch: Hatch {
        size: 6,
        path: "M1 1L5 3L1 5z",
        ..PLAIN_HATCH
    },
};

/// A client's connections are ended, in the way that its [`Wire`] defines.
pub const DISCONNECT: FaultKind = FaultKind {
    name: "disconnect",
    summary: "ends a client's connections (FIN or RST) while it works, waits or acquires, and refuses new ones for less \
              than its session timeout",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: Some("wire"),
    armed: true,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (75, 47, 176),
    dark: (154, 140, 240),
    hatch: Hatch {
        size: 6,
        path: "M0 0H2V6H0z",
        ..PLAIN_HATCH
    },
};

/// A client's session is closed, and the client is not asked.
pub const EXPIRE: FaultKind = FaultKind {
    name: "expire",
    summary: "closes a client's session from another connection, with its id and password, while the client works, waits or \
              acquires: alive and connected, it learns that the session has expired",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (102, 51, 51),
    dark: (196, 128, 116),
    hatch: Hatch {
        size: 6,
        path: "M3 .5L5.5 3L3 5.5L.5 3z",
        ..PLAIN_HATCH
    },
};

/// What passes between a client and the servers is delayed, as its [`Latency`] defines.
pub const LATENCY: FaultKind = FaultKind {
    name: "latency",
    summary: "delays all that passes between a client and the servers, both ways and in order, by up to a twelfth of the session \
              timeout and a jitter",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: Some("latency"),
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (102, 102, 51),
    dark: (186, 184, 112),
    hatch: Hatch {
        size: 6,
        path: "M0 1.5H5M0 4.5H2.5",
        line: true,
        ..PLAIN_HATCH
    },
};

/// Nothing passes between a client and the servers, and its connections stay open.
pub const STALL: FaultKind = FaultKind {
    name: "stall",
    summary: "lets nothing pass between a client and the servers, on connections that stay open, for less than the session timeout \
              and for longer; what has waited arrives afterwards",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (34, 34, 85),
    dark: (120, 150, 232),
    hatch: Hatch {
        size: 6,
        path: "M1 0H2.2V6H1zM3.8 0H5V6H3.8z",
        ..PLAIN_HATCH
    },
};

/// A client's connections are let to another server alone.
pub const MOVE: FaultKind = FaultKind {
    name: "move",
    summary: "ends a client's connection while it works, waits or acquires, and lets it to one other server alone, that which is \
              furthest behind: its session goes on there",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: None,
    armed: true,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (68, 102, 34),
    dark: (140, 184, 96),
    hatch: Hatch {
        size: 6,
        path: "M0 1H4L6 3L4 5H0z",
        ..PLAIN_HATCH
    },
};

/// A client's connections are let to one server alone, as its [`Pin`] defines.
pub const PIN: FaultKind = FaultKind {
    name: "pin",
    summary: "lets a client's connections to one server alone, the leader or one that follows, and ends what it has to others",
    begins: "begins",
    proxied: true,
    between_servers: false,
    payload: Some("to"),
    armed: true,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (85, 68, 51),
    dark: (176, 150, 128),
    hatch: Hatch {
        size: 6,
        path: "M2 0H4V3H5L3 6L1 3H2z",
        ..PLAIN_HATCH
    },
};

/// Of the evidence of a window: what was kept back, the `reply`.
pub const HELD: Field<str> = Field::new("held");

/// Of the evidence of a window: whether the `reply` was lost or the `request`.
pub const LOST: Field<str> = Field::new("lost");

/// What became of the request: `applied`, or `not-sent`.
pub const OUTCOME: Field<str> = Field::new("outcome");
/// Of the evidence of a window: the kind of the request.
pub const OP: Field<str> = Field::new("op");

/// What the proxy between a client and the ensemble does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Drops the reply to a request that was applied, and closes the connection.
    DropReply(NthRequest),
    /// Drops a request before a server sees it, and closes the connection.
    DropRequest(NthRequest),
    /// Keeps back the reply to a request that was applied, and what follows it on that connection.
    HoldReply(NthRequest),
    /// Closes the client's connections (FIN) and refuses new ones.
    Close,
    /// Resets the client's connections (RST) and refuses new ones.
    Reset,
}

/// A request of a client, counted from the moment at which the proxy is armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NthRequest {
    /// Its kind.
    pub op: WireOp,
    /// Its number among those of the kind, from 1.
    pub nth: u32,
}

/// Kinds of requests, as ZooKeeper's protocol distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// By how much all is delayed that passes between a client and the servers, each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The mean delay of one way, in milliseconds.
    pub ms: u64,
    /// By how many milliseconds a delay differs from the mean at most; no more than `ms`.
    pub jitter_ms: u64,
}

/// The server that a client is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// The one that leads.
    Leader,
    /// One that follows or observes: that which is furthest behind.
    Follower,
    /// This one.
    Server(Node),
}
