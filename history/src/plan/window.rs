//! Faults in a plan: whom each hits, how, and when.

use crate::fault::{Payload, payload_of};
use crate::node::{Host, Node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One fault to inject and to heal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Number of the window, from 1; its events in the history carry it.
    pub id: usize,
    /// The name of its [kind](crate::fault::KINDS).
    pub fault: String,
    /// The nodes that it hits.
    pub target: Target,
    /// How it strikes; `None` if its kind strikes in one way only, or the plan does not define it.
    #[serde(flatten, deserialize_with = "payload_of")]
    pub payload: Option<Payload>,
    /// When it begins.
    pub trigger: Trigger,
    /// How long it stays, in milliseconds; for a kill, how long the process stays dead.
    pub duration_ms: u64,
    /// Whether it begins when its trigger fires, whatever other windows are on. Left out of a window that waits: its
    /// trigger is armed once the window before it, of those that wait, was healed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}

/// The nodes that a fault hits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// This server or client, or node of a network.
    Node(Node),
    /// The client whose state fired the trigger.
    Client,
    /// The ensemble's leader.
    Leader,
    /// The server that follows or observes and serves most clients at that moment; of several the first one.
    Follower,
    /// The server to which the client that holds is connected.
    HolderServer,
    /// All servers and clients on this machine.
    Host(Host),
    /// These servers together: of a `partition` cut off from the other servers, of a `wipe` those that lose their data.
    Servers(Vec<Node>),
}

/// When a fault begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// At a moment.
    At {
        /// Milliseconds since operations began.
        at_ms: u64,
    },
    /// When, after a moment, some client is in a state.
    State {
        /// The state of some client, whichever comes into it first.
        state: ClientState,
        /// The client whose state it is; left out for any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<Node>,
        /// Milliseconds since operations began before which the trigger is not armed.
        from_ms: u64,
        /// Milliseconds that the state must have lasted.
        after_ms: u64,
    },
    /// Some time after a client was asked for an operation, for the n-th time; the next such operation with as much
    /// work will do if that moment is past.
    Op {
        /// The client.
        client: Node,
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
    /// When clients have answered so many operations.
    Count {
        /// The number of answers, whatever they were, of all clients together.
        operations: u64,
        /// Milliseconds since operations began at which the trigger is given up.
        by_ms: u64,
    },
}

/// A client's state, by the requests that the orchestrator sent and the replies that it received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// An acquire was sent and is not answered.
    Acquiring,
    /// A write with work that outlasts the trigger's `after_ms` is not answered.
    Working,
    /// A release was sent and is not answered.
    Releasing,
    /// An acquire was answered with a grant, which has not ended.
    Holding,
    /// An acquire has been waiting while other clients hold in a way that excludes it.
    Waiting,
    /// An operation of this name was sent and is not answered.
    Asked(String),
    /// An operation of this name was answered `ok`, and none was sent since.
    Answered(String),
}
