//! A session on this host's server, over its loopback, that reads how far the server is behind.

use super::admin;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use zookeeper_client::Client;

/// Between two readings.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How late a server showed a write that another server had acknowledged before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Milliseconds after the question until the last reading was sent that did not show it; `None` if the first one
    /// did.
    pub missed_ms: Option<u64>,
    /// Milliseconds after the question until a reading showed it.
    pub seen_ms: u64,
}

/// A session on the host's server, which is kept: to open one is a write, whose answer a server that is behind gives
/// late.
#[derive(Debug, Default)]
pub struct LatenessReader(Mutex<Option<Client>>);

impl LatenessReader {
    /// Opens the session anew; the former one is closed.
    ///
    /// # Errors
    /// If the server opens none in time.
    pub async fn open(&self) -> Result<()> {
        let mut client = self.0.lock().await;
        *client = None;
        *client = Some(admin::connect().await?);
        Ok(())
    }

    /// Reads until the server shows a write of the probe, which must have been acknowledged before this is asked.
    ///
    /// # Errors
    /// If there is no session, the server does not answer, or does not show it within the limit.
    pub async fn lateness(&self, zxid: i64, limit: Duration) -> Result<Lateness> {
        let begun = Instant::now();
        let ms = |at: Instant| at.duration_since(begun).as_millis() as u64;
        let client = self.0.lock().await;
        let client = client.as_ref().context("no session was opened for readings")?;
        let mut missed_ms = None;
        while begun.elapsed() < limit {
            let sent = Instant::now();
            let read = tokio::time::timeout(limit, client.check_stat(admin::PROBE)).await;
            let stat = read.context("the server did not answer a reading in time")?;
            let stat = stat.with_context(|| format!("reading {}", admin::PROBE))?;
            if stat.is_some_and(|stat| stat.mzxid >= zxid) {
                let seen_ms = ms(Instant::now());
                return Ok(Lateness { missed_ms, seen_ms });
            }
            missed_ms = Some(ms(sent));
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!("the server did not show zxid {zxid:#x} within {} ms", limit.as_millis())
    }
}
