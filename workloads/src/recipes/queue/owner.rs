//! Owners: an ephemeral znode with the session's id as name shows that the session lives. While that is there, nobody
//! else may take what the session has claimed; once it is gone it never comes back, for only its session can make it.

use std::sync::Arc;

use super::{OWNERS, QUEUE, TAKEN, ensure, steady};
use crate::recipes::Env;
use crate::recipes::sessions::Handle;
use crate::zk::{CreateMode, Error, MultiOp, SharedValue, Zk, session_hex};

/// The owner that a client is, in one session after the other. Clones share it.
#[derive(Clone)]
pub struct Owners {
    env: Env,
    /// The sessions.
    pub handle: Handle,
    told: SharedValue<Option<i64>>,
}

/// An owner: a session whose owner znode was created.
#[derive(Clone)]
pub struct Owner {
    /// The session.
    pub zk: Arc<dyn Zk>,
    /// Its id as `0x…`, which is its name as an owner.
    pub name: String,
}

impl Owners {
    /// Begins to open the first session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            told: SharedValue::new(None),
        }
    }

    /// An owner whose session's end this client has not observed.
    pub async fn live(&self) -> Owner {
        loop {
            let zk = self.handle.live().await;
            let owner = Owner {
                name: session_hex(zk.session()),
                zk,
            };
            if self.told.with(|told| *told == Some(owner.zk.session())) {
                return owner;
            }
            match tell(&owner).await {
                Ok(()) => {
                    self.told.update(|told| *told = Some(owner.zk.session()));
                    return owner;
                }
                Err(error) => {
                    crate::stderr::say(&format!("report that {} lives: {error}", owner.name));
                    steady(&self.env, owner.zk.as_ref()).await;
                }
            }
        }
    }
}

async fn tell(owner: &Owner) -> Result<(), Error> {
    for parent in [QUEUE, TAKEN, OWNERS] {
        ensure(owner.zk.as_ref(), parent).await?;
    }
    match owner.zk.create(&path(&owner.name), b"", CreateMode::Ephemeral).await {
        // No other client makes a znode of this name that lasts.
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Owner {
    /// The part of a transaction that it lives.
    pub fn lives(&self) -> MultiOp {
        MultiOp::Check(path(&self.name), None)
    }

    /// Writes, which succeeds only if it still lives: nothing that the session sent before can take effect later, and
    /// what it reads afterwards is as new as that.
    ///
    /// # Errors
    /// NoNode if it lives no more; with any other error that is unknown.
    pub async fn confirm(&self) -> Result<(), Error> {
        self.zk.set(&path(&self.name), b"", None).await.map(|_| ())
    }
}

/// The parts of a transaction that another owner lives no more. ZooKeeper has no check that a znode is missing, but to
/// create it fails where it is not.
pub fn gone(name: &str) -> [MultiOp; 2] {
    [
        MultiOp::Create(path(name), Vec::new(), CreateMode::Persistent),
        MultiOp::Delete(path(name), None),
    ]
}

fn path(name: &str) -> String {
    format!("{OWNERS}/{name}")
}
