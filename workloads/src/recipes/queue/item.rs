//! Items as znodes: their data, and their order.

use crate::recipes::OpError;
use crate::recipes::sequence::{order, sequence};
use crate::zk::{Error, Stat, Zk};
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
