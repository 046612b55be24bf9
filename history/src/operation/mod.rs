//! The operations of each family of recipes: what a client is asked, and what it answers, a family a file.
//!
//! A `Request` names an operation with its value. An `Answer` is the value of an operation that ended as `ok`. Both are
//! written by these types alone. Histories of others, or damaged ones, may hold anything: each [`Field`] of a value is
//! a constant of its family, and is read by a method of [`Event`](crate::Event), which is `None` if the field is
//! missing or of another type.

pub mod barrier;
pub mod commit;
pub mod consensus;
pub mod control;
pub mod counter;
mod counts;
pub mod election;
pub mod ensemble;
mod field;
pub mod grant;
pub mod lock;
pub mod membership;
mod mode;
pub mod nemesis;
pub mod queue;
pub mod register;
mod required;
pub mod rwlock;
pub mod semaphore;
mod spec;

pub use counts::Counts;
use field::fields;
pub use field::{AnyType, Field, FieldType, JsonNode};
pub use mode::{Holders, Mode};
pub use required::{FieldContent, FieldSource, RequiredField};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use spec::{Delay, Family, FinishRule, GrantOps, OpSpec, Replacement, Role, StrikePoint, family, op, role};

/// The families, in the order in which they are shown. A new one is a file and a line here, and an entry in each
/// registry of what is done for a family: these are arrays of as many entries.
pub const FAMILIES: &[&Family] = &[
    &lock::FAMILY,
    &rwlock::FAMILY,
    &election::FAMILY,
    &semaphore::FAMILY,
    &commit::FAMILY,
    &barrier::FAMILY,
    &queue::FAMILY,
    &register::FAMILY,
    &counter::FAMILY,
    &membership::FAMILY,
    &ensemble::FAMILY,
    &consensus::FAMILY,
];

/// How many of [`FAMILIES`] have recipes: all but those whose runs have no clients, or no ZooKeeper. Registries of what
/// concerns recipes are arrays of this length.
pub const RECIPE_FAMILIES: usize = {
    let (mut count, mut at) = (0, 0);
    while at < FAMILIES.len() {
        count += FAMILIES[at].recipes as usize;
        at += 1;
    }
    count
};

/// A znode, as one that the client made or removed is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZnodeName {
    pub path: String,
    /// zxid of the transaction that created it; `None` where the client cannot give it.
    pub czxid: Option<i64>,
}

/// An operation that a client can be asked for.
pub trait Operation: Serialize {
    /// Its name and its value, as they are sent and recorded.
    fn parts(&self) -> (&'static str, Value) {
        let mut request = serde_json::to_value(self).expect("a request is plain data with string keys");
        let known = request["f"].as_str().and_then(op);
        let f = known.expect("the table of its family has the operation").f;
        (f, request["value"].take())
    }
}

// Fields that the operations of several families have.
fields! {
    /// The path of the znode that the operation rests on.
    PATH, path: str = "path";
    /// zxid of the transaction that created that znode.
    CZXID, czxid: i64 = "czxid";
    /// zxid of the transaction by which the operation wrote, or of the one that wrote what it read.
    MZXID, mzxid: i64 = "mzxid";
    /// The session in which the client did it, as `0x…`.
    SESSION, session: str = "session";
    /// Milliseconds that the client is to work before it does what it is asked for.
    WORK_MS, work_ms: i64 = "work_ms";
    /// The path and the czxid of the znode that the operation removed, each if it is given.
    REMOVED, removed: ZnodeName = "removed";
}
