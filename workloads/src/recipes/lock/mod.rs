//! Locks.

mod children;
mod claim;
mod desk;
mod predecessor;
mod protected;
mod shipped;
pub(super) mod variants;

use std::time::Duration;

pub use children::Children;
pub use desk::Desk;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
pub use predecessor::Predecessor;
pub use protected::Protected;
use serde_json::Value;
pub use shipped::Shipped;

use super::{Ended, Grant, Ledger, Owned};
use crate::service::Seat;

/// The parent of the lock znodes.
pub const PARENT: &str = "/lock";

/// The znode that writers in ZooKeeper write.
pub const RESOURCE: &str = "/resource";

/// A lock, as one client uses it: one operation at a time, each polled to its end.
pub trait Lock: Send + Sync {
    /// Waits for the lock; the grant then has this name. Answers by `deadline`, a moment of the host's clock.
    ///
    /// # Errors
    /// [`Ended::Fail`] only if nothing of the attempt is left.
    fn acquire(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Grant, Ended>>;

    /// Gives the lock back.
    ///
    /// # Errors
    /// [`Ended::Fail`] with [`super::NOT_HELD`] if it is not held any more.
    fn release(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Released, Ended>>;

    /// What the client knows and believes.
    fn ledger(&self) -> &Ledger;

    /// The session that the client has now.
    fn session(&self) -> BoxFuture<'static, Seat>;

    /// The znodes that the client knows to be its own: held or waiting with.
    fn znodes(&self) -> BoxFuture<'static, Vec<Owned>> {
        std::future::ready(self.ledger().znodes()).boxed()
    }

    /// Whether it writes to the resource itself, in ZooKeeper, by [`Lock::write`].
    fn guards(&self) -> bool {
        false
    }

    /// Writes to the resource in ZooKeeper under the guard of this grant. Answers the transaction.
    ///
    /// # Errors
    /// [`Ended::Fail`] with an error that begins with `refused` if the guard refused it.
    fn write(&self, name: &str, value: &Value) -> BoxFuture<'static, Result<i64, Ended>> {
        let why = format!("{name}: the resource is not in ZooKeeper, {value} cannot be written there");
        std::future::ready(Err(Ended::Fail(why))).boxed()
    }
}

/// What a release did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    /// The znode that it removed, and the transaction that had created that; `None` where the recipe cannot tell.
    pub removed: Option<(String, Option<i64>)>,
}

impl Released {
    fn of(grant: &Grant) -> Self {
        Self {
            removed: Some((grant.path.clone(), grant.czxid)),
        }
    }

    fn unsure() -> Self {
        Self { removed: None }
    }
}

/// The end of an operation of a recipe that knows no deadlines.
fn overdue() -> Ended {
    Ended::Info("timed out; this recipe cleans nothing up".to_string())
}

fn not_held() -> Ended {
    Ended::Fail(super::NOT_HELD.to_string())
}
