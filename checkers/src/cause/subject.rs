//! What an anomaly is about: a znode that stays, or a client that waits.

use super::record::CauseZnode;
use zooquake_history::operation::Mode;

/// What an anomaly is about, where others may follow from it or it may follow from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnomalySubject {
    /// A znode that nobody removes.
    Orphan(CauseZnode),
    /// A client that waits to hold.
    Waiter(WaitingClient),
    /// A client that waits for the others of its round.
    Member(WaitingClient),
}

/// A client that waits. Positions are those of events.
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
    /// How it would hold; `None` if that is not known, or if it waits for others.
    pub mode: Option<Mode>,
}
