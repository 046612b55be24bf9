//! A register: read, write, compare-and-set on one znode. The recipe is ZooKeeper itself. What each variant promises,
//! and what is known to go wrong with it.
//!
//! The variants differ in what comes before the read of the znode: nothing, a sync, a write.

mod handler;

use std::sync::Arc;

pub use handler::{Prelude, RegisterClient, RegisterReading};
use zooquake_history::operation::register;
use zooquake_history::plan::{Capabilities, RegisterReads};

use super::Env;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};
use crate::service::Recipe;

/// The znode. It exists, and is empty, before a client starts.
pub const REGISTER: &str = "/register";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &register::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "read",
        promise: "plain reads, answered by the server that the client is connected to: writes and compare-and-sets \
                  linearizable, a session never reads backwards, reads may be stale",
        accepted: &[STALE],
        build: |env| register(env, Prelude::Nothing),
        ..PLAIN
    },
    Variant {
        name: "sync-read",
        promise: "a sync before each read: as plain reads, but stale only at a leader that was deposed and has not noticed it",
        accepted: &[STALE_AFTER_SYNC],
        build: |env| register(env, Prelude::Sync),
        ..PLAIN
    },
    Variant {
        name: "quorum-read",
        promise: "a write before each read: all operations linearizable, under any fault",
        capabilities: Capabilities {
            reads: RegisterReads::Linearizable,
            ..Capabilities::NONE
        },
        build: |env| register(env, Prelude::write(env)),
        ..PLAIN
    },
];

/// What they have in common. Clients are pinned, so that what a lagging or deposed server answers is seen.
const PLAIN: Variant = Variant {
    family: register::FAMILY.name,
    znodes: &[REGISTER],
    pinned: true,
    ..Variant::PLAIN
};

fn register(env: &Env, prelude: Prelude) -> anyhow::Result<Recipe> {
    Ok(Arc::new(RegisterClient::new(env, prelude)))
}

known! {
    STALE: "stale-read" under &["kill", "pause", "partition", "lag"],
        "a server answers reads from what it has received, and goes on for a while when it is cut off from its leader, \
         or was deposed while it was frozen",
        "ZooKeeper Programmer's Guide, consistency guarantees; ZOOKEEPER-1675";
    STALE_AFTER_SYNC: "stale-read" under &["pause", "partition"],
        "sync is not a quorum operation: a leader that was deposed while it was frozen or cut off answers it by \
         itself, until it notices",
        "ZOOKEEPER-1675";
}
