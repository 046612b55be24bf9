//! One claim on an item: whether it was made, and how it ends.

use super::item::Content;
use super::owner::Owner;
use super::steady;
use crate::recipes::bug::Bug;
use crate::recipes::{Env, NOT_HELD, OpError, OwnZnode};
use crate::zk::Error;

/// A claim that this client has.
#[derive(Clone)]
pub struct ItemClaim {
    /// Number of the item.
    pub item: i64,
    /// The owner that has claimed it.
    pub owner: Owner,
    /// Its znode.
    pub own: OwnZnode,
    /// The version of that which its owner wrote.
    pub version: i32,
    /// Whether it was delivered. What was claimed too late to be answered waits for the next dequeue.
    pub delivered: bool,
}

impl ItemClaim {
    /// Deletes it, which ends the item's life.
    ///
    /// # Errors
    /// [`OpError::Fail`] if it is somebody else's by now.
    pub async fn delete(&self, env: &Env) -> Result<(), OpError> {
        let (owner, path) = (&self.owner, &self.own.path);
        if owner.zk.state().is_over() {
            return Err(OpError::Fail(NOT_HELD.to_string()));
        }
        let mut tried = false;
        loop {
            match owner.zk.delete(path, Some(self.version)).await {
                Ok(()) => return Ok(()),
                // By its version another consumer has it, so no delete of ours has taken effect.
                Err(Error::BadVersion) => return Err(OpError::Fail(NOT_HELD.to_string())),
                Err(Error::NoNode) if !tried => return Err(OpError::Fail(NOT_HELD.to_string())),
                // While the owner lives nobody else can have it, so that it was an earlier try.
                Err(Error::NoNode) => match owner.confirm().await {
                    Ok(()) => return Ok(()),
                    Err(Error::NoNode) => {
                        return Err(OpError::Info("the claim is gone, and so is its owner".to_string()));
                    }
                    Err(_) => {}
                },
                Err(error) if error.is_definite() || env.has(Bug::AcknowledgesInTurn) => {
                    return Err(OpError::from_error("delete", &error));
                }
                Err(_) => tried = true,
            }
            if !steady(env, owner.zk.as_ref()).await {
                return Err(OpError::Info(
                    "the session ended during the acknowledgement".to_string(),
                ));
            }
        }
    }
}

/// Whether a claim whose transaction was not answered is there, with its czxid and version.
///
/// # Errors
/// If the session ends before that is known.
pub async fn look(env: &Env, owner: &Owner, path: &str) -> Result<Option<(i64, i32)>, OpError> {
    loop {
        if !steady(env, owner.zk.as_ref()).await {
            return Err(OpError::Info("the session ended while an item was claimed".to_string()));
        }
        match owner.confirm().await {
            Ok(()) => {}
            Err(Error::NoNode) => return Err(OpError::Info("the owner was given up".to_string())),
            Err(_) => continue,
        }
        match owner.zk.get(path).await {
            Ok((data, stat)) => {
                let mine = Content::read(&data).is_some_and(|content| content.owner.as_ref() == Some(&owner.name));
                return Ok(mine.then_some((stat.czxid, stat.version)));
            }
            Err(Error::NoNode) => return Ok(None),
            Err(_) => {}
        }
    }
}
