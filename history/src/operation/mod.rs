//! The operations of each family of recipes: what a client is asked, and what it answers, a family a file.
//!
//! A `Request` names an operation with its value. An `Answer` is the value of an operation that ended as `ok`. Both are written
//! by these types alone. Histories of others, or damaged ones, may hold anything: an [`Event`] gives each field of its value
//! by a method that has the field's name, and that is `None` if the field is missing or of another type.

pub mod barrier;
pub mod commit;
pub mod control;
mod counts;
pub mod grant;
mod nemesis;
pub mod queue;
pub mod register;
mod spec;

use crate::event::Event;
pub use counts::Counts;
use serde::{Deserialize, Serialize};
pub use spec::{Again, Delay, Family, Finishes, OpSpec, Role, StrikePoint, family, op, role};

/// The families of recipes. A new one is a file and a line here.
pub const FAMILIES: &[&Family] = &[
    &grant::LOCK,
    &grant::ELECTION,
    &commit::FAMILY,
    &barrier::FAMILY,
    &queue::FAMILY,
    &register::FAMILY,
];

/// A znode, as one that the client made or removed is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Its path.
    pub path: String,
    /// zxid of the transaction that created it; `None` where the client cannot tell.
    pub czxid: Option<i64>,
}

/// Fields that the operations of several families have.
impl Event {
    /// The path of the znode that the operation rests on.
    pub fn path(&self) -> Option<&str> {
        self.str("path")
    }

    /// zxid of the transaction that created that znode.
    pub fn czxid(&self) -> Option<i64> {
        self.int("czxid")
    }

    /// zxid of the transaction by which the operation wrote, or of the one that wrote what it read.
    pub fn mzxid(&self) -> Option<i64> {
        self.int("mzxid")
    }

    /// The session in which the client did it, as `0x…`.
    pub fn session(&self) -> Option<&str> {
        self.str("session")
    }

    /// Milliseconds that the client is to work before it does what it is asked for.
    pub fn work_ms(&self) -> Option<i64> {
        self.int("work_ms")
    }

    /// The path and the czxid of the znode that the operation removed, each if it is told.
    pub fn removed(&self) -> Option<(Option<&str>, Option<i64>)> {
        let removed = self.value.get("removed").filter(|removed| removed.is_object())?;
        Some((
            removed.get("path").and_then(|path| path.as_str()),
            removed.get("czxid").and_then(|czxid| czxid.as_i64()),
        ))
    }
}
