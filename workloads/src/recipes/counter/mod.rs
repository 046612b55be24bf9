//! A counter: one znode whose value every increment raises by 1, and gives to its caller as an id. What each variant
//! promises, and what is known to go wrong with it.
//!
//! The variants differ in what they do about a write of which it is not known whether it happened.

mod handler;
mod optimistic;
mod versioned;

use std::sync::Arc;

pub use handler::{CounterClient, CounterReading, Increment};
use optimistic::Optimistic;
use versioned::{MARKS, VersionedCounter};
use zooquake_history::operation::counter;

use super::Env;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};
use crate::service::Recipe;

/// The znode. It exists, and is empty, which is 0, before a client starts.
pub const COUNTER: &str = "/counter";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &counter::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "versioned",
        promise: "get, then a setData of that version in one multi with a mark of the client's own, by which it finds out whether \
                  a write of unknown outcome was its own: each id is given once and each increment counts once, under any fault",
        znodes: &[COUNTER, MARKS],
        build: |env| counter(env, Arc::new(VersionedCounter::new(env))),
        ..PLAIN
    },
    Variant {
        name: "optimistic",
        promise: "get, then a setData of that version, sent again when its outcome is unknown, as Curator's DistributedAtomicLong \
                  does: each id is given once",
        accepted: &[COUNTED_TWICE],
        build: |env| counter(env, Arc::new(Optimistic::SameVersion)),
        ..PLAIN
    },
    Variant {
        name: "unconditional",
        promise: "get, then a setData of that version, sent again without a version when its outcome is unknown: right as long as \
                  no reply is lost",
        accepted: &[GIVEN_AGAIN, OVERWRITTEN],
        build: |env| counter(env, Arc::new(Optimistic::AnyVersion)),
        ..PLAIN
    },
];

const PLAIN: Variant = Variant {
    family: counter::FAMILY.name,
    znodes: &[COUNTER],
    ..Variant::PLAIN
};

fn counter(env: &Env, increment: Arc<dyn Increment>) -> anyhow::Result<Recipe> {
    Ok(Arc::new(CounterClient::new(env, increment)))
}

/// The faults that lose replies.
const LOSING: &[&str] = &[
    "kill",
    "pause",
    "partition",
    "drop-reply",
    "hold-reply",
    "disconnect",
    "move",
    "pin",
    "expire",
    "stall",
    "lag",
];

known! {
    COUNTED_TWICE: "phantom-increment" under LOSING,
        "a write that was applied and whose reply was lost is sent again, refused for its version, taken for another client's, \
         and done once more",
        "Apache Curator, DistributedAtomicValue.trySet and RetryLoop";
    GIVEN_AGAIN: "duplicate-id" under LOSING,
        "a write that is sent again without a version takes the counter back to what others had made already",
        "ZooKeeper Programmer's Guide, setData: the version -1 matches any";
}

const OVERWRITTEN: KnownAnomaly = KnownAnomaly {
    anomaly: "lost-increment",
    ..GIVEN_AGAIN
};
