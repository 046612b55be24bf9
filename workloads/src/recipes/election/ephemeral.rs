//! The tutorial's unfair election, faults and all: all race to create one znode, and whoever succeeds leads. The others
//! watch that znode and try again when it goes.
//!
//! What exists already is taken for somebody else's, also where it is the client's own of a request whose reply was lost.

use async_trait::async_trait;

use crate::recipes::grant::{Contest, Plain, create, hear};
use crate::recipes::{Env, HolderState, OpError, Owned};
use crate::zk::{CreateMode, Error, Zk};

/// The leader's znode.
pub const LEADER: &str = "/election/leader";

/// A client of `election/ephemeral` that begins to open its session.
pub fn ephemeral(env: &Env) -> Plain {
    Plain::new(env, Race)
}

struct Race;

#[async_trait]
impl Contest for Race {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState) -> Result<Owned, OpError> {
        loop {
            match create(zk, holder, LEADER, CreateMode::Ephemeral).await {
                Err(Error::NodeExists) => {}
                created => return created.map_err(|error| OpError::of("create", &error)),
            }
            let (there, watch) = zk
                .exists_and_watch(LEADER)
                .await
                .map_err(|error| OpError::of("watch the leader", &error))?;
            if there.is_some() {
                hear(watch).await?;
            }
        }
    }
}
