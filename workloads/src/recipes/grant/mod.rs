//! What one client at a time is granted, or a few: a lock, leadership, a lease of a semaphore. All are the same thing
//! under other names. Of a read-write lock many may hold shared grants.

mod before_grant;
mod bugs;
mod chain;
mod claim;
mod handler;
mod plain;
mod protected;
mod queue;

use std::time::Duration;

use async_trait::async_trait;
pub use before_grant::{BeforeGrant, FirstContender};
pub use chain::Chain;
pub use claim::{GrantClaim, NoZnode};
pub use handler::GrantHandler;
pub use plain::{Contest, TutorialClient, create, create_with, hear};
pub use protected::ProtectedQueue;
pub use queue::{ContenderQueue, Queues};
use serde_json::Value;

use super::{Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;

/// A recipe that grants, as one client uses it: one operation at a time, each polled to its end.
#[async_trait]
pub trait GrantRecipe: Send + Sync {
    /// Waits for the lock, or to lead; the grant then has this name. Answers by `deadline`, a moment of the host's
    /// clock.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing of the attempt is left.
    async fn acquire(&self, name: &str, deadline: Option<Duration>) -> Result<Grant, OpError>;

    /// The same for a shared grant. A recipe without shared grants grants exclusively.
    ///
    /// # Errors
    /// As [`GrantRecipe::acquire`].
    async fn acquire_shared(&self, name: &str, deadline: Option<Duration>) -> Result<Grant, OpError> {
        self.acquire(name, deadline).await
    }

    /// Gives it back.
    ///
    /// # Errors
    /// [`OpError::Fail`] with [`super::NOT_HELD`] if it is not held any more.
    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<ReleaseOutcome, OpError>;

    /// The client's own state: its grant, its znodes and its unfinished work.
    fn holder(&self) -> &HolderState;

    /// The session that the client has now.
    async fn session(&self) -> SessionHandle;

    /// The znodes that the client has recorded as its own: those it holds or waits with.
    async fn znodes(&self) -> Vec<OwnZnode> {
        self.holder().znodes()
    }

    /// Whether it promises an acknowledgement with each grant.
    fn acknowledges(&self) -> bool {
        false
    }

    /// The token that is sent with a write under a grant; `None` for variants without fencing.
    async fn token(&self, held: &Grant) -> Option<i64> {
        held.token
    }

    /// Whether it writes to the resource itself, in ZooKeeper, by [`GrantRecipe::write`].
    fn guards(&self) -> bool {
        false
    }

    /// Writes to the resource in ZooKeeper under the guard of this grant. Answers the transaction.
    ///
    /// # Errors
    /// [`OpError::Fail`] with an error that begins with `refused` if the guard refused it.
    async fn write(&self, name: &str, value: &Value) -> Result<i64, OpError> {
        let why = format!("{name}: the resource is not in ZooKeeper, {value} cannot be written there");
        Err(OpError::Fail(why))
    }
}

/// What a release did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseOutcome {
    /// The znode that it removed, and the transaction that had created that; `None` where the recipe cannot determine
    /// it.
    pub removed: Option<(String, Option<i64>)>,
}

impl ReleaseOutcome {
    /// It removed the znode of its grant.
    pub fn from_grant(grant: &Grant) -> Self {
        Self {
            removed: Some((grant.path.clone(), grant.czxid)),
        }
    }

    /// Deletes the znode of a grant, and does not try again.
    ///
    /// # Errors
    /// As ZooKeeper answers.
    pub async fn once(held: &HeldGrant) -> Result<Self, OpError> {
        let deleted = held.zk.delete(&held.grant.path, None).await;
        deleted.map_err(|error| OpError::from_error("delete", &error))?;
        Ok(Self::from_grant(&held.grant))
    }

    /// It removed a znode that the recipe cannot name.
    pub fn unsure() -> Self {
        Self { removed: None }
    }
}

/// The end of an operation whose deadline has passed, of a recipe that does not clean up.
pub fn overdue() -> OpError {
    OpError::Info("timed out; this recipe cleans nothing up".to_string())
}

/// The end of a release of what is not held.
pub fn not_held() -> OpError {
    OpError::Fail(super::NOT_HELD.to_string())
}
