//! A write before the read, to a znode of the client's own: a server acknowledges it only once it has applied it, and
//! with it all that was acknowledged to anybody before it was sent. A deposed leader finds no quorum for it.

use async_trait::async_trait;

use super::Prelude;
use crate::recipes::bug::Bug;
use crate::recipes::{Env, SCRATCH, touch};
use crate::zk::{Error, Zk};

/// `register/quorum-read`.
pub(super) struct Quorum {
    own: String,
    /// Whether it is left out, as a planted bug does.
    omitted: bool,
}

impl Quorum {
    /// With a scratch znode that no other process writes.
    pub(super) fn new(env: &Env) -> Self {
        Self {
            own: format!("{SCRATCH}/register-{:032x}", env.host.random()),
            omitted: env.has(Bug::R1),
        }
    }
}

#[async_trait]
impl Prelude for Quorum {
    async fn before_read(&self, zk: &dyn Zk) -> Result<(), Error> {
        match self.omitted {
            true => Ok(()),
            false => touch(zk, &self.own).await.map(drop),
        }
    }
}
