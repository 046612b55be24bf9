//! The operations of a queue: `enqueue`, `dequeue`, `acknowledge`.

use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::queue::{QueueAnswer as Answered, QueueRequest as Asked, f};

use crate::protocol::Request;
use crate::recipes::{HolderState, OpError, OwnZnode, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse};

/// An item that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredItem {
    /// Number of the item.
    pub item: i64,
    /// The claim on it, where there are claims.
    pub claim: Option<OwnZnode>,
}

/// A queue, as one client uses it: one operation at a time, each polled to its end. Each answers by `deadline`, a
/// moment of the host's clock.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts an item at the end. Its znode.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if the item is certainly not there.
    async fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Result<ZnodeName, OpError>;

    /// Takes the first item; `None` if there is none. It is named by a `taking` notice before anything is taken.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing was taken.
    async fn dequeue(&self, deadline: Option<Duration>) -> Result<Option<DeliveredItem>, OpError>;

    /// Ends the life of an item that was delivered.
    ///
    /// # Errors
    /// [`OpError::Fail`] if the client has no claim on the item, which no client has where delivery ends the item's
    /// life.
    async fn acknowledge(&self, item: i64, deadline: Option<Duration>) -> Result<(), OpError>;

    /// The client's own state: what it has claimed, and its unfinished work.
    fn holder(&self) -> &HolderState;

    /// The session that the client has now.
    async fn session(&self) -> SessionHandle;
}

/// A queue, as the client program drives it.
pub struct QueueHandler<Q>(pub Q);

#[async_trait]
impl<Q: Queue> Service for QueueHandler<Q> {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::ENQUEUE, f::DEQUEUE, f::ACKNOWLEDGE]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let answered = match parse(request)? {
            Asked::Enqueue { item } => {
                let znode = self.0.enqueue(item, deadline).await?;
                Answered::Stored { item, znode }
            }
            Asked::Dequeue {} => match self.0.dequeue(deadline).await? {
                None => Answered::Item { item: None },
                Some(DeliveredItem { item, claim: None }) => Answered::Item { item: Some(item) },
                Some(DeliveredItem { item, claim: Some(own) }) => {
                    let znode = ZnodeName::from(&own);
                    Answered::Stored { item, znode }
                }
            },
            Asked::Acknowledge { item } => {
                self.0.acknowledge(item, deadline).await?;
                Answered::Item { item: Some(item) }
            }
        };
        Ok((Answer::ok(answered), None))
    }

    async fn session(&self) -> SessionHandle {
        self.0.session().await
    }

    fn holder(&self) -> Option<&HolderState> {
        Some(self.0.holder())
    }
}
