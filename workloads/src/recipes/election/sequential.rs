//! The tutorial's fair election, faults and all: each candidate watches the one before it, and looks at the list again when
//! that one goes. The first leads.

use async_trait::async_trait;

use super::PARENT;
use crate::recipes::grant::{Contest, Plain, create, hear};
use crate::recipes::sequence::sequence;
use crate::recipes::{Env, HolderState, OpError, Owned};
use crate::zk::{CreateMode, Zk};

const PREFIX: &str = "n_";

/// A client of `election/sequential` that begins to open its session.
pub fn sequential(env: &Env) -> Plain {
    Plain::new(env, Chain)
}

struct Chain;

#[async_trait]
impl Contest for Chain {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState) -> Result<Owned, OpError> {
        let prefix = format!("{PARENT}/{PREFIX}");
        let own = create(zk, holder, &prefix, CreateMode::EphemeralSequential)
            .await
            .map_err(|error| OpError::of("create", &error))?;
        loop {
            let names = zk
                .children(PARENT)
                .await
                .map_err(|error| OpError::unknown("list the candidates", &error))?;
            let mut candidates: Vec<_> = names
                .iter()
                .filter_map(|name| Some((sequence(name, PREFIX)?, name)))
                .collect();
            candidates.sort_unstable();
            let place = candidates
                .iter()
                .position(|(_, name)| own.path == format!("{PARENT}/{name}"));
            let Some(place) = place else {
                return Err(OpError::Info("the own znode is not in the list".to_string()));
            };
            if place == 0 {
                return Ok(own);
            }
            let before = format!("{PARENT}/{}", candidates[place - 1].1);
            let (there, watch) = zk
                .exists_and_watch(&before)
                .await
                .map_err(|error| OpError::unknown("watch the one before", &error))?;
            if there.is_some() {
                hear(watch).await?;
            }
        }
    }
}
