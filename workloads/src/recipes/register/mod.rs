//! A register: read, write, compare-and-set on one znode. The recipe is ZooKeeper itself.
//!
//! The variants differ in what comes before the read of the znode, a file each: nothing, a sync, a write.

mod handler;
mod quorum;
mod sync;
pub(super) mod variants;

use async_trait::async_trait;
pub use handler::{RegisterClient, RegisterReading};

use super::Env;
use crate::zk::{Error, Zk};
use std::sync::Arc;

/// The znode. It exists, and is empty, before a client starts.
pub const REGISTER: &str = "/register";

/// What comes before the read of the znode.
#[async_trait]
pub trait Prelude: Send + Sync {
    /// Does it, in the session that reads afterwards. Nothing of the register may be changed by it.
    async fn before_read(&self, zk: &dyn Zk) -> Result<(), Error>;
}

/// Makes the prelude of a client.
pub type Make = fn(&Env) -> Arc<dyn Prelude>;

/// No prelude: the server answers a read by itself, from what it has received. One that lags behind its leader, or is
/// deposed and has not noticed, answers old values.
struct NoPrelude;

#[async_trait]
impl Prelude for NoPrelude {
    async fn before_read(&self, _: &dyn Zk) -> Result<(), Error> {
        Ok(())
    }
}
