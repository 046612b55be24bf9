//! A queue with claims: one transaction moves the first item to `/taken`, under its owner's name; to acknowledge
//! deletes it there. At least once: what an owner whose session is over left behind is taken back by the next consumer.
//!
//! A claim is `/taken/<name of the item>`, persistent; its data names item and owner, and its version counts its
//! owners: only who still has the version may acknowledge. A request whose outcome is unknown is looked into after a
//! write of the same session, behind which it cannot take effect any more.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;

use super::claim::{ItemClaim, look};
use super::dequeue_attempt::DequeueAttempt;
use super::item::{Content, in_order, put, reading};
use super::owner::{Owner, Owners, gone};
use super::{DeliveredItem, OWNERS, QUEUE, Queue, TAKEN, ZnodeName, overdue};
use crate::recipes::bug::Bug;
use crate::recipes::{BusyGuard, Env, HolderState, NOT_HELD, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, MultiError, MultiOp, OpResult, SharedValue};

#[derive(Clone)]
pub struct ClaimedQueue {
    env: Env,
    holder: HolderState,
    owners: Owners,
    claims: SharedValue<Vec<ItemClaim>>,
    /// Whether an acknowledgement has not ended, which the next one waits for ([`Bug::AcknowledgesInTurn`]).
    acknowledges: SharedValue<bool>,
}

