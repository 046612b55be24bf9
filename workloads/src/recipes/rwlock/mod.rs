//! Read-write locks, what each promises, and what is known to go wrong with it.

use std::sync::Arc;

use zooquake_history::operation::rwlock;
use zooquake_history::plan::Resource;

use super::Env;
use super::grant::{Chain, ContenderQueue, GrantHandler, ProtectedQueue, Queues, TutorialClient};
use super::lock::Token;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The parent of the znodes of readers and writers.
pub const PARENT: &str = "/rwlock";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
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

/// The faults that end a client's process, or leave its request without a reply.
const LOSING: &[&str] = &[
    "kill",
    "pause",
    "partition",
    "drop-reply",
    "hold-reply",
    "disconnect",
    "move",
    "pin",
    "stall",
    "lag",
];

known! {
    BESIDE: "double-grant" under &["none"],
        "a reader whose neighbour is a reader that waits holds beside the writer which that one waits for, without any fault",
        "ZooKeeper Recipes, Shared Locks: a reader waits for the write- znode next before it";
    STALE: "stale-write" under &["pause", "partition", "expire", "stall"],
        "session events are ignored, so a writer whose session has ended goes on working while the next one is granted",
        "Curator TN10, CURATOR-206";
    ORPHAN: "orphan-node" under LOSING,
        "a request whose reply is lost ends the operation with an error; the session stays open, and with it the znode",
        "ZOOKEEPER-1262";
    STUCK: "lost-wakeup" under LOSING,
        "everybody waits behind the znode of an attempt or release that ended with an error, whose session lives on",
        "ZOOKEEPER-1262";
}

const QUEUES: Queues = Queues {
    exclusive: ContenderQueue::single(PARENT, "-write-"),
    shared: Some(ContenderQueue::single(PARENT, "-read-")),
};

/// A client of `rwlock/fenced` that begins to open its session: ZooKeeper's recipe "Shared Locks" in protected queues,
/// whose writers carry a token. Grants are given in the order of the znodes: a reader that comes after a waiting writer
/// waits behind it.
pub fn fenced(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUES, Token(true))
}

/// A client of `rwlock/neighbour` that begins to open its session: a copy of the recipe "Shared Locks" as a tutorial's
/// reader makes it. A reader looks at its neighbour only, the znode just before its own, and believes that it holds if
/// that is another reader's. Whether that one holds it does not ask: a writer may hold, or wait, before it.
pub fn neighbour(env: &Env) -> TutorialClient {
    let queue = Chain {
        parent: PARENT,
        exclusive: "write-",
        shared: Some("read-"),
    };
    TutorialClient::new(env, queue)
}
