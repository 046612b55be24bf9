//! What an operation is about: the same name links its events across clients.

use crate::text;
use std::fmt;
use zooquake_checkers::Event;

/// A grant, an item, a round or a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject<'a> {
    /// A grant of a lock, or a term of a leader.
    Grant(&'a str),
    /// An item of a queue.
    Item(i64),
    /// A round of a barrier.
    Round(i64),
    /// A transaction.
    Transaction(&'a str),
}

impl<'a> Subject<'a> {
    /// What the event names; `None` if it names nothing of the kind.
    pub fn of(event: &'a Event) -> Option<Self> {
        let grant = || event.grant().map(Self::Grant);
        let item = || event.item().map(Self::Item);
        let round = || event.round().map(Self::Round);
        let transaction = || event.tx().map(Self::Transaction);
        grant().or_else(item).or_else(round).or_else(transaction)
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant(name) | Self::Transaction(name) => f.write_str(&text::clip(name, 24)),
            Self::Item(n) => write!(f, "item {n}"),
            Self::Round(n) => write!(f, "round {n}"),
        }
    }
}
