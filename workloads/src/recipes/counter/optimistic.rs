//! Reads, then writes that version, and reads again when it is refused, as Curator's DistributedAtomicLong does before
//! it takes a lock. A write whose outcome is unknown is sent again as it was, which Curator's retry policy does for any
//! request. If the first one had taken effect the second is refused, is taken for somebody else's, and 1 is added
//! twice.

use async_trait::async_trait;

use super::handler::{CounterClient, CounterReading, ended, look};
use super::{COUNTER, Increment};
use crate::recipes::OpError;
use crate::zk::Error;

/// `counter/optimistic`.
pub(super) struct Optimistic;

#[async_trait]
impl Increment for Optimistic {
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError> {
        let mut unsure = false;
        loop {
            let held = look(counter.live().await.as_ref()).await;
            let held = held.map_err(|error| ended("read", &error, unsure))?;
            let id = held.value + 1;
            loop {
                let zk = counter.live().await;
                match zk.set(COUNTER, id.to_string().as_bytes(), Some(held.version)).await {
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
