//! Two-phase commit: a coordinator begins transactions, sites vote, and all come to one decision.

mod atomic;
mod broadcast;
mod coordinated;
mod desk;
mod ephemeral;
mod journal;
mod plain;
pub(super) mod variants;

use std::time::Duration;

pub use atomic::Atomic;
pub use broadcast::Broadcast;
pub use coordinated::Coordinated;
pub use desk::Desk;
pub use ephemeral::Ephemeral;
use futures_util::future::BoxFuture;
pub use journal::{Entry, Journal};
pub use zooquake_history::operation::commit::{Decision, Transaction, Vote};

use super::Ended;
use crate::service::Seat;

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
    /// [`Ended::Fail`] only if nothing of it is there.
    fn begin(&self, transaction: Transaction, deadline: Option<Duration>) -> BoxFuture<'static, Result<(), Ended>>;

    /// Comes to the decision about a transaction, and sees to it that sites hear of it.
    ///
    /// # Errors
    /// [`Ended::Info`] if the decision is not known; there may be one.
    fn decide(
        &self,
        transaction: Transaction,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Decision, Ended>>;

    /// Votes, after work that takes this long. A vote that the log has is voted again. Answers the vote.
    ///
    /// # Errors
    /// [`Ended::Fail`] only if no vote was sent by this.
    fn vote(
        &self,
        tx: &str,
        vote: Vote,
        work: Duration,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<Vote, Ended>>;

    /// Waits for the decision.
    ///
    /// # Errors
    /// [`Ended::Info`] while it is not known.
    fn decided(&self, tx: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Decision, Ended>>;

    /// The session that the client has now.
    fn session(&self) -> BoxFuture<'static, Seat>;
}

/// Nobody knows the decision yet.
fn undecided() -> Ended {
    Ended::Info("timed out: no decision is known".to_string())
}
