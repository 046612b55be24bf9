//! A queue in which the first ones hold a lease each. As in Curator's InterProcessSemaphoreV2 each client creates its
//! ephemeral sequential znode first, with a GUID in its name, and then counts; nobody needs the mutex that Curator
//! takes around that, since only the znodes before its own count.

use std::sync::Arc;

use async_trait::async_trait;

use super::{CAPACITY, PARENT};
use crate::recipes::grant::{BeforeGrant, ContenderQueue, FirstContender, ProtectedQueue};
use crate::recipes::{Env, Grant};

const QUEUE: ContenderQueue = ContenderQueue {
    parent: PARENT,
    mark: "-lease-",
    capacity: CAPACITY,
};

/// A client of `semaphore/leases` that begins to open its session.
pub fn leases(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Arc::new(AtOnce))
}

/// One of the first holds, and does nothing before.
struct AtOnce;

#[async_trait]
impl BeforeGrant for AtOnce {
    async fn perform(&self, _: FirstContender<'_>, grant: Grant) -> Option<Grant> {
        Some(grant)
    }
}
