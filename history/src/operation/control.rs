//! Control requests, which every client answers beside the operations of its recipe, and what it tells unasked.

use super::{Counts, Made};
use crate::event::Event;
use serde::Serialize;
use serde_json::{Value, json};

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To `confirm`, after a quorum write: it holds.
    Holds {
        /// True.
        holds: bool,
        /// The grant.
        grant: String,
        /// The transaction of that write.
        zxid: i64,
    },
    /// To `confirm`, after a quorum write: it holds nothing.
    HoldsNothing {
        /// False.
        holds: bool,
        /// The transaction of that write.
        zxid: i64,
    },
    /// To `quiesce`: its background work is finished.
    Quiet {
        /// The sessions it has.
        sessions: Vec<String>,
        /// The znodes it knows to be its own.
        znodes: Vec<Made>,
        /// What it has asked and heard; left out if it does not count all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Counts>,
    },
}

/// What a client tells unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A session has changed its state.
    Session {
        /// The session, as `0x…`.
        session: String,
        /// `connected`, `disconnected`, `expired` or `closed`.
        state: String,
    },
    /// It holds a grant no more.
    Lost {
        /// The grant.
        grant: String,
        /// Why.
        why: String,
    },
    /// It is about to take an item.
    Taking {
        /// The item.
        item: i64,
    },
}

impl Notice {
    /// Its name and its value.
    pub fn parts(&self) -> (&'static str, Value) {
        match self {
            Self::Session { session, state } => ("session", json!({ "session": session, "state": state })),
            Self::Lost { grant, why } => ("lost", json!({ "grant": grant, "why": why })),
            Self::Taking { item } => ("taking", json!({ "item": item })),
        }
    }
}

/// Fields of control requests and of notices.
impl Event {
    /// Whether the client holds.
    pub fn holds(&self) -> Option<bool> {
        self.bool("holds")
    }

    /// The new state of a session.
    pub fn state(&self) -> Option<&str> {
        self.str("state")
    }
}