impl ClaimedQueue {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            holder: HolderState::default(),
            owners: Owners::new(env),
            claims: SharedValue::new(Vec::new()),
            acknowledges: SharedValue::new(false),
        }
    }

    async fn take(&self, attempt: &DequeueAttempt) -> Result<Option<DeliveredItem>, OpError> {
        let owner = self.owners.live().await;
        self.claims
            .update(|claims| claims.retain(|claim| !claim.owner.zk.state().is_over()));
        if let Some(given) = self.spare(attempt)? {
            return Ok(Some(given));
        }
        loop {
            // What a dead owner left is older than what is in the queue.
            if let Some(given) = self.take_back(&owner, attempt).await? {
                return Ok(Some(given));
            }
            let names = owner.zk.children(QUEUE).await.map_err(reading)?;
            if names.is_empty() {
                return Ok(None);
            }
            for name in self.in_order(names) {
                let path = format!("{QUEUE}/{name}");
                let Some((content, stat)) = Content::find(owner.zk.as_ref(), &path).await? else {
                    continue;
                };
                let mine = Content {
                    owner: Some(owner.name.clone()),
                    ..content
                };
                let create = MultiOp::Create(format!("{TAKEN}/{name}"), mine.data(), CreateMode::Persistent);
                let mut ops = vec![owner.lives(), MultiOp::Delete(path.clone(), Some(stat.version)), create];
                if self.env.has(Bug::ClaimLeftBehind) {
                    ops.remove(1);
                }
                if let Some(given) = self.claim(&owner, &name, mine.item, ops, attempt).await? {
                    if self.env.has(Bug::ClaimLeftBehind) && owner.zk.delete(&path, None).await == Err(Error::NoNode) {
                        // Consumed already: on to the next one, and the claim is thought of no more.
                        self.forget(&format!("{TAKEN}/{name}"));
                        continue;
                    }
                    return Ok(Some(given));
                }
            }
        }
    }

    /// Takes back the oldest of what owners whose sessions are over have left.
    async fn take_back(&self, owner: &Owner, attempt: &DequeueAttempt) -> Result<Option<DeliveredItem>, OpError> {
        let zk = &owner.zk;
        let taken = zk.children(TAKEN).await.map_err(reading)?;
        if taken.is_empty() {
            return Ok(None);
        }
        let alive = zk.children(OWNERS).await.map_err(reading)?;
        for name in self.in_order(taken) {
            let path = format!("{TAKEN}/{name}");
            let Some((content, stat)) = Content::find(zk.as_ref(), &path).await? else {
                continue;
            };
            let Some(former) = content.owner.filter(|former| !alive.contains(former)) else {
                continue;
            };
            let mine = Content {
                item: content.item,
                owner: Some(owner.name.clone()),
            };
            let mut ops = vec![owner.lives()];
            ops.extend(gone(&former));
            ops.push(MultiOp::Set(path, mine.data(), Some(stat.version)));
            if let Some(given) = self.claim(owner, &name, mine.item, ops, attempt).await? {
                return Ok(Some(given));
            }
        }
        Ok(None)
    }

    fn in_order(&self, mut names: Vec<String>) -> Vec<String> {
        if self.env.has(Bug::ItemsByWholeName) {
            names.sort();
            return names;
        }
        in_order(names)
    }

    /// Names an item, and claims it in one transaction, whose first part is that the owner lives.
    async fn claim(
        &self,
        owner: &Owner,
        name: &str,
        item: i64,
        ops: Vec<MultiOp>,
        attempt: &DequeueAttempt,
    ) -> Result<Option<DeliveredItem>, OpError> {
        let path = format!("{TAKEN}/{name}");
        let mut lost = false;
        let (czxid, version) = loop {
            self.name(item, attempt)?;
            let stat = match owner.zk.multi(ops.clone()).await {
                Ok(results) => results.into_iter().find_map(|result| match result {
                    OpResult::Created(created) if created.path == path => created.stat,
                    OpResult::Set(stat) => Some(stat),
                    _ => None,
                }),
                Err(MultiError { index: Some(0), error }) => {
                    return Err(OpError::Fail(format!("the session is over: {error}")));
                }
                // Somebody else was faster, or its owner lives after all.
                Err(MultiError { error, .. }) if error.is_definite() => return Ok(None),
                Err(_) => {
                    lost = true;
                    None
                }
            };
            if let Some(stat) = stat {
                break (stat.czxid, stat.version);
            }
            // Where it did not take effect the item is still the first one: to go on to the next would reorder them.
            if let Some(found) = look(&self.env, owner, &path).await? {
                break found;
            }
        };
        let own = OwnZnode {
            path,
            czxid: Some(czxid),
            session: owner.zk.session(),
        };
        self.holder.own(own.clone());
        let claim = ItemClaim {
            item,
            owner: owner.clone(),
            own: own.clone(),
            version,
            delivered: true,
        };
        self.claims.update(|claims| claims.push(claim));
        if lost && self.env.has(Bug::ClaimKept) {
            return Err(OpError::Info("the reply to the claim was lost".to_string()));
        }
        Ok(Some(DeliveredItem { item, claim: Some(own) }))
    }

    /// A claim that was made too late for the dequeue that made it.
    fn spare(&self, attempt: &DequeueAttempt) -> Result<Option<DeliveredItem>, OpError> {
        let spare = self
            .claims
            .with(|claims| claims.iter().find(|claim| !claim.delivered).cloned());
        let Some(claim) = spare else { return Ok(None) };
        self.name(claim.item, attempt)?;
        self.delivered(claim.item, true);
        Ok(Some(DeliveredItem {
            item: claim.item,
            claim: Some(claim.own),
        }))
    }

    fn delivered(&self, item: i64, delivered: bool) {
        self.claims.update(|claims| {
            let same = claims.iter_mut().filter(|claim| claim.item == item);
            same.for_each(|claim| claim.delivered = delivered);
        });
    }

    /// Names an item that is about to be taken, unless nobody waits for it any more.
    fn name(&self, item: i64, attempt: &DequeueAttempt) -> Result<(), OpError> {
        attempt.while_awaited(|| self.env.taking(item)).ok_or_else(overdue)
    }

    /// A dequeue to its end, whether anybody waits for it or not.
    async fn attempt(self, attempt: DequeueAttempt, busy: BusyGuard) {
        let ended = self.take(&attempt).await;
        attempt.end(ended, |late| self.delivered(late.item, false));
        drop(busy);
    }

    async fn finish(self, item: i64, busy: BusyGuard) -> Result<(), OpError> {
        let claim = self
            .claims
            .with(|claims| claims.iter().rfind(|claim| claim.item == item).cloned());
        let Some(claim) = claim.filter(|claim| claim.delivered) else {
            return Err(OpError::Fail(NOT_HELD.to_string()));
        };
        // With the bug nothing is known to go on in the background.
        let busy = (!self.env.has(Bug::AcknowledgesInTurn)).then_some(busy);
        if self.env.has(Bug::AcknowledgesInTurn) {
            self.acknowledges.until(|busy| (!busy).then_some(())).await;
            self.acknowledges.update(|busy| *busy = true);
        }
        let ended = claim.delete(&self.env).await;
        // The reply that ends it may never come.
        let lost = self.env.has(Bug::AcknowledgesInTurn) && matches!(ended, Err(OpError::Info(_)));
        self.acknowledges.update(|busy| *busy = lost);
        self.forget(&claim.own.path);
        drop(busy);
        ended
    }

    fn forget(&self, path: &str) {
        self.claims
            .update(|claims| claims.retain(|other| other.own.path != path));
        self.holder.disown(path);
    }
}

#[async_trait]
impl Queue for ClaimedQueue {
    async fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Result<ZnodeName, OpError> {
        let put = self.env.within(deadline, put(&self.env, &self.owners, item));
        put.await.ok_or_else(overdue)?
    }

    async fn dequeue(&self, deadline: Option<Duration>) -> Result<Option<DeliveredItem>, OpError> {
        let attempt = DequeueAttempt::default();
        let work = self.clone().attempt(attempt.clone(), self.holder.busy());
        self.env.host.spawn(work.boxed());
        match self.env.within(deadline, attempt.ended()).await {
            Some(ended) => ended,
            None => attempt.abandon().ok_or_else(overdue)?,
        }
    }

    async fn acknowledge(&self, item: i64, deadline: Option<Duration>) -> Result<(), OpError> {
        let work = self.clone().finish(item, self.holder.busy());
        self.env.outlast(deadline, work).await.ok_or_else(overdue)?
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        self.owners.handle.session_handle().await
    }
}
