//! The read-write locks, with what each promises and what is known to go wrong with it.

use std::sync::Arc;

use zooquake_history::operation::rwlock;
use zooquake_history::plan::Resource;

use super::{PARENT, fenced, neighbour};
use crate::recipes::grant::GrantHandler;
use crate::recipes::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The family and its variants.
pub const FAMILY: FamilyVariants = FamilyVariants {
    spec: &rwlock::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "fenced",
        promise: "protected: a reader waits for the writers before it, a writer for all before it, and each write carries the czxid \
                  of its znode: no writer is granted beside others, and no write is stale under any fault",
        fenced: true,
        build: |env| Ok(Arc::new(GrantHandler::new(env, &rwlock::FAMILY, fenced(env)))),
        ..PLAIN
    },
    Variant {
        name: "neighbour",
        promise: "the tutorial's: a reader looks at the znode just before its own only, and holds if that is another reader's; writers \
                  are exclusive among each other while nobody loses a session",
        accepted: &[BESIDE, STALE, ORPHAN, STUCK],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &rwlock::FAMILY, neighbour(env)))),
        ..PLAIN
    },
];

const PLAIN: Variant = Variant {
    family: rwlock::FAMILY.name,
    resource: Resource::External,
    contenders: &[PARENT],
    ..Variant::PLAIN
};

known! {
    BESIDE: "double-grant" under &["none"],
        "a reader whose neighbour is a reader that waits holds beside the writer which that one waits for, without any fault",
        "ZooKeeper Recipes, Shared Locks: a reader waits for the write- znode next before it";
    STALE: "stale-write" under &["pause", "partition", "expire"],
        "session events are ignored, so a writer whose session has ended goes on working while the next one is granted",
        "Curator TN10, CURATOR-206";
    ORPHAN: "orphan-node" under &["kill", "pause", "partition", "drop-reply", "disconnect", "lag"],
        "a request whose reply is lost ends the operation with an error; the session stays open, and with it the znode",
        "ZOOKEEPER-1262";
    STUCK: "lost-wakeup" under &["kill", "pause", "partition", "drop-reply", "disconnect", "lag"],
        "everybody waits behind the znode of an attempt or release that ended with an error, whose session lives on",
        "ZOOKEEPER-1262";
}
