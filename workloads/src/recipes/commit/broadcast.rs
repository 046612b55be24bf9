//! The tutorial's first two-phase commit, faults and all: the coordinator creates one znode for each site, every site
//! watches all of them, and each decides by itself: O(n²) messages, and one abort is enough to abort early.
//!
//! If the coordinator dies while it creates the znodes, those that are there wait for the others for ever.

use async_trait::async_trait;

use super::plain::{PartyClient, gather, read_transaction};
use super::{Decision, Party, TransactionZnode};
use crate::recipes::OpError;

/// `commit/broadcast`.
pub struct Broadcast(pub(super) PartyClient);

#[async_trait]
impl Party for Broadcast {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    /// The coordinator decides as the sites do, and sends no site the decision.
    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        gather(zk.as_ref(), &transaction.tx, &transaction.sites).await
    }

    async fn learn(&self, tx: &str) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        let transaction = read_transaction(zk.as_ref(), tx).await?;
        gather(zk.as_ref(), tx, &transaction.sites).await
    }
}
