//! The best that a queue without fencing can be. As many hold as its capacity is, the first ones. What one of them does
//! before it holds is the variant's own [`BeforeGrant`]: nothing, or what makes a token or an acknowledgement.
//!
//! A GUID in the name identifies an own znode after an unknown outcome; numbers are ordered through their wrap; a
//! holder gives up as soon as it is disconnected (Curator TN10 asks for no less), yet keeps its znode until the work
//! that it cannot interrupt is done; what is left behind is chased until it is gone or its session is over. Only a
//! holder that is frozen or cut off for longer than its session can still do damage, and with a token the resource
//! refuses its writes.

mod session;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::before_grant::{BeforeGrant, FirstContender, Trace, Traces};
use super::claim::{GrantClaim, NoZnode, RemovalOutcome};
use super::queue::{QueuePlace, QueueStanding, Queues};
use super::{GrantRecipe, Mode, ZnodeName, delete_once, not_held};
use crate::recipes::bug::Bug;
use crate::recipes::holder_state::BeliefLink;
use crate::recipes::requests::over;
use crate::recipes::{BusyGuard, Env, Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{SharedValue, WatchEvent, Zk};

/// How much of its time a timed attempt keeps for cleaning up; at most a fifth.
const RESERVE: Duration = Duration::from_millis(500);

/// A client of a protected queue.
#[derive(Clone)]
pub struct ProtectedQueue {
    pub(super) env: Env,
    pub(super) holder: HolderState,
    pub(super) queues: Queues,
    before_grant: Arc<dyn BeforeGrant>,
    session: SharedValue<Option<Arc<dyn Zk>>>,
}

enum Turn {
    Mine(BeliefLink),
    /// The own znode is not there any more.
    Missing,
}

impl ProtectedQueue {
    /// A client that begins to open its session.
    pub fn new(env: &Env, queues: impl Into<Queues>, before_grant: impl BeforeGrant + 'static) -> Self {
        let client = Self {
            env: env.clone(),
            holder: HolderState::default(),
            queues: queues.into(),
            before_grant: Arc::new(before_grant),
            session: SharedValue::new(None),
        };
        env.host.spawn(client.clone().keep_session().boxed());
        client
    }

    /// What a grant has brought into the world.
    fn traces(&self, held: &HeldGrant) -> Vec<Trace> {
        let trace = |path: &String| {
            let claim = GrantClaim::new(&self.env, self.queues.exclusive, held.zk.clone());
            (claim, Some(path.clone()))
        };
        let ack = held.grant.ack.as_ref().map(|own| &own.path);
        std::iter::once(&held.grant.path).chain(ack).map(trace).collect()
    }

    /// Removes everything, and returns what became of the place in the queue.
    pub(super) async fn remove(&self, traces: Vec<Trace>, busy: BusyGuard) -> RemovalOutcome {
        let mut removed = RemovalOutcome::Absent;
        for (claim, path) in traces.into_iter().rev() {
            removed = claim.remove(path.clone()).await;
            if let Some(path) = path {
                self.holder.disown(&path);
            }
        }
        drop(busy);
        removed
    }

    async fn contend(&self, name: &str, place: &QueuePlace, traces: &Traces) -> Result<Grant, OpError> {
        loop {
            let zk = self.live().await;
            let claim = GrantClaim::new(&self.env, place.queue, zk);
            traces.update(Vec::clear);
            let own = match self.create(&claim, traces).await {
                Ok(own) => own,
                Err(NoZnode::Gone) => continue,
                Err(NoZnode::Refused(error)) => {
                    traces.update(Vec::clear);
                    return Err(OpError::from_error("create", &error));
                }
            };
            if self.env.has(Bug::AllStepBack) && self.steps_back(&claim, &own).await {
                continue;
            }
            while let Turn::Mine(seen) = self.turn(&claim, &own.path, place).await {
                let candidate = FirstContender {
                    claim: &claim,
                    client: self,
                    traces,
                };
                let Some(grant) = self.before_grant.perform(candidate, Grant::new(name, &own)).await else {
                    traces.update(|traces| traces.truncate(1));
                    continue;
                };
                let held = HeldGrant {
                    grant: grant.clone(),
                    zk: claim.zk.clone(),
                };
                if self.holder.hold_if(held, seen) {
                    return Ok(grant);
                }
                // It may not be the first any more: what it made as the first goes, and it looks again.
                let made = traces.with(|traces| traces[1..].to_vec());
                self.remove(made, self.holder.busy()).await;
                traces.update(|traces| traces.truncate(1));
            }
            self.holder.disown(&own.path);
        }
    }

    pub(super) async fn create(&self, claim: &GrantClaim, traces: &Traces) -> Result<OwnZnode, NoZnode> {
        let _busy = self.holder.busy();
        let at = traces.update(|traces| {
            traces.push((claim.clone(), None));
            traces.len() - 1
        });
        let own = claim.create().await?;
        self.holder.own(own.clone());
        traces.update(|traces| traces[at].1 = Some(own.path.clone()));
        Ok(own)
    }

    /// Waits until nobody stands before the own znode whom it waits for, or it is gone.
    async fn turn(&self, claim: &GrantClaim, own: &str, place: &QueuePlace) -> Turn {
        let zk = &claim.zk;
        while !zk.state().is_over() {
            let seen = self.holder.link();
            if !seen.connected {
                self.holder.link_changed(seen).await;
                continue;
            }
            match place.standing(zk.as_ref(), own).await {
                Ok(QueueStanding::First) => return Turn::Mine(seen),
                Ok(QueueStanding::Missing) => return Turn::Missing,
                // The watch is set again on reconnect; looking anew costs little and trusts nobody with that.
                Ok(QueueStanding::Behind(watch)) => {
                    match select(watch, std::pin::pin!(self.holder.link_changed(seen))).await {
                        // Leads because the one before it is gone, even if others stand before that one.
                        Either::Left((WatchEvent::Deleted, _)) if self.env.has(Bug::LeadsUnlisted) => {
                            return Turn::Mine(seen);
                        }
                        // The watch went with the connection, and no other one is set.
                        Either::Right(_) if self.env.has(Bug::WatchNotSetAgain) => over(zk.as_ref()).await,
                        _ => {}
                    }
                }
                Ok(QueueStanding::Moved) => {}
                Err(_) => drop(claim.steady().await),
            }
        }
        Turn::Missing
    }

    /// The time is up: cleans up. The error is [`OpError::Fail`] only if it is certain that nothing is left.
    async fn withdraw(&self, traces: &Traces, deadline: Duration) -> OpError {
        let traces = traces.with(Clone::clone);
        if traces.is_empty() {
            return OpError::Fail("timed out; nothing was created".to_string());
        }
        match self.remove_by(traces, Some(deadline)).await {
            Some(RemovalOutcome::Deleted | RemovalOutcome::Absent) => {
                OpError::Fail("timed out; cleaned up".to_string())
            }
            Some(RemovalOutcome::Gone) => OpError::Info("timed out; its session is over".to_string()),
            None => OpError::Info("timed out; still cleaning up".to_string()),
        }
    }

    /// Removes, in the background if need be, and waits for it until `deadline`.
    async fn remove_by(&self, traces: Vec<Trace>, deadline: Option<Duration>) -> Option<RemovalOutcome> {
        let (client, busy) = (self.clone(), self.holder.busy());
        self.env
            .outlast(deadline, async move { client.remove(traces, busy).await })
            .await
    }
}

#[async_trait]
impl GrantRecipe for ProtectedQueue {
    async fn acquire(&self, name: &str, mode: Mode, deadline: Option<Duration>) -> Result<Grant, OpError> {
        let (place, traces) = (self.queues.place(mode, self.env.bug), SharedValue::new(Vec::new()));
        let Some(deadline) = deadline else {
            return self.contend(name, &place, &traces).await;
        };
        let reserve = RESERVE.min(deadline.saturating_sub(self.env.host.now()) / 5);
        let soon = deadline.saturating_sub(reserve);
        let contend = self.contend(name, &place, &traces);
        match self.env.within(Some(soon), contend).await {
            Some(result) => result,
            None => Err(self.withdraw(&traces, deadline).await),
        }
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError> {
        if self.env.has(Bug::ReleasesTheFirst) {
            return self.release_first(name).await;
        }
        let Some(held) = self.holder.let_go(name) else {
            // It was lost. The clean-up is under way, and the next attempt shall not queue behind it.
            self.env.within(deadline, self.holder.idle()).await;
            return Err(not_held());
        };
        if self.env.has(Bug::ReleaseForgotten) {
            self.holder.disown(&held.grant.path);
            return delete_once(&held).await;
        }
        match self.remove_by(self.traces(&held), deadline).await {
            Some(RemovalOutcome::Deleted) => Ok(Some(held.grant.znode())),
            Some(RemovalOutcome::Absent) => Ok(None),
            Some(RemovalOutcome::Gone) => Err(OpError::Info(
                "the session is over, and its znode goes with it".to_string(),
            )),
            None => Err(OpError::Info("timed out; still deleting the znode".to_string())),
        }
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    fn acknowledges(&self) -> bool {
        self.before_grant.acknowledges()
    }

    async fn token(&self, held: &Grant) -> Option<i64> {
        let session = self
            .session
            .with(Clone::clone)
            .filter(|_| self.env.has(Bug::ReadsEpochLate));
        match session {
            Some(zk) => self.before_grant.newest(zk.as_ref()).await.or(held.token),
            None => held.token,
        }
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.session.until(Clone::clone).await)
    }
}
