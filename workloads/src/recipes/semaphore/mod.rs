//! Semaphores: a few clients hold a lease at a time. What each promises, and what is known to go wrong with it.

mod timed;

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use zooquake_history::operation::semaphore;
use zooquake_history::plan::Capabilities;

pub use timed::TimedLeases;

use super::grant::{ContenderQueue, Contest, GrantHandler, Mode, ProtectedQueue, TutorialClient, create, heard};
use super::lock::Token;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};
use super::{Env, HolderState, OpError, OwnZnode};
use crate::zk::{CreateMode, Zk};

/// The parent of the leases' znodes.
pub const PARENT: &str = "/semaphore";

/// How many leases there are.
pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(2).expect("it is not 0");

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
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
        name: "timed",
        promise: "a lease lasts 1.5 s by the clock, which its znode states; who finds that it is over writes it anew, by its version: never \
                  more leases than two under any fault, and no work begun that its lease does not outlast",
        znodes: &[timed::PARENT],
        contenders: &[],
        capabilities: Capabilities {
            lease_ms: timed::LEASE_MS,
            margin_ms: timed::MARGIN_MS,
            ..PLAIN.capabilities
        },
        build: |env| {
            Ok(Arc::new(GrantHandler::new(
                env,
                &semaphore::FAMILY,
                TimedLeases::new(env),
            )))
        },
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
    BOTH_COUNTED: "over-capacity" under &["none"],
        "a release wakes all waiting clients; each of them counts the leases before any other has created its own, so \
         that more than one takes the lease that is free",
        "kazoo, recipe/lock.py: Semaphore._get_lease, which kazoo calls under a lock; Curator, InterProcessSemaphoreV2";
    ORPHAN: "orphan-node" under LOSING,
        "a create or delete whose reply is lost ends the operation with an error; the session lives on, and with it the \
         lease that was created",
        "ZOOKEEPER-1262";
    STUCK: "lost-wakeup" under LOSING,
        "everybody waits for leases of operations that ended with an error, whose sessions live on",
        "ZOOKEEPER-1262";
}

const QUEUE: ContenderQueue = ContenderQueue {
    parent: PARENT,
    mark: "-lease-",
    capacity: CAPACITY,
};

/// A client of `semaphore/leases` that begins to open its session: a queue in which the first ones hold a lease each.
/// As in Curator's InterProcessSemaphoreV2 each client creates its ephemeral sequential znode first, with a GUID in its
/// name, and then counts; nobody needs the mutex that Curator takes around that, since only the znodes before its own
/// count.
pub fn leases(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Token(false))
}

/// A client of `semaphore/counted` that begins to open its session: it counts the leases, and if there are fewer than
/// the capacity creates its own; else it waits until the list changes. That is what kazoo's Semaphore does under a
/// lock, here by one who has left out the lock: several may count before any of them creates.
pub fn counted(env: &Env) -> TutorialClient {
    TutorialClient::new(env, Count)
}

struct Count;

#[async_trait]
impl Contest for Count {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, _: Mode) -> Result<OwnZnode, OpError> {
        loop {
            let (leases, watch) = zk
                .children_and_watch(PARENT)
                .await
                .map_err(|error| OpError::from_error("list the leases", &error))?;
            if leases.len() < CAPACITY.get() {
                return create(zk, holder, &format!("{PARENT}/lease-"), CreateMode::EphemeralSequential)
                    .await
                    .map_err(|error| OpError::from_error("create", &error));
            }
            heard(watch.await)?;
        }
    }
}
