//! Reads, then writes that version, together with a mark: a znode of the process's own that holds the id it makes.
//!
//! A request whose outcome is unknown is sent again as it was, for the same version, so that only one of the two can
//! take effect. When that is refused the version has moved on, which decides the first one for good: it was this
//! process's write if its mark holds the id. The mark is read in the session that heard of the refusal, so that no
//! server shows less than what refused it.

use async_trait::async_trait;

use super::COUNTER;
use super::handler::{CounterClient, CounterReading, Increment, ended, look};
use crate::recipes::{Env, OpError};
use crate::zk::{CreateMode, Error, MultiOp, OpResult, Zk};

/// The parent of the marks.
pub const MARKS: &str = "/counter-marks";

pub(super) struct VersionedCounter {
    mark: String,
}

impl VersionedCounter {
    /// With a mark that no other process writes.
    pub(super) fn new(env: &Env) -> Self {
        Self {
            mark: format!("{MARKS}/{:032x}", env.host.random()),
        }
    }

    /// Writes what follows on `held`, until it is known whether that happened; `None` if it certainly did not, and
    /// never will.
    async fn write(&self, counter: &CounterClient, held: CounterReading) -> Result<Option<CounterReading>, OpError> {
        let id = held.value + 1;
        let data = id.to_string().into_bytes();
        let ops = vec![
            MultiOp::Set(COUNTER.to_owned(), data.clone(), Some(held.version)),
            MultiOp::Set(self.mark.clone(), data.clone(), None),
        ];
        let mut unsure = false;
        loop {
            let zk = counter.handle.live().await;
            let failed = match zk.multi(ops.clone()).await {
                Ok(results) => return Ok(Some(made(id, held, results.first(), zk.as_ref()))),
                Err(failed) => failed,
            };
            match (failed.index, failed.error) {
                (Some(0), Error::BadVersion) if !unsure => return Ok(None),
                (Some(0), Error::BadVersion) => match zk.get(&self.mark).await {
                    Ok((mark, stat)) if mark == data => {
                        return Ok(Some(CounterReading::written(id, stat, zk.as_ref())));
                    }
                    Ok(_) | Err(Error::NoNode) => return Ok(None),
                    Err(_) => counter.pause(zk.as_ref()).await,
                },
                // The first increment of this process. The mark counts nothing, so it is no matter whether it was made.
                (Some(1), Error::NoNode) => match zk.create(&self.mark, b"", CreateMode::Persistent).await {
                    Err(error) if error.is_definite() && error != Error::NodeExists => {
                        return Err(ended("mark", &error, unsure));
                    }
                    Err(Error::Unknown(_)) => counter.pause(zk.as_ref()).await,
                    _ => {}
                },
                (_, error) if error.is_definite() => return Err(ended("write", &error, unsure)),
                _ => {
                    unsure = true;
                    counter.pause(zk.as_ref()).await;
                }
            }
        }
    }
}

fn made(id: i64, held: CounterReading, result: Option<&OpResult>, zk: &dyn Zk) -> CounterReading {
    match result {
        Some(OpResult::Set(stat)) => CounterReading::written(id, *stat, zk),
        _ => CounterReading {
            value: id,
            version: held.version + 1,
            mzxid: None,
            session: zk.session(),
        },
    }
}

#[async_trait]
impl Increment for VersionedCounter {
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError> {
        loop {
            let zk = counter.handle.live().await;
            let held = look(zk.as_ref()).await.map_err(|error| ended("read", &error, false))?;
            if let Some(made) = self.write(counter, held).await? {
                return Ok(made);
            }
        }
    }
}
