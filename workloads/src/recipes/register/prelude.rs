//! What comes before the read of the znode.

use super::REGISTER;
use crate::recipes::bug::Bug;
use crate::recipes::requests::touch;
use crate::recipes::{Env, SCRATCH};
use crate::zk::{Error, Zk};

/// What comes before the read of the znode, in the session that reads afterwards. Nothing of the register is changed by
/// it.
pub enum Prelude {
    /// `register/read`, nothing: the server answers a read by itself, from what it has received. One that lags behind
    /// its leader, or is deposed and has not noticed, answers old values.
    Nothing,
    /// `register/sync-read`, a sync: the server catches up with the leader that it follows.
    ///
    /// Not enough under faults: sync is no quorum operation, so a leader that was deposed and has not noticed answers
    /// it from its own state (ZOOKEEPER-1675).
    Sync,
    /// `register/quorum-read`, a write, to this znode of the client's own: a server acknowledges it only once it has
    /// applied it, and with it all that was acknowledged to anybody before it was sent. A deposed leader finds no
    /// quorum for it.
    Write(String),
}

impl Prelude {
    /// A write to a scratch znode that no other process writes. The planted R1 leaves it out.
    pub(super) fn write(env: &Env) -> Self {
        let own = format!("{SCRATCH}/register-{:032x}", env.host.random());
        if env.has(Bug::ReadsWithoutWrite) {
            Self::Nothing
        } else {
            Self::Write(own)
        }
    }

    pub(super) async fn perform(&self, zk: &dyn Zk) -> Result<(), Error> {
        match self {
            Self::Nothing => Ok(()),
            Self::Sync => zk.sync(REGISTER).await,
            Self::Write(own) => touch(zk, own).await.map(drop),
        }
    }
}
