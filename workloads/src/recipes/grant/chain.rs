//! The tutorials' queue in which each client watches the znode just before its own, and looks at the list again when
//! that one goes.

use async_trait::async_trait;

use super::{Contest, Mode, create, heard};
use crate::recipes::sequence::sequence;
use crate::recipes::{HolderState, OpError, OwnZnode};
use crate::zk::{CreateMode, Zk};

/// Everybody has an ephemeral sequential znode; the first holds. One that is to hold shared also does if the znode just
/// before its own is another such.
pub struct Chain {
    /// The parent of the znodes.
    pub parent: &'static str,
    /// What stands before the number of one that is to hold exclusively.
    pub exclusive: &'static str,
    /// The same of one that is to hold shared; `None` where none is.
    pub shared: Option<&'static str>,
}

impl Chain {
    /// The znode just before the one at `own`; `None` if that is the first.
    fn before<'a>(&self, names: &'a [String], own: &str) -> Result<Option<&'a str>, OpError> {
        let Self {
            parent,
            exclusive,
            shared,
        } = *self;
        let number = |name| sequence(name, exclusive).or_else(|| sequence(name, shared?));
        let mut queue: Vec<_> = names.iter().filter_map(|name| Some((number(name)?, name))).collect();
        queue.sort_unstable();
        let place = queue.iter().position(|(_, name)| own == format!("{parent}/{name}"));
        let place = place.ok_or_else(|| OpError::Info("the own znode is not in the list".to_string()))?;
        Ok(place.checked_sub(1).map(|before| queue[before].1.as_str()))
    }
}

#[async_trait]
impl Contest for Chain {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, mode: Mode) -> Result<OwnZnode, OpError> {
        let Self { parent, shared, .. } = *self;
        let prefix = shared.filter(|_| mode == Mode::Shared).unwrap_or(self.exclusive);
        let own = create(
            zk,
            holder,
            &format!("{parent}/{prefix}"),
            CreateMode::EphemeralSequential,
        )
        .await
        .map_err(|error| OpError::from_error("create", &error))?;
        loop {
            let names = zk
                .children(parent)
                .await
                .map_err(|error| OpError::unknown("list the queue", &error))?;
            let Some(before) = self.before(&names, &own.path)? else {
                return Ok(own);
            };
            if shared.is_some_and(|shared| prefix == shared && before.starts_with(shared)) {
                return Ok(own);
            }
            let (there, watch) = zk
                .exists_and_watch(&format!("{parent}/{before}"))
                .await
                .map_err(|error| OpError::unknown("watch the one before", &error))?;
            if there.is_some() {
                heard(watch.await)?;
            }
        }
    }
}
