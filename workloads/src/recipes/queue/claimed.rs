//! A queue with claims: one transaction moves the first item to `/taken`, under its owner's name; to acknowledge
//! deletes it there. At least once: what an owner whose session is over left behind is taken back by the next consumer.
//!
//! A claim is `/taken/<name of the item>`, persistent; its data names item and owner, and its version counts its
//! owners: only who still has the version may acknowledge. A request whose outcome is unknown is looked into after a
//! write of the same session, behind which it cannot take effect any more.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;

use super::item::{Content, MARK, in_order, reading};
use super::{DeliveredItem, OWNERS, QUEUE, Queue, TAKEN, ZnodeName, ensure, overdue, steady};
use crate::recipes::bug::Bug;
use crate::recipes::sessions::Handle;
use crate::recipes::{BusyGuard, Env, HolderState, NOT_HELD, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, MultiError, MultiOp, OpResult, SharedValue, Zk, session_hex};

/// `queue/claimed`.
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
            if let Some(found) = find_claim(&self.env, owner, &path).await? {
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

/// Puts an item at the end of the queue, and does not answer before it is known to be there, if that can be known.
///
/// # Errors
/// [`OpError::Fail`] only if it is certainly not there.
async fn put(env: &Env, owners: &Owners, item: i64) -> Result<ZnodeName, OpError> {
    let Owner { zk, .. } = owners.live().await;
    let guid = format!("{:032x}", env.host.random());
    let data = Content { item, owner: None }.data();
    let path = format!("{QUEUE}/{guid}-{MARK}");
    match zk.create(&path, &data, CreateMode::PersistentSequential).await {
        Ok(created) => Ok(ZnodeName {
            path: created.path,
            czxid: created.stat.map(|stat| stat.czxid),
        }),
        Err(error) if error.is_definite() => Err(OpError::from_error("create", &error)),
        // Not repeated: where it is not found it may have been consumed already.
        Err(error) => {
            let unknown = OpError::unknown("create", &error);
            if !steady(env, zk.as_ref()).await {
                return Err(unknown);
            }
            for parent in [QUEUE, TAKEN] {
                let names = zk.children(parent).await.unwrap_or_default();
                if let Some(name) = names.into_iter().find(|name| name.starts_with(&guid)) {
                    let path = format!("{QUEUE}/{name}");
                    return Ok(ZnodeName { path, czxid: None });
                }
            }
            Err(unknown)
        }
    }
}

/// A claim that this client has.
#[derive(Clone)]
struct ItemClaim {
    /// Number of the item.
    item: i64,
    /// The owner that has claimed it.
    owner: Owner,
    /// Its znode.
    own: OwnZnode,
    /// The version of that which its owner wrote.
    version: i32,
    /// Whether it was delivered. What was claimed too late to be answered waits for the next dequeue.
    delivered: bool,
}

impl ItemClaim {
    /// Deletes it, which ends the item's life.
    ///
    /// # Errors
    /// [`OpError::Fail`] if it is somebody else's by now.
    async fn delete(&self, env: &Env) -> Result<(), OpError> {
        let (owner, path) = (&self.owner, &self.own.path);
        if owner.zk.state().is_over() {
            return Err(OpError::Fail(NOT_HELD.to_string()));
        }
        let mut tried = false;
        loop {
            match owner.zk.delete(path, Some(self.version)).await {
                Ok(()) => return Ok(()),
                // By its version another consumer has it, so no delete of ours has taken effect.
                Err(Error::BadVersion) => return Err(OpError::Fail(NOT_HELD.to_string())),
                Err(Error::NoNode) if !tried => return Err(OpError::Fail(NOT_HELD.to_string())),
                // While the owner lives nobody else can have it, so that it was an earlier try.
                Err(Error::NoNode) => match owner.confirm().await {
                    Ok(()) => return Ok(()),
                    Err(Error::NoNode) => {
                        return Err(OpError::Info("the claim is gone, and so is its owner".to_string()));
                    }
                    Err(_) => {}
                },
                Err(error) if error.is_definite() || env.has(Bug::AcknowledgesInTurn) => {
                    return Err(OpError::from_error("delete", &error));
                }
                Err(_) => tried = true,
            }
            if !steady(env, owner.zk.as_ref()).await {
                return Err(OpError::Info(
                    "the session ended during the acknowledgement".to_string(),
                ));
            }
        }
    }
}

/// Whether a claim whose transaction was not answered is there, with its czxid and version.
///
/// # Errors
/// If the session ends before that is known.
async fn find_claim(env: &Env, owner: &Owner, path: &str) -> Result<Option<(i64, i32)>, OpError> {
    loop {
        if !steady(env, owner.zk.as_ref()).await {
            return Err(OpError::Info("the session ended while an item was claimed".to_string()));
        }
        match owner.confirm().await {
            Ok(()) => {}
            Err(Error::NoNode) => return Err(OpError::Info("the owner was given up".to_string())),
            Err(_) => continue,
        }
        match owner.zk.get(path).await {
            Ok((data, stat)) => {
                let mine = Content::read(&data).is_some_and(|content| content.owner.as_ref() == Some(&owner.name));
                return Ok(mine.then_some((stat.czxid, stat.version)));
            }
            Err(Error::NoNode) => return Ok(None),
            Err(_) => {}
        }
    }
}

type DequeueEnd = Result<Option<DeliveredItem>, OpError>;

/// One dequeue, which goes on in the background: what it got, and whether somebody still waits for that. Shared by who
/// does it and who waits for it.
#[derive(Clone, Default)]
struct DequeueAttempt(SharedValue<AttemptState>);

#[derive(Default)]
struct AttemptState {
    abandoned: bool,
    ended: Option<DequeueEnd>,
}

impl DequeueAttempt {
    /// Does something while somebody waits for certain; `None`, and nothing is done, if nobody waits any more.
    fn while_awaited<R>(&self, act: impl FnOnce() -> R) -> Option<R> {
        self.0.update(|attempt| (!attempt.abandoned).then(act))
    }

    /// It has ended so. What it got too late, when nobody waited any more, is put by first.
    fn end(&self, ended: DequeueEnd, put_by: impl FnOnce(&DeliveredItem)) {
        self.0.update(|attempt| {
            if let (true, Ok(Some(given))) = (attempt.abandoned, &ended) {
                put_by(given);
            }
            attempt.ended = Some(ended);
        });
    }

    /// Waits for its end.
    async fn ended(&self) -> DequeueEnd {
        self.0.until(|attempt| attempt.ended.clone()).await
    }

    /// Nobody waits for it any more; returns its end, if that has come about all the same.
    fn abandon(&self) -> Option<DequeueEnd> {
        self.0.update(|attempt| {
            attempt.abandoned = true;
            attempt.ended.take()
        })
    }
}

/// The owner that a client is, in one session after the other. Clones share it.
#[derive(Clone)]
struct Owners {
    env: Env,
    /// The sessions.
    handle: Handle,
    announced: SharedValue<Option<i64>>,
}

/// An owner: an ephemeral znode with the session's id as name shows that the session lives. While that is there, nobody
/// else may take what the session has claimed; once it is gone it never comes back, for only its session can make it.
#[derive(Clone)]
struct Owner {
    /// The session.
    zk: Arc<dyn Zk>,
    /// Its id as `0x…`, which is its name as an owner.
    name: String,
}

impl Owners {
    /// Begins to open the first session.
    fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            announced: SharedValue::new(None),
        }
    }

    /// An owner whose session's end this client has not observed.
    async fn live(&self) -> Owner {
        loop {
            let zk = self.handle.live().await;
            let owner = Owner {
                name: session_hex(zk.session()),
                zk,
            };
            if self.announced.with(|announced| *announced == Some(owner.zk.session())) {
                return owner;
            }
            match announce(&owner).await {
                Ok(()) => {
                    self.announced.update(|announced| *announced = Some(owner.zk.session()));
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

async fn announce(owner: &Owner) -> Result<(), Error> {
    for parent in [QUEUE, TAKEN, OWNERS] {
        ensure(owner.zk.as_ref(), parent).await?;
    }
    match owner
        .zk
        .create(&owner_znode(&owner.name), b"", CreateMode::Ephemeral)
        .await
    {
        // No other client makes a znode of this name that lasts.
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Owner {
    /// The part of a transaction that it lives.
    fn lives(&self) -> MultiOp {
        MultiOp::Check(owner_znode(&self.name), None)
    }

    /// Writes, which succeeds only if it still lives: nothing that the session sent before can take effect later, and
    /// what it reads afterwards is as new as that.
    ///
    /// # Errors
    /// NoNode if it lives no more; with any other error that is unknown.
    async fn confirm(&self) -> Result<(), Error> {
        self.zk.set(&owner_znode(&self.name), b"", None).await.map(|_| ())
    }
}

/// The parts of a transaction that another owner lives no more. ZooKeeper has no check that a znode is missing, but to
/// create it fails where it is not.
fn gone(name: &str) -> [MultiOp; 2] {
    [
        MultiOp::Create(owner_znode(name), Vec::new(), CreateMode::Persistent),
        MultiOp::Delete(owner_znode(name), None),
    ]
}

fn owner_znode(name: &str) -> String {
    format!("{OWNERS}/{name}")
}
