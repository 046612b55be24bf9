//! Two-phase commit: a coordinator begins transactions, sites vote, and all come to one decision.

mod atomic;
mod broadcast;
mod coordinated;
mod ephemeral;
mod handler;
mod journal;
mod plain;
pub(super) mod variants;

use std::time::Duration;

use async_trait::async_trait;
pub use atomic::Atomic;
pub use broadcast::Broadcast;
pub use coordinated::CoordinatedParty;
pub use ephemeral::Ephemeral;
pub use handler::CommitHandler;
pub use journal::{Journal, JournalEntry};
use plain::{PartyClient, overdue, wait_decision};
pub use zooquake_history::operation::commit::{Decision, TransactionZnode, Vote};

use super::OpError;

/// The parent of the transaction znodes.
pub const APP: &str = "/app";

/// The znode of a transaction.
pub fn path(tx: &str) -> String {
    format!("{APP}/{tx}")
}

/// The znode in which a site votes.
pub fn vote_path(tx: &str, site: &str) -> String {
    format!("{APP}/{tx}/{site}")
}

/// The znode that has the decision, where there is one.
pub fn decision_path(tx: &str) -> String {
    format!("{APP}/{tx}/decision")
}

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
