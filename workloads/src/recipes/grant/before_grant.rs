//! What the first in a protected queue, or a reader with no writer before it, does before it holds.

use async_trait::async_trait;

use super::claim::{GrantClaim, NoZnode};
use super::{ContenderQueue, ProtectedQueue};
use crate::recipes::{Grant, OwnZnode};
use crate::zk::{SharedValue, Zk};

/// What the first in the queue does before it holds.
#[async_trait]
pub trait BeforeGrant: Send + Sync {
    /// Completes the grant. `None` if the candidate has to look again whether it is still the first.
    async fn perform(&self, candidate: FirstContender<'_>, grant: Grant) -> Option<Grant>;

    /// Whether it promises an acknowledgement with each grant.
    fn acknowledges(&self) -> bool {
        false
    }

    /// The token of the newest grant of any client; `None` if it cannot be read, or there are no tokens.
    async fn newest(&self, _: &dyn Zk) -> Option<i64> {
        None
    }
}

/// The first in the queue.
pub struct FirstContender<'a> {
    /// Its place in the queue.
    pub claim: &'a GrantClaim,
    pub(super) client: &'a ProtectedQueue,
    pub(super) traces: &'a Traces,
}

impl FirstContender<'_> {
    /// Creates another znode that goes when the place in the queue does, and before it.
    ///
    /// # Errors
    /// [`NoZnode`]: there is none.
    pub async fn create(&self, queue: ContenderQueue) -> Result<OwnZnode, NoZnode> {
        let claim = GrantClaim::new(&self.client.env, queue, self.claim.zk.clone());
        self.client.create(&claim, self.traces).await
    }
}

/// What an attempt has brought into the world so far: its claims, each with the path of its znode once that is known.
/// The first is the place in the queue, and is the last to be removed.
pub(super) type Traces = SharedValue<Vec<Trace>>;

pub(super) type Trace = (GrantClaim, Option<String>);
