//! The lock that zookeeper-client itself ships, used as its documentation prescribes: `Client::lock` with a Curator
//! prefix, guarded writes through the `LockClient`, and dropping that to release.
//!
//! It needs the crate's own client, so unlike the other recipes it runs on the real ensemble only. The crate has no
//! notice of a lost lock: its user believes in it until a guarded write is refused or the session is over.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};
use zookeeper_client as zkc;

use super::{PARENT, RESOURCE};
use crate::recipes::grant::{GrantRecipe, Mode, ZnodeName, not_held, overdue};
use crate::recipes::{Env, Grant, HeldGrant, HolderState, NOT_HELD, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::real::{RealEnsemble, RealZk};
use crate::zk::{Error, SessionState, SharedValue, Zk};

/// How long the look at an own lock znode may take, which only serves to report its czxid.
const LOOK: Duration = Duration::from_secs(1);

/// `lock/crate`.
#[derive(Clone)]
pub struct ShippedLock {
    env: Env,
    ensemble: RealEnsemble,
    holder: HolderState,
    session: SharedValue<Option<Arc<RealZk>>>,
    /// The crate's lock. Dropping the last clone of this `Arc` releases it; the lock itself is never cloned, since each
    /// clone of it releases.
    lock: SharedValue<Option<Arc<zkc::OwnedLockClient>>>,
    /// Whether `Client::lock` is under way.
    waiting: SharedValue<bool>,
}

impl ShippedLock {
    /// A client that begins to open its session.
    ///
    /// # Errors
    /// Without a real ensemble.
    pub fn new(env: &Env) -> anyhow::Result<Self> {
        let ensemble = env.ensemble.clone();
        let lock = Self {
            env: env.clone(),
            ensemble: ensemble.ok_or_else(|| anyhow::anyhow!("it runs on a real ensemble only"))?,
            holder: HolderState::default(),
            session: SharedValue::new(None),
            lock: SharedValue::new(None),
            waiting: SharedValue::new(false),
        };
        let opening = lock.clone();
        env.host.spawn(async move { opening.open().await }.boxed());
        Ok(lock)
    }

    async fn open(&self) {
        let zk = Arc::new(self.ensemble.open().await);
        self.env.report(zk.clone());
        self.env.host.spawn(self.clone().follow(zk.clone()).boxed());
        self.session.update(|session| *session = Some(zk));
    }

    /// The one thing that its user hears: that the session is over.
    async fn follow(self, zk: Arc<RealZk>) {
        let mut state = SessionState::Connected;
        while !state.is_over() {
            state = zk.changed(state).await;
        }
        let held = self.holder.held().filter(|held| held.grant.session == zk.session());
        if let Some(held) = held.and_then(|held| self.holder.let_go(&held.grant.name)) {
            self.drop_lock();
            self.env.lost(&held.grant.name, state.name());
        }
    }

    fn drop_lock(&self) {
        drop(self.lock.update(Option::take));
    }

    async fn attempt(&self, name: &str) -> Result<Grant, OpError> {
        let zk = self.session.until(Clone::clone).await;
        if zk.state().is_over() {
            self.open().await;
        }
        let zk = self.session.until(Clone::clone).await;
        let client = zk.client().map_err(|error| OpError::from_error("lock", &error))?;
        let lock = self.contend(&client).await.map_err(|error| ended(&error))?;
        let path = lock.lock_path().to_string();
        self.lock.update(|slot| *slot = Some(Arc::new(lock)));
        // The crate does not return the czxid. This look changes nothing, and may fail.
        let soon = Some(self.env.host.now() + LOOK);
        let stat = self
            .env
            .within(soon, zk.exists(&path))
            .await
            .and_then(Result::ok)
            .flatten();
        let czxid = stat
            .filter(|stat| stat.ephemeral_owner == zk.session())
            .map(|stat| stat.czxid);
        let own = OwnZnode {
            path,
            czxid,
            session: zk.session(),
        };
        let grant = Grant::new(name, &own);
        self.holder.own(own);
        self.holder.hold(HeldGrant {
            grant: grant.clone(),
            zk,
        });
        Ok(grant)
    }

    async fn contend(&self, client: &zkc::Client) -> Result<zkc::OwnedLockClient, zkc::Error> {
        let prefix = zkc::LockPrefix::new_curator(PARENT, "lock-")?;
        Ok(client.lock(prefix, b"", zkc::Acls::anyone_all()).await?.into_owned())
    }

    /// The znode that `Client::lock` waits with, which it does not return: the youngest of this session.
    async fn youngest(&self) -> Option<OwnZnode> {
        let zk = self.session.with(Clone::clone)?;
        let mut youngest: Option<OwnZnode> = None;
        for name in zk.children(PARENT).await.ok()? {
            let path = format!("{PARENT}/{name}");
            let stat = zk.exists(&path).await.ok()?;
            let Some(stat) = stat.filter(|stat| stat.ephemeral_owner == zk.session()) else {
                continue;
            };
            if youngest.as_ref().is_none_or(|other| other.czxid < Some(stat.czxid)) {
                youngest = Some(OwnZnode {
                    path,
                    czxid: Some(stat.czxid),
                    session: zk.session(),
                });
            }
        }
        youngest
    }
}

/// The end of an attempt. By the crate's documentation nothing is left behind when the lock znode is gone.
fn ended(error: &zkc::Error) -> OpError {
    match error {
        zkc::Error::RuntimeInconsistent => OpError::Fail("lock: the lock znode was deleted meanwhile".to_string()),
        error => OpError::from_error("lock", &Error::from(error.clone())),
    }
}

#[async_trait]
impl GrantRecipe for ShippedLock {
    async fn acquire(&self, name: &str, _: Mode, deadline: Option<Duration>) -> Result<Grant, OpError> {
        self.waiting.update(|waiting| *waiting = true);
        let result = self.env.within(deadline, self.attempt(name)).await;
        self.waiting.update(|waiting| *waiting = false);
        let result = result.unwrap_or_else(|| Err(overdue()));
        if result.is_err() {
            self.drop_lock();
        }
        result
    }

    async fn release(&self, name: &str, _deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError> {
        let held = self.holder.let_go(name);
        if held.is_some() {
            self.holder.forget();
            self.drop_lock();
        }
        // The delete goes on in the background, and the crate does not report its end.
        held.map(|_| None).ok_or_else(not_held)
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.session.until(Clone::clone).await)
    }

    async fn znodes(&self) -> Vec<OwnZnode> {
        let mut znodes = self.holder.znodes();
        if znodes.is_empty() && self.waiting.with(|waiting| *waiting) {
            znodes.extend(self.youngest().await);
        }
        znodes
    }

    fn guards(&self) -> bool {
        true
    }

    async fn write(&self, name: &str, value: &Value) -> Result<i64, OpError> {
        let lock = self.lock.with(Clone::clone).ok_or_else(not_held)?;
        let data = json!({"grant": name, "value": value}).to_string();
        let written = lock.set_data(RESOURCE, data.as_bytes(), None).await;
        match written {
            Ok(stat) => Ok(stat.mzxid),
            Err(zkc::Error::RuntimeInconsistent) => {
                drop(lock);
                if self.holder.let_go(name).is_some() {
                    self.holder.forget();
                    self.env.lost(name, "a guarded write was refused");
                }
                self.drop_lock();
                Err(OpError::Fail(format!("refused: {NOT_HELD}: the lock znode is gone")))
            }
            Err(error) => Err(OpError::from_error("write", &error.into())),
        }
    }
}
