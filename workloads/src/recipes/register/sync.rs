//! A sync before the read: the server catches up with the leader it knows.
//!
//! Not enough under faults: sync is no quorum operation, so a leader that was deposed and does not know it answers it from
//! its own state (ZOOKEEPER-1675).

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Prelude, REGISTER};
use crate::zk::{Error, Zk};

/// `register/sync-read`.
pub(super) struct Sync;

impl Prelude for Sync {
    fn before_read(&self, zk: Arc<dyn Zk>) -> BoxFuture<'static, Result<(), Error>> {
        zk.sync(REGISTER)
    }
}
