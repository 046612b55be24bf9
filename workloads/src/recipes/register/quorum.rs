//! A write before the read, to a znode of the client's own: a server acknowledges it only once it has applied it, and with it
//! all that was acknowledged to anybody before it was sent. A deposed leader finds no quorum for it.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Prelude;
use crate::recipes::{Env, SCRATCH, touch};
use crate::zk::{Error, Zk};

/// `register/quorum-read`.
pub(super) struct Quorum {
    own: String,
}

impl Quorum {
    /// With a scratch znode that no other process writes.
    pub(super) fn new(env: &Env) -> Self {
        Self {
            own: format!("{SCRATCH}/register-{:032x}", env.host.random()),
        }
    }
}

impl Prelude for Quorum {
    fn before_read(&self, zk: Arc<dyn Zk>) -> BoxFuture<'static, Result<(), Error>> {
        let own = self.own.clone();
        async move { touch(zk.as_ref(), &own).await.map(drop) }.boxed()
    }
}
