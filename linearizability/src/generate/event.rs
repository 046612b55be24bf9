//! Events of a generated history.

use crate::Value;

/// What an event is of its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// The operation is sent.
    Invoke,
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may have happened, may happen later, or never.
    Info,
}

/// An event; its position is its place in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedEvent {
    /// The number of the process.
    pub process: u64,
    /// Whether it is an invocation, or else the outcome.
    pub kind: EventType,
    /// The name of the operation.
    pub f: &'static str,
    /// What the operation was sent or answered with.
    pub value: Value,
    /// Why it failed, or why its outcome is unknown.
    pub error: Option<&'static str>,
}
