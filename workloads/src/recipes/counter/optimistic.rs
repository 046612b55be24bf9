//! Reads, then writes that version, and reads again when it is refused. What becomes of a write whose outcome is
//! unknown is the difference between two variants.

use async_trait::async_trait;

use super::COUNTER;
use super::handler::{CounterClient, CounterReading, Increment, ended, look};
use crate::recipes::OpError;
use crate::zk::Error;

/// How a write is sent again whose outcome is unknown.
#[derive(PartialEq, Eq)]
pub(super) enum Optimistic {
    /// `counter/optimistic`, as it was. Curator's retry policy does that for any request, and so for its
    /// DistributedAtomicLong before it takes a lock. If the first one had taken effect the second is refused, is taken
    /// for somebody else's, and 1 is added twice.
    SameVersion,
    /// `counter/unconditional`, without a version, so that it cannot be refused for the sake of the first one. What
    /// others have added meanwhile is overwritten, and their ids are given again.
    AnyVersion,
}

#[async_trait]
impl Increment for Optimistic {
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError> {
        let mut unsure = false;
        loop {
            let held = look(counter.handle.live().await.as_ref()).await;
            let held = held.map_err(|error| ended("read", &error, unsure))?;
            let id = held.value + 1;
            loop {
                let zk = counter.handle.live().await;
                let version = (!unsure || *self == Self::SameVersion).then_some(held.version);
                match zk.set(COUNTER, id.to_string().as_bytes(), version).await {
                    Ok(stat) => return Ok(CounterReading::written(id, stat, zk.as_ref())),
                    Err(Error::BadVersion) => break,
                    Err(error) if error.is_definite() => return Err(ended("write", &error, unsure)),
                    Err(_) => {
                        unsure = true;
                        counter.pause(zk.as_ref()).await;
                    }
                }
            }
        }
    }
}
