//! The group of a client that sees each last change and is a member again after its session has ended.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;

use super::{GroupMember, GroupReader, OwnMember, ReadingOrder, Registration, ShownGroup};
use crate::recipes::bug::Bug;
use crate::recipes::{Env, OpError, OwnZnode};
use crate::service::SessionHandle;

/// `membership/cached`: it shows what it reads with the read that sets the watch, and nothing while it is disconnected.
#[derive(Clone)]
pub struct CachedMembership {
    env: Env,
    group: ShownGroup,
    registration: Registration,
}

impl CachedMembership {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        let client = Self {
            env: env.clone(),
            group: ShownGroup::new(env),
            registration: Registration::new(env),
        };
        env.host.spawn(client.clone().keep_session().boxed());
        env.host.spawn(client.registration.clone().keep().boxed());
        client
    }

    /// Has a session at all times, and shows what is read in it.
    async fn keep_session(self) {
        let order = ReadingOrder {
            // The planted G1 sets the watch after it has read the data, by a second listing that it does not look at.
            list_watched: !self.env.has(Bug::G1),
            data_watched: true,
            reads_anew: true,
        };
        loop {
            let zk = self.env.connect().await;
            self.registration.begin(zk.clone());
            let reader = GroupReader::new(&self.env, zk, self.group.clone(), order);
            reader.run().await;
            self.registration.end();
        }
    }
}

#[async_trait]
impl GroupMember for CachedMembership {
    async fn register(&self, member: &str, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        self.registration.register(member, value, deadline).await
    }

    async fn update(&self, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        self.registration.update(value, deadline).await
    }

    async fn deregister(&self, deadline: Option<Duration>) -> Result<Option<OwnZnode>, OpError> {
        self.registration.deregister(deadline).await
    }

    fn registered(&self) -> Option<OwnMember> {
        self.registration.registered()
    }

    fn group(&self) -> &ShownGroup {
        &self.group
    }

    async fn session(&self) -> SessionHandle {
        self.registration.session().await
    }

    async fn idle(&self) {
        self.registration.idle().await;
    }
}
