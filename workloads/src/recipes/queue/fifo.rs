//! The plain queue: sequential items; a consumer reads the first, then deletes it. At most once: who dies between the
//! delete and its work has taken the item with it.
//!
//! It repeats nothing. A create whose outcome is unknown is answered as unknown, and so is a delete: to repeat the one
//! would make a second item, and to take the other's NoNode for another consumer's delete would lose one.

use std::time::Duration;

use async_trait::async_trait;

use super::item::{Content, MARK, in_order};
use super::{Given, QUEUE, Queue, Stored, blindly, ensure, overdue};
use crate::recipes::planted::Bug;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, HolderState, OpError};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error};

/// `queue/fifo`.
#[derive(Clone)]
pub struct Fifo {
    env: Env,
    handle: Handle,
    holder: HolderState,
}

impl Fifo {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            holder: HolderState::default(),
        }
    }

    async fn put(&self, item: i64) -> Result<Stored, OpError> {
        let zk = self.handle.live().await;
        // Nothing of the item can be there when this fails.
        ensure(zk.as_ref(), QUEUE)
            .await
            .map_err(|error| OpError::Fail(format!("create {QUEUE}: {error}")))?;
        let data = Content { item, owner: None }.data();
        let create = || zk.create(&format!("{QUEUE}/{MARK}"), &data, CreateMode::PersistentSequential);
        let created = blindly(&self.env, Bug::Q2, zk.as_ref(), create)
            .await
            .map_err(|error| OpError::of("create", &error))?;
        Ok(Stored {
            path: created.path,
            czxid: created.stat.map(|stat| stat.czxid),
        })
    }

    async fn take(&self) -> Result<Option<Given>, OpError> {
        let zk = self.handle.live().await;
        // Until the first delete is sent nothing can have been taken, and a delete that ZooKeeper refused took nothing.
        let reading = |error: Error| OpError::Fail(format!("read: {error}"));
        loop {
            let names = match zk.children(QUEUE).await {
                Err(Error::NoNode) => return Ok(None),
                names => in_order(names.map_err(reading)?),
            };
            if names.is_empty() {
                return Ok(None);
            }
            for name in names {
                let path = format!("{QUEUE}/{name}");
                let data = match zk.get(&path).await {
                    Ok((data, _)) => data,
                    Err(Error::NoNode) => continue,
                    Err(error) => return Err(reading(error)),
                };
                let Some(Content { item, .. }) = Content::read(&data) else {
                    return Err(OpError::Fail(format!("{path} holds no item")));
                };
                self.env.taking(item);
                match blindly(&self.env, Bug::Q1, zk.as_ref(), || zk.delete(&path, None)).await {
                    Ok(()) => return Ok(Some(Given { item, claim: None })),
                    Err(Error::NoNode) => {}
                    Err(error) => return Err(OpError::of("delete", &error)),
                }
            }
        }
    }
}

#[async_trait]
impl Queue for Fifo {
    async fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Result<Stored, OpError> {
        self.env.within(deadline, self.put(item)).await.ok_or_else(overdue)?
    }

    async fn dequeue(&self, deadline: Option<Duration>) -> Result<Option<Given>, OpError> {
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
