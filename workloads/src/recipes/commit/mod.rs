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

pub use atomic::Atomic;
pub use broadcast::Broadcast;
pub use coordinated::Coordinated;
pub use ephemeral::Ephemeral;
use futures_util::future::BoxFuture;
pub use handler::Handler;
pub use journal::{Entry, Journal};
pub use zooquake_history::operation::commit::{Decision, Transaction, Vote};

use super::OpError;
use crate::service::SessionHandle;

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

/// A party to two-phase commits, as one client is it: the coordinator is asked `begin` and `decide`, sites are asked the
/// rest. Each operation answers by `deadline`, a moment of the host's clock.
pub trait Party: Send + Sync {
    /// Begins a transaction.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing of it is there.
    fn begin(&self, transaction: Transaction, deadline: Option<Duration>) -> BoxFuture<'static, Result<(), OpError>>;

    /// Comes to the decision about a transaction, and sees to it that sites hear of it.
    ///
    /// # Errors
    /// [`OpError::Info`] if the decision is not known; there may be one.
    fn decide(
        &self,
        transaction: Transaction,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Decision, OpError>>;

    /// Votes, after work that takes this long. A vote that the log has is voted again. Answers the vote.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if no vote was sent by this.
    fn vote(
        &self,
        tx: &str,
        vote: Vote,
        work: Duration,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Vote, OpError>>;

    /// Waits for the decision.
    ///
    /// # Errors
    /// [`OpError::Info`] while it is not known.
    fn decided(&self, tx: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Decision, OpError>>;

    /// The session that the client has now.
    fn session(&self) -> BoxFuture<'static, SessionHandle>;
}

/// Nobody knows the decision yet.
fn undecided() -> OpError {
    OpError::Info("timed out: no decision is known".to_string())
}
