//! The client that people copy out of a tutorial: one session, and each error ends what it was doing.
//!
//! It does not handle unknown outcomes: an error ends the attempt and leaves its znode where it is. Session events are
//! ignored; a handle whose session is over is replaced when the next attempt begins.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{GrantRecipe, Mode, ZnodeName, delete_once, heard, not_held, overdue};
use crate::recipes::sequence::sequence;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, Zk};

/// How a tutorial's client comes to hold.
#[async_trait]
pub trait Contest: Send + Sync {
    /// Ends when the client may believe that it holds so, by the znode that it answers. A recipe without shared grants
    /// grants exclusively.
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, mode: Mode) -> Result<OwnZnode, OpError>;
}

/// A client of the tutorial's kind: [`Contest`] wins the grant, an error ends the attempt. Clones share its state.
#[derive(Clone)]
pub struct TutorialClient {
    env: Env,
    holder: HolderState,
    handle: Handle,
    contest: Arc<dyn Contest>,
}

impl TutorialClient {
    /// A client that begins to open its session.
    pub fn new(env: &Env, contest: impl Contest + 'static) -> Self {
        Self {
            env: env.clone(),
            holder: HolderState::default(),
            handle: Handle::open(env),
            contest: Arc::new(contest),
        }
    }

    async fn attempt(&self, name: &str, mode: Mode) -> Result<Grant, OpError> {
        let zk = self.handle.live().await;
        let own = self.contest.win(zk.as_ref(), &self.holder, mode).await?;
        let grant = Grant::new(name, &own);
        self.holder.hold(HeldGrant {
            grant: grant.clone(),
            zk,
        });
        Ok(grant)
    }
}

/// Creates a znode of the client's own.
///
/// # Errors
/// As ZooKeeper answers.
pub async fn create(zk: &dyn Zk, holder: &HolderState, path: &str, mode: CreateMode) -> Result<OwnZnode, Error> {
    create_with(zk, holder, (path, b""), mode).await
}

/// The same with data in it.
///
/// # Errors
/// As ZooKeeper answers.
pub async fn create_with(
    zk: &dyn Zk,
    holder: &HolderState,
    (path, data): (&str, &[u8]),
    mode: CreateMode,
) -> Result<OwnZnode, Error> {
    let _busy = holder.busy();
    let created = zk.create(path, data, mode).await?;
    let own = OwnZnode {
        path: created.path,
        czxid: created.stat.map(|stat| stat.czxid),
        session: zk.session(),
    };
    holder.own(own.clone());
    Ok(own)
}

#[async_trait]
impl GrantRecipe for TutorialClient {
    async fn acquire(&self, name: &str, mode: Mode, deadline: Option<Duration>) -> Result<Grant, OpError> {
        let attempt = self.env.within(deadline, self.attempt(name, mode)).await;
        let result = attempt.unwrap_or_else(|| Err(overdue()));
        if result.is_err() {
            // Whatever it created is still there, but it has lost track of it.
            self.holder.forget();
        }
        result
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError> {
        let held = self.holder.let_go(name).ok_or_else(not_held)?;
        let released = self.env.within(deadline, delete_once(&held)).await;
        self.holder.forget();
        released.ok_or_else(overdue)?
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.handle.current().await)
    }
}

/// The tutorials' queue in which each client watches the znode just before its own, and looks at the list again when
/// that one goes. Everybody has an ephemeral sequential znode; the first holds. One that is to hold shared also does if
/// the znode just before its own is another such.
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
