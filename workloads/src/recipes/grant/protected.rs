//! The best that a queue without fencing can be. As many hold as its capacity is, the first ones. What one of them does
//! before it holds is the variant's own [`BeforeGrant`]: nothing, or what makes a token or an acknowledgement.
//!
//! A GUID in the name identifies an own znode after an unknown outcome; numbers are ordered through their wrap; a
//! holder gives up as soon as it is disconnected (Curator TN10 asks for no less), yet keeps its znode until the work
//! that it cannot interrupt is done; what is left behind is chased until it is gone or its session is over. Only a
//! holder that is frozen or cut off for longer than its session can still do damage, and with a token the resource
//! refuses its writes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::claim::{GrantClaim, NoZnode, RemovalOutcome};
use super::queue::{ContenderQueue, QueuePlace, QueueStanding, Queues};
use super::{GrantRecipe, Mode, ZnodeName, delete_once, not_held};
use crate::recipes::bug::Bug;
use crate::recipes::holder_state::BeliefLink;
use crate::recipes::requests::over;
use crate::recipes::sequence::sequence;
use crate::recipes::{BusyGuard, Env, Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{SessionState, SharedValue, WatchEvent, Zk};

/// How long a candidate looks whether others come, and twice as long as it stays away when they do.
const MOMENT: Duration = Duration::from_millis(100);

/// How much of its time a timed attempt keeps for cleaning up; at most a fifth.
const RESERVE: Duration = Duration::from_millis(500);

/// A client of a protected queue.
#[derive(Clone)]
pub struct ProtectedQueue {
    env: Env,
    holder: HolderState,
    queues: Queues,
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
    async fn remove(&self, traces: Vec<Trace>, busy: BusyGuard) -> RemovalOutcome {
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

    async fn create(&self, claim: &GrantClaim, traces: &Traces) -> Result<OwnZnode, NoZnode> {
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

/// What the first in the queue, or a reader with no writer before it, does before it holds.
#[async_trait]
pub trait BeforeGrant: Send + Sync {
    /// Completes the grant. `None` if the candidate has to look again whether it is still the first.
    async fn perform(&self, candidate: FirstContender<'_>, grant: Grant) -> Option<Grant>;

    /// Whether it promises an acknowledgement with each grant.
    fn acknowledges(&self) -> bool {
        false
    }

    /// The token of the newest grant of any client; `None` if it cannot be read, or there are no tokens.
    async fn newest(&self, _: &dyn Zk) -> Option<i64> {
        None
    }
}

/// The first in the queue.
pub struct FirstContender<'a> {
    /// Its place in the queue.
    pub claim: &'a GrantClaim,
    client: &'a ProtectedQueue,
    traces: &'a Traces,
}

impl FirstContender<'_> {
    /// Creates another znode that goes when the place in the queue does, and before it.
    ///
    /// # Errors
    /// [`NoZnode`]: there is none.
    pub async fn create(&self, queue: ContenderQueue) -> Result<OwnZnode, NoZnode> {
        let claim = GrantClaim::new(&self.client.env, queue, self.claim.zk.clone());
        self.client.create(&claim, self.traces).await
    }
}

/// What an attempt has brought into the world so far: its claims, each with the path of its znode once that is known.
/// The first is the place in the queue, and is the last to be removed.
type Traces = SharedValue<Vec<Trace>>;

type Trace = (GrantClaim, Option<String>);

/// Its session: it has one at all times, and gives up what it holds with the connection.
impl ProtectedQueue {
    /// Has a session at all times, and gives up what was held as soon as its connection is lost.
    async fn keep_session(self) {
        loop {
            let zk = self.env.connect().await;
            if self.env.has(Bug::HoldsAfterExpiry) {
                self.holder.rest_on(&zk);
            }
            self.session.update(|session| *session = Some(zk.clone()));
            let mut state = zk.state();
            while !state.is_over() {
                match state {
                    SessionState::Connected => self.holder.connected(),
                    _ => self.give_up(state),
                }
                state = zk.changed(state).await;
            }
            self.give_up(state);
            self.holder.disown_session(zk.session());
            self.session.update(|session| *session = None);
        }
    }

    fn give_up(&self, state: SessionState) {
        let busy = self.holder.busy();
        let Some(held) = self.holder.disconnected() else { return };
        if self.env.has(Bug::HoldsAfterExpiry) || self.env.has(Bug::ReadsEpochLate) {
            return self.holder.hold(held);
        }
        self.env.lost(&held.grant.name, state.name());
        let client = self.clone();
        let clean = async move {
            // Work that cannot be interrupted goes on under the znode, as long as the session lives.
            let over = over(held.zk.as_ref());
            select(std::pin::pin!(client.holder.rested()), std::pin::pin!(over)).await;
            client.remove(client.traces(&held), busy).await;
        };
        self.env.host.spawn(clean.boxed());
    }

    /// A session whose latest known state is connected.
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
}

/// What it does with a planted bug, beside the care that is left out.
impl ProtectedQueue {
    /// E4: gives its place up if others stand in the queue after a moment, and one more; returns whether it did.
    async fn steps_back(&self, claim: &GrantClaim, own: &OwnZnode) -> bool {
        self.env.host.sleep(MOMENT).await;
        let all = claim.zk.children(self.queues.exclusive.parent).await;
        let met = all.is_ok_and(|all| all.len() > 1);
        if met {
            self.env.host.sleep(MOMENT).await;
            let place = vec![(claim.clone(), Some(own.path.clone()))];
            self.remove(place, self.holder.busy()).await;
            self.env.host.sleep(MOMENT / 2).await;
        }
        met
    }

    /// L28: deletes the first znode of the queue, whosever that is.
    async fn release_first(&self, name: &str) -> Result<Option<ZnodeName>, OpError> {
        if let Some(held) = self.holder.let_go(name) {
            self.holder.disown(&held.grant.path);
        }
        let (zk, ContenderQueue { parent, mark, .. }) = (self.live().await, self.queues.exclusive);
        let names = zk.children(parent).await;
        let names = names.map_err(|error| OpError::from_error("children", &error))?;
        let numbered = names.iter().filter_map(|name| Some((sequence(name, mark)?, name)));
        if let Some((_, first)) = numbered.min() {
            let deleted = zk.delete(&format!("{parent}/{first}"), None).await;
            deleted.map_err(|error| OpError::from_error("delete", &error))?;
        }
        Ok(None)
    }
}
