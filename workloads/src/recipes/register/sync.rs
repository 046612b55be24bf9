//! A sync before the read: the server catches up with the leader that it follows.
//!
//! Not enough under faults: sync is no quorum operation, so a leader that was deposed and has not noticed answers it
//! from its own state (ZOOKEEPER-1675).

use async_trait::async_trait;

use super::{Prelude, REGISTER};
use crate::zk::{Error, Zk};

/// `register/sync-read`.
pub(super) struct Sync;

#[async_trait]
impl Prelude for Sync {
    async fn before_read(&self, zk: &dyn Zk) -> Result<(), Error> {
        zk.sync(REGISTER).await
    }
}
