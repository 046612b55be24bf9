//! The tutorial's first lock, faults and all: everybody watches the list of children, and a change wakes the herd.

use async_trait::async_trait;

use super::PARENT;
use crate::recipes::grant::{Contest, Mode, TutorialClient, create, heard};
use crate::recipes::sequence::sequence;
use crate::recipes::{Env, HolderState, OpError, OwnZnode};
use crate::zk::{CreateMode, Zk};

/// A client of `lock/children` that begins to open its session.
pub fn children(env: &Env) -> TutorialClient {
    let herd = Herd {
        parent: PARENT,
        prefix: "lock-",
    };
    TutorialClient::new(env, herd)
}

/// Everybody has an ephemeral sequential znode and watches the list; the smallest number holds.
pub struct Herd {
    /// The parent of the znodes.
    pub parent: &'static str,
    /// What stands before the number.
    pub prefix: &'static str,
}

#[async_trait]
impl Contest for Herd {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, _: Mode) -> Result<OwnZnode, OpError> {
        let prefix = format!("{}/{}", self.parent, self.prefix);
        let own = create(zk, holder, &prefix, CreateMode::EphemeralSequential)
            .await
            .map_err(|error| OpError::from_error("create", &error))?;
        loop {
            let (names, watch) = zk
                .children_and_watch(self.parent)
                .await
                .map_err(|error| OpError::unknown("list the children", &error))?;
            let numbered = names
                .iter()
                .filter_map(|name| Some((sequence(name, self.prefix)?, name)));
            if numbered
                .min()
                .is_some_and(|(_, name)| own.path == format!("{}/{name}", self.parent))
            {
                return Ok(own);
            }
            heard(watch.await)?;
        }
    }
}
