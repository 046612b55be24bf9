//! What the engine appends to the history.

use serde_json::Value;
use zooquake_history::{EventType, Process};

/// An event but for its index and time, which the recorder adds.
#[derive(Debug)]
pub struct HistoryEntry {
    /// Who.
    pub process: Process,
    /// Type.
    pub kind: EventType,
    /// Operation.
    pub f: String,
    pub value: Value,
    /// Error, if any.
    pub error: Option<String>,
    /// Client, if it is one's.
    pub node: Option<String>,
}

impl HistoryEntry {
    /// An event of a named process that is no operation.
    pub fn named(name: &str, f: &str, value: Value) -> Self {
        Self {
            process: Process::Name(name.into()),
            kind: EventType::Info,
            f: f.to_string(),
            value,
            error: None,
            node: name.starts_with('c').then(|| name.to_string()),
        }
    }
}
