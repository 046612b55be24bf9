//! Items as znodes: their data, and their order.

use super::owner::{Owner, Owners};
use super::{QUEUE, TAKEN, ZnodeName, steady};
use crate::recipes::sequence::{order, sequence};
use crate::recipes::{Env, OpError};
use crate::zk::{CreateMode, Error, Stat, Zk};
use serde::{Deserialize, Serialize};

/// What stands before the sequence number in an item's name.
pub const MARK: &str = "item-";

/// What an item's znode holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Number of the item.
    pub item: i64,
    /// The session that has claimed it, as `0x…`; `None` while none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl Content {
    /// Reads a znode's data.
    pub fn read(data: &[u8]) -> Option<Self> {
        serde_json::from_slice(data).ok()
    }

    /// Reads an item's znode; `None` if that is gone.
    ///
    /// # Errors
    /// [`OpError::Fail`]: a look takes nothing.
    pub async fn find(zk: &dyn Zk, path: &str) -> Result<Option<(Self, Stat)>, OpError> {
        match zk.get(path).await {
            Ok((data, stat)) => match Self::read(&data) {
                Some(content) => Ok(Some((content, stat))),
                None => Err(OpError::Fail(format!("{path} holds no item"))),
            },
            Err(Error::NoNode) => Ok(None),
            Err(error) => Err(reading(error)),
        }
    }

    /// The data for a znode.
    pub fn data(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The end of a dequeue whose look has failed, before anything was taken.
pub fn reading(error: Error) -> OpError {
    OpError::Fail(format!("read: {error}"))
}

/// The names of items in the order in which they were created.
pub fn in_order(names: Vec<String>) -> Vec<String> {
    let mut items: Vec<(i32, String)> = names
        .into_iter()
        .filter_map(|name| Some((sequence(&name, MARK)?, name)))
        .collect();
    items.sort_by(|(a, _), (b, _)| order(*a, *b));
    items.into_iter().map(|(_, name)| name).collect()
}

/// Puts an item at the end of the queue, and does not answer before it is known to be there, if that can be known.
///
/// # Errors
/// [`OpError::Fail`] only if it is certainly not there.
pub async fn put(env: &Env, owners: &Owners, item: i64) -> Result<ZnodeName, OpError> {
    let Owner { zk, .. } = owners.live().await;
    let guid = format!("{:032x}", env.host.random());
    let data = Content { item, owner: None }.data();
    let path = format!("{QUEUE}/{guid}-{MARK}");
    match zk.create(&path, &data, CreateMode::PersistentSequential).await {
        Ok(created) => Ok(ZnodeName {
            path: created.path,
            czxid: created.stat.map(|stat| stat.czxid),
        }),
        Err(error) if error.is_definite() => Err(OpError::from_error("create", &error)),
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
                    return Ok(ZnodeName { path, czxid: None });
                }
            }
            Err(unknown)
        }
    }
}
