//! Counts the leases, and if there are fewer than the capacity creates its own; else waits until the list changes. That
//! is what kazoo's Semaphore does under a lock, here by one who has left out the lock: several may count before any of
//! them creates.

use async_trait::async_trait;

use super::{CAPACITY, PARENT};
use crate::recipes::grant::{Contest, Mode, TutorialClient, create, heard};
use crate::recipes::{Env, HolderState, OpError, OwnZnode};
use crate::zk::{CreateMode, Zk};

/// A client of `semaphore/counted` that begins to open its session.
pub fn counted(env: &Env) -> TutorialClient {
    TutorialClient::new(env, Count)
}

struct Count;

#[async_trait]
impl Contest for Count {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, _: Mode) -> Result<OwnZnode, OpError> {
        loop {
            let (leases, watch) = zk
                .children_and_watch(PARENT)
                .await
                .map_err(|error| OpError::from_error("list the leases", &error))?;
            if leases.len() < CAPACITY.get() {
                return create(zk, holder, &format!("{PARENT}/lease-"), CreateMode::EphemeralSequential)
                    .await
                    .map_err(|error| OpError::from_error("create", &error));
            }
            heard(watch.await)?;
        }
    }
}
