//! Queues of items, and barriers.

mod barrier;
mod claim;
mod claimed;
mod desk;
mod double;
mod fifo;
mod item;
mod owner;
mod put;
pub(super) mod variants;

use std::time::Duration;

pub use barrier::Barrier;
pub use claimed::Claimed;
pub use desk::{Desk, Given, Queue, Stored};
pub use double::DoubleBarrier;
pub use fifo::Fifo;

use super::{Ended, Env};
use crate::zk::{CreateMode, Error, SessionState, Zk};

/// The parent of the items, and of the tutorial's barrier.
pub const QUEUE: &str = "/queue";

/// The parent of the claims: items that were moved away from the queue, each with its owner's name.
pub const TAKEN: &str = "/taken";

/// The parent of the owners: one ephemeral znode for each session that may claim.
pub const OWNERS: &str = "/owners";

/// The parent of the rounds of a double barrier.
pub const ROUNDS: &str = "/barrier";

/// How long to wait before a request with an unknown outcome is repeated on a connection that is there.
const RETRY: Duration = Duration::from_millis(20);

/// The end of an operation that ran out of time.
fn overdue() -> Ended {
    Ended::Info("timed out".to_string())
}

/// Creates a persistent znode unless it is there: exists, then create; who loses a race has what it wanted.
async fn ensure(zk: &dyn Zk, path: &str) -> Result<(), Error> {
    if zk.exists(path).await?.is_some() {
        return Ok(());
    }
    match zk.create(path, b"", CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until it makes sense to ask again. False if the session is over.
async fn steady(env: &Env, zk: &dyn Zk) -> bool {
    if zk.state() == SessionState::Disconnected {
        zk.changed(SessionState::Disconnected).await;
    }
    if !zk.state().is_over() {
        env.host.sleep(RETRY).await;
    }
    !zk.state().is_over()
}
