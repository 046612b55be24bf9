//! The tutorial's remedy for too many messages, faults and all: only the coordinator watches, and it tells the sites its
//! decision by a znode: O(n) messages.
//!
//! If the coordinator dies between the votes and the decision, or does not know whether it wrote it, the sites wait.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::plain::{Member, gather, publish};
use super::{Decision, Journal, Party, Transaction, Vote, undecided};
use crate::recipes::{Env, OpError};
use crate::service::SessionHandle;

/// `commit/coordinated`.
#[derive(Clone)]
pub struct Coordinated(Member);

impl Coordinated {
    /// A client of this name, with this log.
    pub fn new(env: &Env, name: &str, journal: Journal) -> Self {
        Self(Member::new(env, name, journal))
    }
}

impl Party for Coordinated {
    fn begin(&self, transaction: Transaction, deadline: Option<Duration>) -> BoxFuture<'static, Result<(), OpError>> {
        self.0.begin_by(transaction, deadline)
    }

    fn decide(
        &self,
        transaction: Transaction,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Decision, OpError>> {
        let member = self.0.clone();
        async move {
            let decide = async {
                let zk = member.handle.live().await;
                let decision = gather(zk.as_ref(), &transaction.tx, &transaction.sites).await?;
                publish(zk.as_ref(), &transaction.tx, decision).await
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
        self.0.told(tx, deadline)
    }

    fn session(&self) -> BoxFuture<'static, SessionHandle> {
        self.0.session()
    }
}
