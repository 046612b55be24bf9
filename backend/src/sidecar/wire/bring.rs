//! A client that is brought to one server: it loses a request or a reply, and with it its connection, and only that server takes the
//! next one.

use super::rule::Dropped;
use super::{Proxy, locked};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zooquake_history::fault::Wire;

/// What was seen when a client was brought to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// What it lost.
    pub dropped: Dropped,
    /// Milliseconds after the loss until the server had taken up its session; `None` if it did not in time.
    pub came_after_ms: Option<u64>,
}

impl Proxy {
    /// Loses a request or a reply as [`Proxy::arm`] does, and refuses the client all other servers until this one has taken up its
    /// session, for `comes` at the longest; `None` if nothing that fits came within `limit`.
    ///
    /// A server that has applied less than the client has seen refuses the client. The proxy then asks it again, while the client's
    /// connection waits.
    ///
    /// # Errors
    /// As [`Proxy::arm`], or there is no proxy to this server.
    pub async fn bring(&self, wire: Wire, to: SocketAddr, limit: Duration, comes: Duration) -> Result<Option<Brought>> {
        ensure!(
            locked(&self.servers).contains(&to),
            "no connection to {to} goes through the proxy"
        );
        self.only.send_replace(Some(to));
        let brought = self.lose_and_wait(wire, limit, comes).await;
        self.only.send_replace(None);
        brought
    }

    async fn lose_and_wait(&self, wire: Wire, limit: Duration, comes: Duration) -> Result<Option<Brought>> {
        let Some(dropped) = self.arm(wire, limit).await? else {
            return Ok(None);
        };
        let begun = Instant::now();
        let mark = self.mark.load(Ordering::Relaxed);
        let mut accepted = self.accepted.subscribe();
        let came = tokio::time::timeout(comes, accepted.wait_for(|accepted| *accepted > mark)).await;
        let came_after_ms = came.is_ok().then(|| begun.elapsed().as_millis() as u64);
        Ok(Some(Brought { dropped, came_after_ms }))
    }

    /// Whether this server is the only one that the client may reach.
    pub(super) fn brings_to(&self, server: SocketAddr) -> bool {
        *self.only.borrow() == Some(server)
    }
}
