//! The semaphores, with what each promises and what is known to go wrong with it.

use std::sync::Arc;

use zooquake_history::operation::semaphore;
use zooquake_history::plan::Capabilities;

use super::{CAPACITY, PARENT, counted, leases};
use crate::recipes::grant::GrantHandler;
use crate::recipes::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The family and its variants.
pub const FAMILY: FamilyVariants = FamilyVariants {
    spec: &semaphore::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "leases",
        promise: "each creates its znode, and the first two in the queue hold; finds its znode again, gives up when disconnected, \
                  leaves nothing behind: never more leases than two under any fault",
        build: |env| Ok(Arc::new(GrantHandler::new(env, &semaphore::FAMILY, leases(env)))),
        ..PLAIN
    },
    Variant {
        name: "counted",
        promise: "counts the znodes and creates its own if there are fewer than two, as kazoo's Semaphore does, without the lock that \
                  kazoo takes around that: right as long as no two clients count at once",
        accepted: &[BOTH_COUNTED, ORPHAN, STUCK],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &semaphore::FAMILY, counted(env)))),
        ..PLAIN
    },
];

const PLAIN: Variant = Variant {
    family: semaphore::FAMILY.name,
    contenders: &[PARENT],
    capabilities: Capabilities {
        capacity: CAPACITY,
        ..Capabilities::NONE
    },
    ..Variant::PLAIN
};

known! {
    BOTH_COUNTED: "over-capacity" under &["none"],
        "a release wakes all waiting clients; each of them counts the leases before any other has created its own, so \
         that more than one takes the lease that is free",
        "kazoo, recipe/lock.py: Semaphore._get_lease, which kazoo calls under a lock; Curator, InterProcessSemaphoreV2";
    ORPHAN: "orphan-node" under &["kill", "pause", "partition", "drop-reply", "disconnect", "lag"],
        "a create or delete whose reply is lost ends the operation with an error; the session lives on, and with it the \
         lease that was created",
        "ZOOKEEPER-1262";
    STUCK: "lost-wakeup" under &["kill", "pause", "partition", "drop-reply", "disconnect", "lag"],
        "everybody waits for leases of operations that ended with an error, whose sessions live on",
        "ZOOKEEPER-1262";
}
