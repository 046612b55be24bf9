//! What an anomaly comes from, as far as the evidence proves it.

use serde::{Deserialize, Serialize};

/// The cause of an anomaly. Anomalies of one znode, transaction or window have one root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The index in [`crate::Results::anomalies`] of the anomaly that this one follows from; `None` if it is a root
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<usize>,
    /// Whether the evidence decides it; else it is one of several that may be.
    pub proven: bool,
    /// The number of the fault window that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<i64>,
    /// The zxid of the transaction that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<i64>,
    /// The session whose znode or end it is, as the history writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Indexes of the events that the cause rests on, ascending.
    pub events: Vec<usize>,
    /// One sentence in words.
    pub sentence: String,
}
