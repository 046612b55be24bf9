//! The operations of a two-phase commit: `begin` and `decide` of the coordinator, `vote` and `decided` of the sites.

use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::commit::{CommitAnswer as Answered, CommitRequest as Asked, f};

use super::plain::{PartyClient, overdue, wait_decision};
use super::{Decision, TransactionZnode, Vote, decision_path};
use crate::protocol::Request;
use crate::recipes::{OpError, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse};

/// A party to two-phase commits, as one client is it: the coordinator is asked `begin` and `decide`, sites are asked
/// `vote` and `decided`. Each of these answers by `deadline`, a moment of the host's clock.
#[async_trait]
pub trait Party: Send + Sync {
    /// Its session and its log.
    fn member(&self) -> &PartyClient;

    /// Creates what a transaction begins with: its znode, and one for each site.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing of it is there.
    async fn create(&self, transaction: &TransactionZnode) -> Result<(), OpError> {
        self.member().begin(transaction).await
    }

    /// Comes to the decision about a transaction, and sees to it that sites hear of it.
    ///
    /// # Errors
    /// [`OpError::Info`] if the decision is not known; there may be one.
    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError>;

    /// Waits for the decision: that which the coordinator publishes.
    ///
    /// # Errors
    /// [`OpError::Info`] while it is not known.
    async fn learn(&self, tx: &str) -> Result<Decision, OpError> {
        wait_decision(self.member().handle.live().await.as_ref(), &decision_path(tx)).await
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// As [`Party::create`].
    async fn begin(&self, transaction: &TransactionZnode, deadline: Option<Duration>) -> Result<(), OpError> {
        let begun = self.member().env.within(deadline, self.create(transaction));
        begun.await.ok_or_else(overdue)?
    }

    /// Decides about a transaction.
    ///
    /// # Errors
    /// As [`Party::conclude`].
    async fn decide(&self, transaction: &TransactionZnode, deadline: Option<Duration>) -> Result<Decision, OpError> {
        let decision = self.member().env.within(deadline, self.conclude(transaction));
        decision.await.ok_or_else(undecided)?
    }

    /// Votes, after work that takes this long. A vote that the log has is voted again. Answers the vote.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if no vote was sent by this.
    async fn vote(&self, tx: &str, vote: Vote, work: Duration, deadline: Option<Duration>) -> Result<Vote, OpError> {
        self.member().vote(tx, vote, work, deadline).await
    }

    /// The decision in the log, or else the one that is learnt, which is written to the log before it is answered.
    ///
    /// # Errors
    /// As [`Party::learn`].
    async fn decided(&self, tx: &str, deadline: Option<Duration>) -> Result<Decision, OpError> {
        let PartyClient { env, journal, .. } = self.member();
        if let Some(decision) = journal.decided(tx) {
            return Ok(decision);
        }
        let decision = env.within(deadline, self.learn(tx)).await.ok_or_else(undecided)??;
        journal
            .decide(tx, decision)
            .map_err(|error| OpError::Info(format!("the log cannot be written: {error}")))
    }
}

/// The decision is not known yet.
fn undecided() -> OpError {
    OpError::Info("timed out: no decision is known".to_string())
}

/// A party, as the client program drives it.
pub struct CommitHandler<P>(pub P);

#[async_trait]
impl<P: Party> Service for CommitHandler<P> {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::BEGIN, f::DECIDE, f::VOTE, f::DECIDED]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let asked: Asked = parse(request)?;
        let tx = asked.tx().to_string();
        // Its name is a znode's.
        if tx.is_empty() || tx.contains('/') {
            return Err(Answer::fail(format!("`{tx}` is not the name of a transaction")));
        }
        let decided = |decision| {
            let tx = tx.clone();
            Answered::Decided { tx, decision }
        };
        let about = || Answered::About { tx: tx.clone() };
        let answer = match asked {
            Asked::Begin(transaction) => self.0.begin(&transaction, deadline).await.map(|()| about()),
            Asked::Decide(transaction) => self.0.decide(&transaction, deadline).await.map(decided),
            Asked::Decided { .. } => self.0.decided(&tx, deadline).await.map(decided),
            Asked::Vote { vote, work_ms, .. } => {
                let voted = self.0.vote(&tx, vote, Duration::from_millis(work_ms), deadline).await;
                let tx = tx.clone();
                voted.map(|voted| Answered::Voted { tx, voted })
            }
        };
        let answer = answer.map_or_else(|ended| Answer::from(ended).with(about()), Answer::ok);
        Ok((answer, None))
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.0.member().handle.current().await)
    }
}
