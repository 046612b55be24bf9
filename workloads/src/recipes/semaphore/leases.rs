//! A queue in which the first ones hold a lease each. As in Curator's InterProcessSemaphoreV2 each client creates its
//! ephemeral sequential znode first, with a GUID in its name, and then counts; nobody needs the mutex that Curator
//! takes around that, since only the znodes before its own count.

use super::{CAPACITY, PARENT};
use crate::recipes::Env;
use crate::recipes::grant::{ContenderQueue, ProtectedQueue};
use crate::recipes::lock::Token;

const QUEUE: ContenderQueue = ContenderQueue {
    parent: PARENT,
    mark: "-lease-",
    capacity: CAPACITY,
};

/// A client of `semaphore/leases` that begins to open its session.
pub fn leases(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Token(false))
}
