//! Locks, what each promises, and what is known to go wrong with it.

mod children;
mod predecessor;
mod shipped;

use std::sync::Arc;

use async_trait::async_trait;
pub use children::{Herd, children};
pub use predecessor::Predecessor;
pub use shipped::ShippedLock;
use zooquake_history::operation::lock;
use zooquake_history::plan::Resource;

use super::grant::{BeforeGrant, ContenderQueue, FirstContender, GrantHandler, ProtectedQueue};
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};
use super::{Env, Grant};

/// The parent of the lock znodes.
pub const PARENT: &str = "/lock";

/// The znode that writers in ZooKeeper write.
pub const RESOURCE: &str = "/resource";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &lock::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "children",
        promise: "the tutorial's: everybody watches the list of children; exclusive while nobody loses a session",
        accepted: &[
            FROZEN,
            CUT_OFF,
            KnownAnomaly {
                reason: CHILDREN_ORPHAN,
                ..ORPHAN
            },
            KnownAnomaly {
                reason: CHILDREN_STUCK,
                ..STUCK
            },
        ],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &lock::FAMILY, children(env)))),
        ..PLAIN
    },
    Variant {
        name: "predecessor",
        promise: "the tutorial's: watches the znode before its own, releases by closing the session; exclusive while nobody \
                  loses a session",
        accepted: &[FROZEN, CUT_OFF, ORPHAN, STUCK, PRINTED],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &lock::FAMILY, Predecessor::new(env)))),
        ..PLAIN
    },
    Variant {
        name: "protected",
        promise: "finds its znode again, gives up when disconnected, leaves nothing behind: exclusive but for a holder that \
                  is frozen or cut off for longer than its session, or whose session is closed",
        accepted: &[PROTECTED_FROZEN, PROTECTED_CUT_OFF],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &lock::FAMILY, protected(env, false)))),
        ..PLAIN
    },
    Variant {
        name: "fenced",
        promise: "protected, and each write carries the czxid of its lock znode: no stale write under any fault",
        fenced: true,
        build: |env| Ok(Arc::new(GrantHandler::new(env, &lock::FAMILY, protected(env, true)))),
        ..PLAIN
    },
    Variant {
        name: "crate",
        promise: "zookeeper-client's own `Client::lock`: writes in ZooKeeper are guarded by its lock znode, so none is stale",
        resource: Resource::Zookeeper,
        client_library: true,
        accepted: &[SHIPPED_ORPHAN, SHIPPED_STUCK],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &lock::FAMILY, ShippedLock::new(env)?))),
        ..PLAIN
    },
];

/// The defaults of all of them.
const PLAIN: Variant = Variant {
    family: lock::FAMILY.name,
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
    FROZEN: "stale-write" under &["pause"],
        "a holder frozen for longer than its session timeout goes on with its work when it thaws, and treats its lock \
         as held until it releases it, since session events are ignored",
        "Curator TN10, CURATOR-206";
    CUT_OFF: "stale-write" under &["partition", "expire", "stall"],
        "session events are ignored, so a holder whose session ends, cut off or connected, goes on working while the next \
         one is granted",
        "twitter/commons 5, Curator TN10";
    ORPHAN: "orphan-node" under LOSING,
        "a request whose reply is lost ends the attempt with an error; the session stays open, and with it the znode \
         that was created",
        "ZOOKEEPER-1262";
    STUCK: "lost-wakeup" under LOSING,
        "an error or the session's end inside the watch callback is only printed, and the attempt never ends; and \
         everybody waits behind the znode of an attempt that ended with an error",
        "ZOOKEEPER-1262, the tutorial's text";
    PRINTED: "lost-wakeup" under &["expire"],
        "the session's end inside the watch callback is only printed, and the attempt never ends",
        "the tutorial's text";
}

const CHILDREN_ORPHAN: &str = "a create or delete whose reply is lost, or a listing that fails, ends the operation with an \
                               error and leaves the znode to the session, which lives on";

const CHILDREN_STUCK: &str = "everybody waits behind the znode of an attempt or release that ended with an error, whose \
                              session lives on";

known! {
    PROTECTED_FROZEN: "stale-write" under &["pause"],
        "a holder frozen for longer than its session timeout between its check and its write writes when it thaws; only \
         a fencing token stops it",
        "Curator TN10, CURATOR-206";
    PROTECTED_CUT_OFF: "stale-write" under &["partition", "expire", "stall"],
        "work that began before the session's end and lasts longer is not interrupted; and where syncLimit × tickTime \
         exceeds the session timeout, a cut-off server serves a holder whose session has expired",
        "Curator TN10, ZOOKEEPER-1675";
    SHIPPED_ORPHAN: "orphan-node" under &["kill", "pause", "partition", "hold-reply"],
        "only `ConnectionLoss` is retried: after a stall or a reset (`Error::Custom`) a create is cleaned up by a bare \
         child name, which is not a path, and the delete of a dropped lock is not repeated; the session lives on",
        "zookeeper-client 0.11.2, src/client/mod.rs: delete_ephemeral_background, delete_foreground";
    SHIPPED_STUCK: "lost-wakeup" under &["kill", "pause", "partition", "hold-reply"],
        "everybody waits behind the lock znode that a failed acquire or a dropped lock has left to its live session",
        "zookeeper-client 0.11.2, src/client/mod.rs: create_lock, LockClient::drop";
}

const QUEUE: ContenderQueue = ContenderQueue::single(PARENT, "-lock-");

/// A client of `lock/protected` or `lock/fenced`, the protected queue without and with a token, that begins to open
/// its session; `fenced` if its grants carry tokens.
pub fn protected(env: &Env, fenced: bool) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Token(fenced))
}

/// The first in the queue holds, and its znode's age is its token, if it has one.
pub struct Token(pub bool);

#[async_trait]
impl BeforeGrant for Token {
    async fn perform(&self, _: FirstContender<'_>, grant: Grant) -> Option<Grant> {
        let token = grant.czxid.filter(|_| self.0);
        Some(Grant { token, ..grant })
    }
}
