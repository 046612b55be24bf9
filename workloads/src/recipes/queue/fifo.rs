//! The plain queue: sequential items; a consumer reads the first, then deletes it. At most once: who dies between the
//! delete and its work has taken the item with it.
//!
//! It repeats nothing. A create whose outcome is unknown is answered as unknown, and so is a delete: to repeat the one
//! would make a second item, and to take the other's NoNode for another consumer's delete would lose one.

use std::time::Duration;

use async_trait::async_trait;

use super::item::{Content, MARK, in_order, reading};
use super::{DeliveredItem, QUEUE, Queue, ZnodeName, blindly, ensure, overdue};
use crate::recipes::bug::Bug;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, HolderState, OpError};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, SharedValue, Zk};

/// `queue/fifo`.
#[derive(Clone)]
pub struct Fifo {
    env: Env,
    handle: Handle,
    holder: HolderState,
    /// What is still to be handed out of a list that was read before ([`Bug::StaleListHandedOut`]): znodes and their
    /// items.
    listed: SharedValue<Vec<(String, i64)>>,
}

impl Fifo {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            holder: HolderState::default(),
            listed: SharedValue::new(Vec::new()),
        }
    }

    async fn put(&self, item: i64) -> Result<ZnodeName, OpError> {
        let zk = self.handle.live().await;
        // Nothing of the item can be there when this fails.
        ensure(zk.as_ref(), QUEUE)
            .await
            .map_err(|error| OpError::Fail(format!("create {QUEUE}: {error}")))?;
        let data = Content { item, owner: None }.data();
        let create = || zk.create(&format!("{QUEUE}/{MARK}"), &data, CreateMode::PersistentSequential);
        let created = blindly(&self.env, Bug::EnqueuedUnnamed, zk.as_ref(), create)
            .await
            .map_err(|error| OpError::from_error("create", &error))?;
        Ok(ZnodeName {
            path: created.path,
            czxid: created.stat.map(|stat| stat.czxid),
        })
    }

    async fn take(&self) -> Result<Option<DeliveredItem>, OpError> {
        let zk = self.handle.live().await;
        if self.env.has(Bug::StaleListHandedOut) {
            return self.hand_out(zk.as_ref()).await;
        }
        // Until the first delete is sent nothing can have been taken, and a delete that ZooKeeper refused took nothing.
        loop {
            let names = names(zk.as_ref()).await?;
            if names.is_empty() {
                return Ok(None);
            }
            for name in names {
                let path = format!("{QUEUE}/{name}");
                let Some((Content { item, .. }, _)) = Content::find(zk.as_ref(), &path).await? else {
                    continue;
                };
                self.env.taking(item);
                match blindly(&self.env, Bug::NoNodeTakenForAnother, zk.as_ref(), || {
                    zk.delete(&path, None)
                })
                .await
                {
                    Ok(()) => return Ok(Some(DeliveredItem { item, claim: None })),
                    Err(Error::NoNode) if self.env.has(Bug::WaitsForChangePast) => {
                        let (_, watch) = zk.children_and_watch(QUEUE).await.map_err(reading)?;
                        watch.await;
                        break;
                    }
                    Err(Error::NoNode) => {}
                    Err(error) => return Err(OpError::from_error("delete", &error)),
                }
            }
        }
    }

    /// The next item of the list that was read last; a new one is read when it is over.
    async fn hand_out(&self, zk: &dyn Zk) -> Result<Option<DeliveredItem>, OpError> {
        if self.listed.with(Vec::is_empty) {
            for name in names(zk).await? {
                let path = format!("{QUEUE}/{name}");
                if let Some((Content { item, .. }, _)) = Content::find(zk, &path).await? {
                    self.listed.update(|listed| listed.push((path, item)));
                }
            }
        }
        let next = self
            .listed
            .update(|listed| (!listed.is_empty()).then(|| listed.remove(0)));
        let Some((path, item)) = next else { return Ok(None) };
        self.env.taking(item);
        match zk.delete(&path, None).await {
            Ok(()) | Err(Error::NoNode) => Ok(Some(DeliveredItem { item, claim: None })),
            Err(error) => Err(OpError::from_error("delete", &error)),
        }
    }
}

/// The names in the queue, in order.
async fn names(zk: &dyn Zk) -> Result<Vec<String>, OpError> {
    match zk.children(QUEUE).await {
        Err(Error::NoNode) => Ok(Vec::new()),
        names => Ok(in_order(names.map_err(reading)?)),
    }
}

#[async_trait]
impl Queue for Fifo {
    async fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Result<ZnodeName, OpError> {
        self.env.within(deadline, self.put(item)).await.ok_or_else(overdue)?
    }

    async fn dequeue(&self, deadline: Option<Duration>) -> Result<Option<DeliveredItem>, OpError> {
        self.env.within(deadline, self.take()).await.ok_or_else(overdue)?
    }

    async fn acknowledge(&self, _: i64, _: Option<Duration>) -> Result<(), OpError> {
        let why = "this queue's items need no acknowledgement";
        Err(OpError::Fail(why.to_string()))
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        self.handle.session_handle().await
    }
}
