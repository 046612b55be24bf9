//! The best that a lock without fencing can be, and with a token the fenced one.
//!
//! A GUID in the name tells an own znode again after an unknown outcome; numbers are ordered through their wrap; a holder
//! gives the lock up as soon as it is disconnected (Curator TN10 asks for no less), yet keeps its znode until the work
//! that it cannot interrupt is done; what is left behind is chased until it is gone or its session is over. Only a holder
//! that is frozen or cut off for longer than its session can still do damage, and a token tells the resource.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, select};

use super::claim::{Claim, MARK, Nothing, Removed};
use super::{Lock, PARENT, Released, not_held};
use crate::recipes::ledger::Link;
use crate::recipes::sequence::{order, sequence};
use crate::recipes::{Busy, Ended, Env, Grant, Held, Ledger, Owned};
use crate::service::Seat;
use crate::zk::{SessionState, Shared, Zk};

/// How much of its time a timed attempt keeps for cleaning up; at most a fifth.
const RESERVE: Duration = Duration::from_millis(500);

/// `lock/protected` and `lock/fenced`.
#[derive(Clone)]
pub struct Protected {
    env: Env,
    ledger: Ledger,
    fenced: bool,
    session: Shared<Option<Arc<dyn Zk>>>,
}

/// What an attempt has brought into the world so far.
type Traces = Shared<Option<(Claim, Option<String>)>>;

enum Turn {
    Mine(Link),
    /// The own znode is not there any more.
    Missing,
}

impl Protected {
    /// A client that begins to open its session; `fenced` if its grants carry tokens.
    pub fn new(env: &Env, fenced: bool) -> Self {
        let lock = Self {
            env: env.clone(),
            ledger: Ledger::default(),
            fenced,
            session: Shared::new(None),
        };
        env.host.spawn(lock.clone().keep_session().boxed());
        lock
    }

    /// Has a session at all times, and gives up what was held as soon as its connection is lost.
    async fn keep_session(self) {
        loop {
            let zk = self.env.connect().await;
            self.session.update(|session| *session = Some(zk.clone()));
            let mut state = zk.state();
            while !state.is_over() {
                match state {
                    SessionState::Connected => self.ledger.connected(),
                    _ => self.give_up(state),
                }
                state = zk.changed(state).await;
            }
            self.give_up(state);
            self.ledger.disown_session(zk.session());
            self.session.update(|session| *session = None);
        }
    }

    fn give_up(&self, state: SessionState) {
        let busy = self.ledger.busy();
        let Some(held) = self.ledger.disconnected() else { return };
        self.env.lost(&held.grant.name, state.name());
        let (lock, claim) = (self.clone(), Claim::new(&self.env, held.zk));
        let clean = async move {
            // Work that cannot be interrupted goes on under the znode, as long as the session lives.
            let mut seen = claim.zk.state();
            let over = async {
                while !seen.is_over() {
                    seen = claim.zk.changed(seen).await;
                }
            };
            select(std::pin::pin!(lock.ledger.rested()), std::pin::pin!(over)).await;
            lock.remove(claim, Some(held.grant.path), busy).await;
        };
        self.env.host.spawn(clean.boxed());
    }

    async fn remove(&self, claim: Claim, path: Option<String>, busy: Busy) -> Removed {
        let removed = claim.remove(path.clone()).await;
        if let Some(path) = path {
            self.ledger.disown(&path);
        }
        drop(busy);
        removed
    }

    async fn contend(&self, name: &str, traces: &Traces) -> Result<Grant, Ended> {
        loop {
            let zk = self.live().await;
            let claim = Claim::new(&self.env, zk);
            traces.update(|traces| *traces = Some((claim.clone(), None)));
            let own = match self.create(&claim, traces).await {
                Ok(own) => own,
                Err(Nothing::Gone) => continue,
                Err(Nothing::Refused(error)) => {
                    traces.update(|traces| *traces = None);
                    return Err(Ended::of("create", &error));
                }
            };
            let grant = Grant {
                name: name.to_string(),
                path: own.path.clone(),
                czxid: own.czxid,
                session: own.session,
                token: own.czxid.filter(|_| self.fenced),
            };
            while let Turn::Mine(seen) = self.turn(&claim, &own.path).await {
                let held = Held {
                    grant: grant.clone(),
                    zk: claim.zk.clone(),
                };
                if self.ledger.hold_if(held, seen) {
                    return Ok(grant);
                }
            }
            self.ledger.disown(&own.path);
        }
    }

    /// A session that is connected, as far as is known.
    async fn live(&self) -> Arc<dyn Zk> {
        loop {
            let zk = self
                .session
                .until(|zk| zk.clone().filter(|zk| !zk.state().is_over()))
                .await;
            match zk.state() {
                SessionState::Connected => return zk,
                state if state.is_over() => {}
                state => drop(zk.changed(state).await),
            }
        }
    }

