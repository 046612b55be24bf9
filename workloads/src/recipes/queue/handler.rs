//! The operations of a queue: `enqueue`, `dequeue`, `acknowledge`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zooquake_history::operation::Made;
use zooquake_history::operation::queue::{Answer as Answered, Request as Asked};

use crate::protocol::Request;
use crate::recipes::{HolderState, OpError, Owned, Working};
use crate::service::{Answer, Service, SessionHandle, parse};

/// An item that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its znode.
    pub path: String,
    /// The transaction that created that; `None` where the recipe cannot tell.
    pub czxid: Option<i64>,
}

/// An item that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The item.
    pub item: i64,
    /// The claim on it, where there are claims.
    pub claim: Option<Owned>,
}

/// A queue, as one client uses it: one operation at a time, each polled to its end. Each answers by `deadline`, a moment
/// of the host's clock.
pub trait Queue: Send + Sync {
    /// Puts an item at the end.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if the item is certainly not there.
    fn enqueue(&self, item: i64, deadline: Option<Duration>) -> BoxFuture<'static, Result<Stored, OpError>>;

    /// Takes the first item; `None` if there is none. It is named by a `taking` notice before anything is taken.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing was taken.
    fn dequeue(&self, deadline: Option<Duration>) -> BoxFuture<'static, Result<Option<Given>, OpError>>;

    /// Ends the life of an item that was delivered; `None` where delivery does.
    fn acknowledge(&self, item: i64, deadline: Option<Duration>) -> Option<BoxFuture<'static, Result<(), OpError>>>;

    /// What the client knows to be its own.
    fn holder(&self) -> &HolderState;

    /// The session that the client has now.
    fn session(&self) -> BoxFuture<'static, SessionHandle>;
}

/// A queue, as the client program drives it.
#[derive(Clone)]
pub struct Handler {
    queue: Arc<dyn Queue>,
}

impl Handler {
    /// Serves this queue.
    pub fn new(queue: impl Queue + 'static) -> Self {
        Self { queue: Arc::new(queue) }
    }

    async fn serve(&self, request: &Request, deadline: Option<Duration>) -> Result<Answer, Answer> {
        Ok(Answer::ok(match parse(request)? {
            Asked::Enqueue { item } => {
                let Stored { path, czxid } = self.queue.enqueue(item, deadline).await?;
                let znode = Made { path, czxid };
                Answered::Stored { item, znode }
            }
            Asked::Dequeue {} => match self.queue.dequeue(deadline).await? {
                None => Answered::Item { item: None },
                Some(Given { item, claim: None }) => Answered::Item { item: Some(item) },
                Some(Given { item, claim: Some(own) }) => {
                    let znode = Made::from(&own);
                    Answered::Stored { item, znode }
                }
            },
            Asked::Acknowledge { item } => {
                let Some(acknowledged) = self.queue.acknowledge(item, deadline) else {
                    return Err(Answer::fail("this queue's items need no acknowledgement"));
                };
                acknowledged.await?;
                Answered::Item { item: Some(item) }
            }
        }))
    }
}

impl Service for Handler {
    fn operations(&self) -> &'static [&'static str] {
        &["enqueue", "dequeue", "acknowledge"]
    }

    fn answer(&self, request: Request, deadline: Option<Duration>) -> BoxFuture<'static, (Answer, Option<Working>)> {
        let handler = self.clone();
        async move {
            (
                handler.serve(&request, deadline).await.unwrap_or_else(|answer| answer),
                None,
            )
        }
        .boxed()
    }

    fn session(&self) -> BoxFuture<'static, SessionHandle> {
        self.queue.session()
    }

    fn znodes(&self) -> BoxFuture<'static, Vec<Owned>> {
        std::future::ready(self.queue.holder().znodes()).boxed()
    }

    fn idle(&self) -> BoxFuture<'static, ()> {
        let holder = self.queue.holder().clone();
        async move { holder.idle().await }.boxed()
    }
}
