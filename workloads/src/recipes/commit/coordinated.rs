//! The tutorial's remedy for too many messages, faults and all: only the coordinator watches the votes, and it
//! publishes its decision as a znode: O(n) messages.
//!
//! If the coordinator dies between the votes and the decision, or cannot determine whether it wrote it, the sites wait.

use async_trait::async_trait;

use super::plain::{PartyClient, gather, publish};
use super::{Decision, Party, TransactionZnode};
use crate::recipes::OpError;

/// `commit/coordinated`.
pub struct CoordinatedParty(pub(super) PartyClient);

#[async_trait]
impl Party for CoordinatedParty {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        let decision = gather(zk.as_ref(), &transaction.tx, &transaction.sites).await?;
        publish(zk.as_ref(), &transaction.tx, decision).await
    }
}