    async fn create(&self, claim: &Claim, traces: &Traces) -> Result<Owned, Nothing> {
        let _busy = self.ledger.busy();
        let own = claim.create().await?;
        self.ledger.own(own.clone());
        traces.update(|traces| *traces = Some((claim.clone(), Some(own.path.clone()))));
        Ok(own)
    }

    /// Waits until the own znode is the first in the queue, or gone.
    async fn turn(&self, claim: &Claim, own: &str) -> Turn {
        let zk = &claim.zk;
        while !zk.state().is_over() {
            let seen = self.ledger.link();
            if !seen.connected {
                self.ledger.link_changed(seen).await;
                continue;
            }
            let Ok(names) = zk.children(PARENT).await else {
                claim.steady().await;
                continue;
            };
            let before = match before(&names, own) {
                Some(Before::Nobody) => return Turn::Mine(seen),
                Some(Before::This(name)) => format!("{PARENT}/{name}"),
                None => return Turn::Missing,
            };
            match zk.exists_and_watch(&before).await {
                // The watch is set again on reconnect; looking anew costs little and trusts nobody with that.
                Ok((Some(_), watch)) => drop(select(watch, std::pin::pin!(self.ledger.link_changed(seen))).await),
                // It went between the two reads: waiting for its creation would be waiting for ever.
                Ok((None, _)) => {}
                Err(_) => drop(claim.steady().await),
            }
        }
        Turn::Missing
    }

    /// The time is up: cleans up, and says whether it knows that nothing is left.
    async fn withdraw(&self, traces: &Traces, deadline: Duration) -> Ended {
        let Some((claim, path)) = traces.with(Clone::clone) else {
            return Ended::Fail("timed out; nothing was created".to_string());
        };
        match self.remove_by(claim, path, Some(deadline)).await {
            Some(Removed::Deleted | Removed::Absent) => Ended::Fail("timed out; cleaned up".to_string()),
            Some(Removed::Gone) => Ended::Info("timed out; its session is over".to_string()),
            None => Ended::Info("timed out; still cleaning up".to_string()),
        }
    }

    /// Removes, in the background if need be, and waits for it until `deadline`.
    async fn remove_by(&self, claim: Claim, path: Option<String>, deadline: Option<Duration>) -> Option<Removed> {
        let (lock, busy) = (self.clone(), self.ledger.busy());
        self.env
            .outlast(deadline, async move { lock.remove(claim, path, busy).await })
            .await
    }
}

enum Before<'a> {
    Nobody,
    This(&'a str),
}

/// The znode just before the own one in the queue; `None` if the own one is missing.
fn before<'a>(names: &'a [String], own: &str) -> Option<Before<'a>> {
    let own = own.rsplit('/').next()?;
    let mine = sequence(own, MARK)?;
    names.iter().find(|name| *name == own)?;
    let earlier = names.iter().filter_map(|name| Some((sequence(name, MARK)?, name)));
    let nearest = earlier
        .filter(|(number, _)| order(*number, mine).is_lt())
        .max_by(|(a, _), (b, _)| order(*a, *b));
    Some(nearest.map_or(Before::Nobody, |(_, name)| Before::This(name)))
}

impl Lock for Protected {
    fn acquire(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Grant, Ended>> {
        let (lock, name) = (self.clone(), name.to_string());
        async move {
            let traces = Shared::new(None);
            let Some(deadline) = deadline else {
                return lock.contend(&name, &traces).await;
            };
            let reserve = RESERVE.min(deadline.saturating_sub(lock.env.host.now()) / 5);
            let soon = deadline.saturating_sub(reserve);
            match lock.env.within(Some(soon), lock.contend(&name, &traces)).await {
                Some(result) => result,
                None => Err(lock.withdraw(&traces, deadline).await),
            }
        }
        .boxed()
    }

    fn release(&self, name: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Released, Ended>> {
        let (lock, name) = (self.clone(), name.to_string());
        async move {
            let Some(held) = lock.ledger.let_go(&name) else {
                // It was lost. The clean-up is under way, and the next attempt shall not queue behind it.
                lock.env.within(deadline, lock.ledger.idle()).await;
                return Err(not_held());
            };
            let claim = Claim::new(&lock.env, held.zk);
            match lock.remove_by(claim, Some(held.grant.path.clone()), deadline).await {
                Some(Removed::Deleted) => Ok(Released::of(&held.grant)),
                Some(Removed::Absent) => Ok(Released::unsure()),
                Some(Removed::Gone) => Err(Ended::Info(
                    "the session is over, and its znode goes with it".to_string(),
                )),
                None => Err(Ended::Info("timed out; still deleting the znode".to_string())),
            }
        }
        .boxed()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn session(&self) -> BoxFuture<'static, Seat> {
        let session = self.session.clone();
        async move {
            Seat {
                zk: session.until(Clone::clone).await,
                temporary: false,
            }
        }
        .boxed()
    }
}
