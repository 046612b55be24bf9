//! Quorum writes that change nothing but a znode of the client's own.

use crate::zk::{CreateMode, Error, Zk};

/// The parent of the scratch znodes.
pub const SCRATCH: &str = "/zooquake/scratch";

/// Writes a scratch znode, creates it first if need be, and answers the transaction.
///
/// # Errors
/// If the write is not known to have happened.
pub async fn touch(zk: &dyn Zk, path: &str) -> Result<i64, Error> {
    match zk.set(path, b"", None).await {
        Ok(stat) => return Ok(stat.mzxid),
        Err(Error::NoNode) => {}
        Err(error) => return Err(error),
    }
    match zk.create(path, b"", CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(zk.set(path, b"", None).await?.mzxid),
        Err(error) => Err(error),
    }
}
