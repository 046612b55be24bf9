//! A queue in which the first ones hold a lease each. As in Curator's InterProcessSemaphoreV2 each client creates its ephemeral
//! sequential znode first, with a GUID in its name, and then counts; nobody needs the mutex that Curator takes around that, since
//! only the znodes before its own count.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{CAPACITY, PARENT};
use crate::recipes::grant::{BeforeGrant, Candidate, Protected, Queue};
use crate::recipes::{Env, Grant};

const QUEUE: Queue = Queue {
    parent: PARENT,
    mark: "-lease-",
    capacity: CAPACITY,
};

/// A client of `semaphore/leases` that begins to open its session.
pub fn leases(env: &Env) -> Protected {
    Protected::new(env, QUEUE, Arc::new(AtOnce))
}

/// One of the first holds, and does nothing before.
struct AtOnce;

impl BeforeGrant for AtOnce {
    fn perform<'a>(&'a self, _: Candidate<'a>, grant: Grant) -> BoxFuture<'a, Option<Grant>> {
        std::future::ready(Some(grant)).boxed()
    }
}
