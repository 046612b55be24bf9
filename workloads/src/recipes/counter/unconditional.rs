//! Reads, then writes that version; but a write whose outcome is unknown is sent again without a version, so that it
//! cannot be refused for the sake of the first one. What others have added meanwhile is overwritten, and their ids are
//! given again.

use async_trait::async_trait;

use super::handler::{CounterClient, CounterReading, ended, look};
use super::{COUNTER, Increment};
use crate::recipes::OpError;
use crate::zk::Error;

/// `counter/unconditional`.
pub(super) struct Unconditional;

#[async_trait]
impl Increment for Unconditional {
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError> {
        loop {
            let held = look(counter.live().await.as_ref()).await;
            let held = held.map_err(|error| ended("read", &error, false))?;
            let id = held.value + 1;
            let mut version = Some(held.version);
            loop {
                let zk = counter.live().await;
                match zk.set(COUNTER, id.to_string().as_bytes(), version).await {
                    Ok(stat) => return Ok(CounterReading::written(id, stat, zk.as_ref())),
                    Err(Error::BadVersion) => break,
                    Err(error) if error.is_definite() => return Err(ended("write", &error, version.is_none())),
                    Err(_) => {
                        version = None;
                        counter.pause(zk.as_ref()).await;
                    }
                }
            }
        }
    }
}
