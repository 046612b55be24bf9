//! What anomalies come from, where the evidence proves it or leaves few possibilities.
//!
//! A checker gives an anomaly the cause that it finds in its own evidence. When all have run, [`close`] looks at what
//! stands in whose way: who waits behind a znode inherits its cause, and anomalies of one znode, transaction or window
//! have one root.

mod orphan;
mod overwrite;
mod queue_order;
mod queued_znodes;
mod removal;
mod root;
mod transaction_bounds;
mod waiting;

pub use orphan::OrphanCauses;
pub use overwrite::Overwrites;
pub use removal::Removals;

use crate::analysis::Analysis;
use crate::findings::Findings;
use serde::{Deserialize, Serialize};
use zooquake_history::operation::Mode;

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
    /// Its path.
    pub path: String,
    /// The transaction that created it.
    pub czxid: i64,
}

/// What an anomaly is about, where others may follow from it or it may follow from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnomalySubject {
    /// A znode that nobody removes.
    Orphan(CauseZnode),
    /// A client that waits.
    Waiter(WaitingClient),
}

/// A client that waits to hold. Positions are those of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingClient {
    /// Its name.
    pub node: String,
    /// Where it was asked.
    pub asked: usize,
    /// From where on it is judged that it waited.
    pub since: usize,
    /// Whether it is still waiting when the tree is read.
    pub pending: bool,
    /// How it would hold; `None` if that is not known.
    pub mode: Option<Mode>,
}

/// Adds the causes that rest on several anomalies, decides what is accepted because of them, and puts the anomalies in
/// their order: not advisory before advisory, roots by their witnesses, and what follows from a root behind it.
pub fn close(run: &Analysis<'_>, found: &mut Findings) {
    waiting::add(run, found);
    root::link(&mut found.anomalies, &found.subjects);
    root::sort(&mut found.anomalies);
}
