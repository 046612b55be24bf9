//! The tutorial's first two-phase commit, faults and all: the coordinator creates one znode for each site, every site
//! watches all of them, and each decides by itself: O(n²) messages, and one abort is enough to abort early.
//!
//! If the coordinator dies while it creates the znodes, those that are there wait for the others for ever.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::plain::{Member, gather, read_transaction};
use super::{Decision, Journal, Party, Transaction, Vote, undecided};
use crate::recipes::{Env, OpError};
use crate::service::SessionHandle;

/// `commit/broadcast`.
#[derive(Clone)]
pub struct Broadcast(Member);

impl Broadcast {
    /// A client of this name, with this log.
    pub fn new(env: &Env, name: &str, journal: Journal) -> Self {
        Self(Member::new(env, name, journal))
    }
}

impl Party for Broadcast {
    fn begin(&self, transaction: Transaction, deadline: Option<Duration>) -> BoxFuture<'static, Result<(), OpError>> {
        self.0.begin_by(transaction, deadline)
    }

    /// The coordinator decides as the sites do, and tells nobody.
    fn decide(
        &self,
        transaction: Transaction,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Decision, OpError>> {
        let member = self.0.clone();
        async move {
            let decide = async {
                let zk = member.handle.live().await;
                gather(zk.as_ref(), &transaction.tx, &transaction.sites).await
            };
            let decision = member.env.within(deadline, decide).await;
            decision.unwrap_or_else(|| Err(undecided()))
        }
        .boxed()
    }

    fn vote(
        &self,
        tx: &str,
        vote: Vote,
        work: Duration,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Vote, OpError>> {
        let (member, tx) = (self.0.clone(), tx.to_string());
        async move { member.vote(&tx, vote, work, deadline).await }.boxed()
    }

    fn decided(&self, tx: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Decision, OpError>> {
        let (member, tx) = (self.0.clone(), tx.to_string());
        async move {
            let learn = async {
                let zk = member.handle.live().await;
                let transaction = read_transaction(zk.as_ref(), &tx).await?;
                gather(zk.as_ref(), &tx, &transaction.sites).await
            };
            member.decided(&tx, deadline, learn).await
        }
        .boxed()
    }

    fn session(&self) -> BoxFuture<'static, SessionHandle> {
        self.0.session()
    }
}
