//! Faults in a plan: whom each hits, how, and when.

use serde::{Deserialize, Serialize};

/// One fault to inject and to heal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Number of the window, from 1; its events in the history carry it.
    pub id: usize,
    /// The name of its [kind](crate::fault::KINDS).
    #[serde(deserialize_with = "crate::renamed::fault_of")]
    pub fault: String,
    /// Whom it hits.
    pub target: Target,
    /// How the network is cut; `None` unless `fault` is `partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What the proxy between a client and the ensemble does; `None` unless `fault` is `drop-reply` or `disconnect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// When it begins.
    pub trigger: Trigger,
    /// How long it stays, in milliseconds; for a kill, how long the process stays dead.
    pub duration_ms: u64,
}

/// Whom a fault hits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The server or client of this name.
    Node(String),
    /// The client whose state fired the trigger.
    Client,
    /// The client that holds when the trigger fires.
    Holder,
    /// The ensemble's leader.
    Leader,
    /// The server to which the client that holds is connected.
    HolderServer,
    /// These servers together: of a `partition` cut off from the other servers, of a `wipe` those that lose their data.
    Servers(Vec<String>),
}

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

/// What the proxy between a client and the ensemble does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Drops the reply to a request that was applied, and closes the connection.
    DropReply(Which),
    /// Drops a request before a server sees it, and closes the connection.
    DropRequest(Which),
    /// Closes the client's connections (FIN) and refuses new ones.
    Close,
    /// Resets the client's connections (RST) and refuses new ones.
    Reset,
}

/// A request of a client, counted from the moment at which the proxy is armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Which {
    /// Its kind.
    pub op: WireOp,
    /// Its number among those of the kind, from 1.
    pub nth: u32,
}

/// Kinds of requests, as ZooKeeper's protocol tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// When a fault begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// At a moment.
    At {
        /// Milliseconds since operations began.
        at_ms: u64,
    },
    /// When, after a moment, some client comes into a state.
    State {
        /// The state.
        state: State,
        /// Milliseconds since operations began before which the trigger is not armed.
        from_ms: u64,
        /// Milliseconds that the state must have lasted.
        after_ms: u64,
    },
    /// Some time after a client was asked for an operation, for the n-th time; the next such operation with as much work
    /// will do if that moment is past.
    Op {
        /// The client.
        client: String,
        /// The operation.
        f: String,
        /// Its number among the client's operations of this name, from 1.
        nth: u64,
        /// Milliseconds of work in it.
        work_ms: u64,
        /// Milliseconds after it was sent.
        after_ms: u64,
        /// Milliseconds since operations began at which the trigger is given up.
        by_ms: u64,
    },
}

/// A client's state, as the orchestrator knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// An acquire was sent and is not answered.
    Acquiring,
    /// A write with work that outlasts the trigger's `after_ms` is not answered.
    Working,
    /// A release was sent and is not answered.
    Releasing,
    /// An acquire has been waiting while other clients hold in a way that excludes it.
    Waiting,
    /// An operation of this name was sent and is not answered.
    Asked(String),
}
