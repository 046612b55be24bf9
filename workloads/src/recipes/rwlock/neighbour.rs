//! A copy of the recipe "Shared Locks" as a tutorial's reader makes it: a reader looks at its neighbour only, the znode just before its
//! own, and believes that it holds if that is another reader's. Whether that one holds it does not ask: a writer may hold, or wait,
//! before it.

use async_trait::async_trait;

use super::PARENT;
use crate::recipes::grant::{Contest, Plain, create, hear};
use crate::recipes::sequence::sequence;
use crate::recipes::{Env, HolderState, OpError, Owned};
use crate::zk::{CreateMode, Zk};

const READ: &str = "read-";
const WRITE: &str = "write-";

/// A client of `rwlock/neighbour` that begins to open its session.
pub fn neighbour(env: &Env) -> Plain {
    Plain::new(env, Neighbour)
}

struct Neighbour;

async fn queue(zk: &dyn Zk, holder: &HolderState, prefix: &str) -> Result<Owned, OpError> {
    let own = create(
        zk,
        holder,
        &format!("{PARENT}/{prefix}"),
        CreateMode::EphemeralSequential,
    )
    .await
    .map_err(|error| OpError::of("create", &error))?;
    loop {
        let names = zk
            .children(PARENT)
            .await
            .map_err(|error| OpError::unknown("list the queue", &error))?;
        let number = |name| sequence(name, READ).or_else(|| sequence(name, WRITE));
        let mut queue: Vec<_> = names.iter().filter_map(|name| Some((number(name)?, name))).collect();
        queue.sort_unstable();
        let place = queue
            .iter()
            .position(|(_, name)| own.path == format!("{PARENT}/{name}"));
        let Some(place) = place else {
            return Err(OpError::Info("the own znode is not in the list".to_string()));
        };
        let Some((_, before)) = place.checked_sub(1).map(|before| queue[before]) else {
            return Ok(own);
        };
        if prefix == READ && before.starts_with(READ) {
            return Ok(own);
        }
        let (there, watch) = zk
            .exists_and_watch(&format!("{PARENT}/{before}"))
            .await
            .map_err(|error| OpError::unknown("watch the neighbour", &error))?;
        if there.is_some() {
            hear(watch).await?;
        }
    }
}

#[async_trait]
impl Contest for Neighbour {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState) -> Result<Owned, OpError> {
        queue(zk, holder, WRITE).await
    }

    async fn win_shared(&self, zk: &dyn Zk, holder: &HolderState) -> Result<Owned, OpError> {
        queue(zk, holder, READ).await
    }
}
