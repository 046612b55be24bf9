//! The cause of an anomaly, as results have it.

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
    /// The znode that it is, or that it made or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub znode: Option<CauseZnode>,
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
    /// One or two sentences in words.
    pub sentence: String,
}

/// A znode, which a later one at the same path is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CauseZnode {
    pub path: String,
    /// The transaction that created it.
    pub czxid: i64,
}
