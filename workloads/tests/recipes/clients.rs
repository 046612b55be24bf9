//! Clients whose operations the machine runs while the test goes on: each of their futures has a share of its client.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zooquake_workloads::recipes::grant::{GrantRecipe, Released};
use zooquake_workloads::recipes::queue::{Given, Queue, Stored};
use zooquake_workloads::recipes::{Grant, HolderState, OpError};
use zooquake_workloads::service::SessionHandle;

/// The end of an operation.
pub type Ended<T> = BoxFuture<'static, Result<T, OpError>>;

/// A client of something that grants.
pub trait GrantClient {
    fn acquire(&self, name: &str, deadline: Option<Duration>) -> Ended<Grant>;
    fn acquire_shared(&self, name: &str, deadline: Option<Duration>) -> Ended<Grant>;
    fn release(&self, name: &str, deadline: Option<Duration>) -> Ended<Released>;
    fn session(&self) -> BoxFuture<'static, SessionHandle>;
    fn holder(&self) -> &HolderState;
}

impl<T: GrantRecipe + Clone + 'static> GrantClient for T {
    fn acquire(&self, name: &str, deadline: Option<Duration>) -> Ended<Grant> {
        let (client, name) = (self.clone(), name.to_string());
        async move { GrantRecipe::acquire(&client, &name, deadline).await }.boxed()
    }

    fn acquire_shared(&self, name: &str, deadline: Option<Duration>) -> Ended<Grant> {
        let (client, name) = (self.clone(), name.to_string());
        async move { GrantRecipe::acquire_shared(&client, &name, deadline).await }.boxed()
    }

    fn release(&self, name: &str, deadline: Option<Duration>) -> Ended<Released> {
        let (client, name) = (self.clone(), name.to_string());
        async move { GrantRecipe::release(&client, &name, deadline).await }.boxed()
    }

    fn session(&self) -> BoxFuture<'static, SessionHandle> {
        let client = self.clone();
        async move { GrantRecipe::session(&client).await }.boxed()
    }

    fn holder(&self) -> &HolderState {
        GrantRecipe::holder(self)
    }
}

/// A client of a queue.
pub trait QueueClient {
    fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Ended<Stored>;
    fn dequeue(&self, deadline: Option<Duration>) -> Ended<Option<Given>>;
    fn acknowledge(&self, item: i64, deadline: Option<Duration>) -> Ended<()>;
    fn holder(&self) -> &HolderState;
}

impl<T: Queue + Clone + 'static> QueueClient for T {
    fn enqueue(&self, item: i64, deadline: Option<Duration>) -> Ended<Stored> {
        let client = self.clone();
        async move { Queue::enqueue(&client, item, deadline).await }.boxed()
    }

    fn dequeue(&self, deadline: Option<Duration>) -> Ended<Option<Given>> {
        let client = self.clone();
        async move { Queue::dequeue(&client, deadline).await }.boxed()
    }

    fn acknowledge(&self, item: i64, deadline: Option<Duration>) -> Ended<()> {
        let client = self.clone();
        async move { Queue::acknowledge(&client, item, deadline).await }.boxed()
    }

    fn holder(&self) -> &HolderState {
        Queue::holder(self)
    }
}
