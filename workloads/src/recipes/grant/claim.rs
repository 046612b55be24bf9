//! One znode in a queue, which is never lost sight of: its name carries a GUID, so that it can be found again
//! after an unknown outcome (ZOOKEEPER-22, ZOOKEEPER-1262; Curator calls this protected creation).

use std::sync::Arc;

use super::ContenderQueue;
use crate::recipes::bug::Bug;
use crate::recipes::requests::steady;
use crate::recipes::{Env, OwnZnode};
use crate::zk::{CreateMode, Error, Zk};

/// One attempt's place in the queue: at most one znode, made in one session.
#[derive(Clone)]
pub struct GrantClaim {
    /// The session.
    pub zk: Arc<dyn Zk>,
    queue: ContenderQueue,
    guid: String,
    env: Env,
}

/// Why there is no znode.
#[derive(Debug)]
pub enum NoZnode {
    /// The session is over, and its znodes go with it.
    Gone,
    /// ZooKeeper refuses.
    Refused(Error),
}

/// What [`GrantClaim::remove`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// It deleted the znode.
    Deleted,
    /// There is none (any more).
    Absent,
    /// The session is over; a server may show its znodes for a while.
    Gone,
}

enum ClaimLookup {
    Here(OwnZnode),
    Absent,
    Gone,
}

impl GrantClaim {
    /// A claim with a new GUID.
    pub fn new(env: &Env, queue: ContenderQueue, zk: Arc<dyn Zk>) -> Self {
        Self {
            zk,
            queue,
            guid: format!("{:032x}", env.host.random()),
            env: env.clone(),
        }
    }

    /// Creates the znode, and does not answer before it is known to be there or not.
    ///
    /// # Errors
    /// [`NoZnode`]: there is none.
    pub async fn create(&self) -> Result<OwnZnode, NoZnode> {
        let ContenderQueue { parent, mark, .. } = self.queue;
        let prefix = format!("{parent}/{}{mark}", self.guid);
        let mode = match self.env.has(Bug::PersistentContender) {
            true => CreateMode::PersistentSequential,
            false => CreateMode::EphemeralSequential,
        };
        loop {
            match self.zk.create(&prefix, b"", mode).await {
                Ok(created) => {
                    if let Some(stat) = created.stat {
                        return Ok(self.owned(created.path, stat.czxid));
                    }
                }
                Err(error) if error.is_definite() => return Err(NoZnode::Refused(error)),
                // Created again, whether it is there or not.
                Err(_) if self.env.has(Bug::CreateSentAgain) => match self.steady().await {
                    true => continue,
                    false => return Err(NoZnode::Gone),
                },
                Err(_) => {}
            }
            match self.find().await {
                ClaimLookup::Here(owned) => return Ok(owned),
                ClaimLookup::Absent => {}
                ClaimLookup::Gone => return Err(NoZnode::Gone),
            }
        }
    }

    /// Removes the znode, known by its path or not, and does not answer before it is known to be gone.
    pub async fn remove(&self, path: Option<String>) -> RemovalOutcome {
        let mut path = path;
        loop {
            let target = match path.take() {
                Some(path) => path,
                None => match self.find().await {
                    ClaimLookup::Here(owned) => owned.path,
                    ClaimLookup::Absent => return RemovalOutcome::Absent,
                    ClaimLookup::Gone => return RemovalOutcome::Gone,
                },
            };
            match self.zk.delete(&target, None).await {
                Ok(()) => return RemovalOutcome::Deleted,
                // The name is nobody else's, so a try of ours that was not answered has removed it, or the session's
                // end.
                Err(Error::NoNode) => return RemovalOutcome::Absent,
                Err(error) if error.is_definite() => crate::stderr::say(&format!("delete {target}: {error}")),
                Err(_) => {}
            }
            if !self.steady().await {
                return RemovalOutcome::Gone;
            }
            path = Some(target);
        }
    }

    /// Looks for the znode by its GUID, in such a way that a create sent before cannot take effect any more.
    async fn find(&self) -> ClaimLookup {
        loop {
            match self.look().await {
                Ok(found) => return found,
                Err(_) if self.steady().await => {}
                Err(_) => return ClaimLookup::Gone,
            }
        }
    }

    async fn look(&self) -> Result<ClaimLookup, Error> {
        // A write of the same session is ordered behind the create, wherever that got stuck, and what is read after its
        // answer is not older. A read alone, or `sync`, could be answered by a server that lags or was deposed. This
        // delete is one more write: ZooKeeper agrees on its failure as on any transaction.
        let parent = self.queue.parent;
        let nobody = format!("{parent}/{}-nobody", self.guid);
        match self.zk.delete(&nobody, None).await {
            Ok(()) | Err(Error::NoNode) => {}
            Err(error) => return Err(error),
        }
        let names = match self.zk.children(parent).await {
            Err(Error::NoNode) => return Ok(ClaimLookup::Absent),
            names => names?,
        };
        let Some(name) = names.into_iter().find(|name| name.starts_with(&self.guid)) else {
            return Ok(ClaimLookup::Absent);
        };
        let path = format!("{parent}/{name}");
        Ok(match self.zk.exists(&path).await? {
            // What another session owns is about to vanish, or never was ours (CURATOR-498).
            Some(stat) if stat.ephemeral_owner == self.zk.session() => ClaimLookup::Here(self.owned(path, stat.czxid)),
            _ => ClaimLookup::Absent,
        })
    }

    /// Waits until it makes sense to ask again. False if the session is over.
    pub async fn steady(&self) -> bool {
        steady(&self.env, self.zk.as_ref()).await
    }

    fn owned(&self, path: String, czxid: i64) -> OwnZnode {
        OwnZnode {
            path,
            czxid: Some(czxid),
            session: self.zk.session(),
        }
    }
}
