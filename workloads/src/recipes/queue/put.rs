//! An enqueue that looks for its item after an unknown outcome: the name carries a GUID.

use super::item::{Content, MARK};
use super::owner::{Owner, Owners};
use super::{QUEUE, Stored, TAKEN, steady};
use crate::recipes::{Env, OpError};
use crate::zk::CreateMode;

/// Puts an item at the end of the queue, and does not answer before it is known to be there, if that can be known.
///
/// # Errors
/// [`OpError::Fail`] only if it is certainly not there.
pub async fn put(env: &Env, owners: &Owners, item: i64) -> Result<Stored, OpError> {
    let Owner { zk, .. } = owners.live().await;
    let guid = format!("{:032x}", env.host.random());
    let data = Content { item, owner: None }.data();
    let path = format!("{QUEUE}/{guid}-{MARK}");
    match zk.create(&path, &data, CreateMode::PersistentSequential).await {
        Ok(created) => Ok(Stored {
            path: created.path,
            czxid: created.stat.map(|stat| stat.czxid),
        }),
        Err(error) if error.is_definite() => Err(OpError::of("create", &error)),
        // Not repeated: where it is not found it may have been consumed already.
        Err(error) => {
            let unknown = OpError::unknown("create", &error);
            if !steady(env, zk.as_ref()).await {
                return Err(unknown);
            }
            for parent in [QUEUE, TAKEN] {
                let names = zk.children(parent).await.unwrap_or_default();
                if let Some(name) = names.into_iter().find(|name| name.starts_with(&guid)) {
                    let path = format!("{QUEUE}/{name}");
                    return Ok(Stored { path, czxid: None });
                }
            }
            Err(unknown)
        }
    }
}
