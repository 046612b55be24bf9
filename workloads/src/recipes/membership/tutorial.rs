//! The group of a client as tutorials write it: it reads, and sets its watches after that, by reads whose answers it
//! does not look at. What changes in between is missed until the next event.
//!
//! It registers when it is asked to, and believes in that entry until it is asked to leave: the end of its session does
//! not change that. Each error ends what it was doing. The znode of an attempt that ended so is found by the next one,
//! and written.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;

use super::{
    GroupMember, GroupReader, NOT_REGISTERED, OwnMember, REGISTERED_ALREADY, ReadingOrder, ShownGroup, data, path,
};
use crate::recipes::requests::overdue;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, SharedValue, Stat, Zk};

/// The order in which it reads.
const ORDER: ReadingOrder = ReadingOrder {
    list_watched: false,
    data_watched: false,
    reads_anew: false,
};

/// `membership/tutorial`.
#[derive(Clone)]
pub struct Tutorial {
    env: Env,
    handle: Handle,
    group: ShownGroup,
    own: SharedValue<Option<OwnMember>>,
}

impl Tutorial {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        let client = Self {
            env: env.clone(),
            handle: Handle::open(env),
            group: ShownGroup::new(env),
            own: SharedValue::new(None),
        };
        env.host.spawn(client.clone().watch().boxed());
        client
    }

    /// Shows the group, in one session after the other.
    async fn watch(self) {
        loop {
            let zk = self.handle.live().await;
            GroupReader::new(&self.env, zk, self.group.clone(), ORDER).run().await;
        }
    }

    async fn enter(&self, member: &str, value: i64) -> Result<OwnMember, OpError> {
        let zk = self.handle.live().await;
        let (path, data) = (path(member), data(value));
        let stat = match zk.create(&path, &data, CreateMode::Ephemeral).await {
            Ok(created) => created.stat,
            Err(Error::NodeExists) => Some(self.take_over(zk.as_ref(), &path, &data).await?),
            Err(error) => return Err(ended("create", &error)),
        };
        // A create's answer may lack the stat.
        let stat = match stat {
            Some(stat) => stat,
            None => zk.get(&path).await.map_err(|error| OpError::unknown("get", &error))?.1,
        };
        let own = OwnMember::read(member, zk.as_ref(), stat, &data);
        self.own.update(|entry| *entry = Some(own.clone()));
        Ok(own)
    }

    /// Writes an entry that its session has already.
    async fn take_over(&self, zk: &dyn Zk, path: &str, data: &[u8]) -> Result<Stat, OpError> {
        let read = zk.exists(path).await;
        let stat = read.map_err(|error| OpError::Fail(format!("exists: {error}")))?;
        if stat.is_none_or(|stat| stat.ephemeral_owner != zk.session()) {
            return Err(OpError::from_error("create", &Error::NodeExists));
        }
        zk.set(path, data, None).await.map_err(|error| ended("set", &error))
    }

    async fn write(&self, own: OwnMember, value: i64) -> Result<OwnMember, OpError> {
        let zk = self.handle.live().await;
        let written = zk.set(&path(&own.member), &data(value), None).await;
        let stat = written.map_err(|error| ended("set", &error))?;
        // The entry that it believes in is the one that it made.
        let own = OwnMember {
            value: Some(value),
            ..own
        };
        self.own.update(|entry| *entry = Some(own.clone()));
        Ok(OwnMember { stat, ..own })
    }

    async fn leave(&self, own: OwnMember) -> Result<Option<OwnZnode>, OpError> {
        let zk = self.handle.live().await;
        // Whatever comes of it.
        self.own.update(|entry| *entry = None);
        match zk.delete(&path(&own.member), None).await {
            Ok(()) => Ok(Some(own.znode())),
            Err(Error::NoNode) => Ok(None),
            Err(error) => Err(ended("delete", &error)),
        }
    }
}

fn ended(doing: &str, error: &Error) -> OpError {
    OpError::from_error(doing, error)
}

fn not_registered() -> OpError {
    OpError::Fail(NOT_REGISTERED.to_string())
}

#[async_trait]
impl GroupMember for Tutorial {
    async fn register(&self, member: &str, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        if self.registered().is_some() {
            return Err(OpError::Fail(REGISTERED_ALREADY.to_string()));
        }
        let entered = self.env.within(deadline, self.enter(member, value)).await;
        entered.ok_or_else(overdue)?
    }

    async fn update(&self, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        let own = self.registered().ok_or_else(not_registered)?;
        let written = self.env.within(deadline, self.write(own, value)).await;
        written.ok_or_else(overdue)?
    }

    async fn deregister(&self, deadline: Option<Duration>) -> Result<Option<OwnZnode>, OpError> {
        let own = self.registered().ok_or_else(not_registered)?;
        let left = self.env.within(deadline, self.leave(own)).await;
        left.ok_or_else(overdue)?
    }

    fn registered(&self) -> Option<OwnMember> {
        self.own.with(Clone::clone)
    }

    fn group(&self) -> &ShownGroup {
        &self.group
    }

    async fn session(&self) -> SessionHandle {
        self.handle.session_handle().await
    }
}
