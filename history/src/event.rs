//! Histories: what each client was asked, what it answered, and which faults were on.
//!
//! The semantics are Jepsen's: `invoke` begins an operation, `ok` means that it happened, `fail` that it certainly did
//! not, `info` that it may or may not have. `docs/history.md` describes every operation and its values.

use crate::node::Node;
use crate::text::Text;
use crate::value::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use crate::jsonl::parse_jsonl;

/// The process of an event.
///
/// Numbers are the logical single-threaded processes of Jepsen: a client works as one process until an operation ends
/// as `info` or the client dies, and then goes on under a new number. A named process has events at any
/// moment: `"nemesis"` (faults), `"run"` (phases), `"admin"` (set-up and recovery) and one for each client, such as
/// `"c3"` (control requests, notices).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Process {
    /// A logical process.
    Number(u64),
    /// A named process.
    Name(Text),
}

impl From<&Node> for Process {
    fn from(node: &Node) -> Self {
        Self::Name(node.into())
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// The type of an event: the invocation of an operation, or its completion with the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventType {
    /// The operation is about to be sent.
    Invoke,
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may or may not have happened, now or later; also the type of events that are no operation's.
    Info,
}

/// One line of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Position in the history, from 0.
    pub index: usize,
    /// Nanoseconds since the run began, on the orchestrator's monotonic clock.
    pub time: u64,
    /// The process that it belongs to.
    pub process: Process,
    /// Invocation, or completion with its outcome.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The operation: `acquire`, `write`, `pause`, …
    pub f: Text,
    /// The operation's value; see `docs/history.md`.
    #[serde(default)]
    pub value: Value,
    /// Why it failed, or why its outcome is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The client (`c1`, …) that the event belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Text>,
}

impl Event {
    /// Whether the event is of the process `name`.
    pub fn is_of(&self, name: &str) -> bool {
        matches!(&self.process, Process::Name(n) if n == name)
    }

    /// The client that the event belongs to.
    pub fn client(&self) -> Option<Node> {
        self.node.as_deref().map(Node::from)
    }
}

/// A history: events in the order in which they were recorded, `events[i].index == i`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The events by ascending index.
    pub events: Vec<Event>,
}

/// Where and how a history file is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What was expected or found.
    pub what: String,
}

impl Damage {
    /// The damage, with how many lines of the text stay unread after its own.
    pub(crate) fn before(mut self, text: &str) -> Self {
        let rest = text.lines().skip(self.line).filter(|line| !line.trim().is_empty());
        match rest.count() {
            0 => {}
            1 => self.what += "; the line after it is not read either",
            more => self.what += &format!("; the {more} lines after it are not read either"),
        }
        self
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Damage {}
