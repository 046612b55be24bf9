//! The tutorial's first lock, faults and all: everybody watches the list of children, and a change wakes the herd.
//!
//! It knows no unknown outcomes: an error ends the attempt and leaves its znode where it is. Session events are ignored;
//! a handle whose session is over is replaced when the next attempt begins.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{Lock, PARENT, Released, not_held, overdue};
use crate::recipes::sequence::sequence;
use crate::recipes::sessions::Handle;
use crate::recipes::{Ended, Env, Grant, Held, Ledger, Owned};
use crate::service::Seat;
use crate::zk::{CreateMode, WatchEvent, Zk};

/// `lock/children`.
#[derive(Clone)]
pub struct Children {
    env: Env,
    ledger: Ledger,
    handle: Handle,
}

impl Children {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            ledger: Ledger::default(),
            handle: Handle::open(env),
        }
    }

    async fn attempt(&self, name: &str) -> Result<Grant, Ended> {
        let zk = self.handle.live().await;
        let grant = self.create(name, zk.as_ref()).await?;
        let own = grant.path.rsplit('/').next().unwrap_or_default().to_string();
        loop {
            let (names, watch) = zk
                .children_and_watch(PARENT)
                .await
                .map_err(|error| Ended::unknown("list the children", &error))?;
            let smallest = names
                .iter()
                .filter_map(|name| Some((sequence(name, "lock-")?, name)))
                .min();
            if smallest.is_some_and(|(_, name)| *name == own) {
                self.ledger.hold(Held {
                    grant: grant.clone(),
                    zk,
                });
                return Ok(grant);
            }
            if let WatchEvent::Session(state) = watch.await {
                return Err(Ended::Info(format!("the session is {} while waiting", state.name())));
            }
        }
    }

    async fn create(&self, name: &str, zk: &dyn Zk) -> Result<Grant, Ended> {
        let _busy = self.ledger.busy();
        let created = zk
            .create(&format!("{PARENT}/lock-"), b"", CreateMode::EphemeralSequential)
            .await
            .map_err(|error| Ended::of("create", &error))?;
        let czxid = created.stat.map(|stat| stat.czxid);
        self.ledger.own(Owned {
            path: created.path.clone(),
            czxid,
            session: zk.session(),
        });
        Ok(Grant {
            name: name.to_string(),
            path: created.path,
            czxid,
            session: zk.session(),
            token: None,
        })
    }
}

impl Lock for Children {
    fn acquire(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Grant, Ended>> {
        let (lock, name) = (self.clone(), name.to_string());
        async move {
            let attempt = lock.env.within(deadline, lock.attempt(&name)).await;
            let result = attempt.unwrap_or_else(|| Err(overdue()));
            if result.is_err() {
                // Whatever it created is still there, but it has lost track of it.
                lock.ledger.forget();
            }
            result
        }
        .boxed()
    }

    fn release(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Released, Ended>> {
        let (lock, name) = (self.clone(), name.to_string());
        async move {
            let held = lock.ledger.let_go(&name).ok_or_else(not_held)?;
            let delete = async {
                let deleted = held.zk.delete(&held.grant.path, None).await;
                deleted
                    .map(|()| Released::of(&held.grant))
                    .map_err(|error| Ended::of("delete", &error))
            };
            let result = lock
                .env
                .within(deadline, delete)
                .await
                .unwrap_or_else(|| Err(overdue()));
            lock.ledger.forget();
            result
        }
        .boxed()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn session(&self) -> BoxFuture<'static, Seat> {
        let handle = self.handle.clone();
        async move {
            Seat {
                zk: handle.current().await as Arc<dyn Zk>,
                temporary: false,
            }
        }
        .boxed()
    }
}
