//! What one client at a time is granted, or a few: a lock, leadership, a lease of a semaphore. All are the same thing
//! under other names. Of a read-write lock many may hold shared grants.

mod claim;
mod handler;
mod plain;
mod protected;
mod queue;

use std::time::Duration;

use async_trait::async_trait;
pub use claim::{GrantClaim, NoZnode};
pub use handler::GrantHandler;
pub use plain::{Chain, Contest, TutorialClient, create, create_with};
pub use protected::{BeforeGrant, FirstContender, ProtectedQueue};
pub use queue::{ContenderQueue, Queues};
use serde_json::Value;
pub use zooquake_history::operation::{Mode, ZnodeName};

pub use super::requests::heard;
use super::{Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;

/// A recipe that grants, as one client uses it: one operation at a time, each polled to its end.
#[async_trait]
pub trait GrantRecipe: Send + Sync {
    /// Waits for the lock, or to lead; the grant then has this name. A recipe without shared grants grants exclusively.
    /// Answers by `deadline`, a moment of the host's clock.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing of the attempt is left.
    async fn acquire(&self, name: &str, mode: Mode, deadline: Option<Duration>) -> Result<Grant, OpError>;

    /// Gives it back. The znode that this removed; `None` where the recipe cannot name it for certain.
    ///
    /// # Errors
    /// [`OpError::Fail`] with [`super::NOT_HELD`] if it is not held any more.
    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError>;

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

/// Deletes the znode of a grant, and does not try again; answers that it removed it.
///
/// # Errors
/// As ZooKeeper answers.
pub async fn delete_once(held: &HeldGrant) -> Result<Option<ZnodeName>, OpError> {
    let deleted = held.zk.delete(&held.grant.path, None).await;
    deleted.map_err(|error| OpError::from_error("delete", &error))?;
    Ok(Some(held.grant.znode()))
}

/// The end of an operation whose deadline has passed, of a recipe that does not clean up.
pub fn overdue() -> OpError {
    OpError::Info("timed out; this recipe cleans nothing up".to_string())
}

/// The end of a release of what is not held.
pub fn not_held() -> OpError {
    OpError::Fail(super::NOT_HELD.to_string())
}
