//! The quorum proxy: carries this host's own connections to the quorum ports of the other servers, and delays what
//! comes back on them while the host's server is to lag behind its leader.
//!
//! A follower dials its leader, so that a leader's own proxy carries nothing. The order of bytes is kept; a connection
//! that either side ends, ends on the other side at once, after what was sent before.

mod redirect;
mod relay;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub use redirect::remove;

/// The port on the loopback at which the watcher ends a delay.
const END_PORT: u16 = 28880;

/// How long the program behind that port may take to answer.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// The connections that a host's server has with its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// Those that were made so far.
    pub made: u64,
    /// Those of them that are open.
    pub open: u64,
}

/// What was seen when a delay was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relief {
    /// Whether anything was delayed until then.
    pub lagged: bool,
    /// How many connections with a leader were made since the delay began: 0 for a server that kept its leader.
    pub made: u64,
}

/// The proxy of one host's server: one listening port on the loopback for each of the other servers.
#[derive(Debug, Default)]
pub struct QuorumProxy {
    /// Whether the host's connections to the other servers are redirected here, unless they are marked.
    redirects: AtomicBool,
    /// How late what the other servers send is passed on.
    delay: watch::Sender<Duration>,
    /// Counts the delays that were begun or ended, so that the limit of one does not end another.
    delays: AtomicU64,
    made: AtomicU64,
    /// How many these were when the last delay began; `None` before the first one.
    mark: Mutex<Option<u64>>,
    ended: AtomicU64,
}

/// A connection with another server; dropping it counts its end.
struct QuorumConnection(Arc<QuorumProxy>);

impl Drop for QuorumConnection {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl QuorumProxy {
    /// Carries all connections that this host makes to these quorum ports from now on; nothing happens if it does
    /// already.
    ///
    /// # Errors
    /// If a port is taken, or the kernel does not redirect connections.
    pub async fn open(self: &Arc<Self>, peers: &[SocketAddr]) -> Result<()> {
        if self.redirects.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let end = TcpListener::bind((Ipv4Addr::LOCALHOST, END_PORT)).await;
        tokio::spawn(Arc::clone(self).answer_ends(end.context("listening for the end of a delay")?));
        let ports = self.listen(peers).await?;
        redirect::install(peers, &ports).await
    }

    /// Listens for each of these servers, on any ports.
    async fn listen(self: &Arc<Self>, peers: &[SocketAddr]) -> Result<Vec<u16>> {
        let mut ports = Vec::new();
        for peer in peers {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .await
                .with_context(|| format!("listening for {peer}"))?;
            ports.push(listener.local_addr().context("the port of the quorum proxy")?.port());
            tokio::spawn(Arc::clone(self).accept(listener, *peer));
        }
        Ok(ports)
    }

    async fn accept(self: Arc<Self>, listener: TcpListener, peer: SocketAddr) {
        loop {
            match listener.accept().await {
                Ok((server, _)) => drop(tokio::spawn(relay::relay(Arc::clone(&self), server, peer))),
                // A transient error, such as too many open files.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Passes on late what comes from the other servers from now on, until [`QuorumProxy::catch_up`], and for `at_most`
    /// at the longest.
    ///
    /// # Errors
    /// If the host's server has no connection with a leader that goes through the proxy.
    pub fn lag(self: &Arc<Self>, delay: Duration, at_most: Duration) -> Result<Links> {
        let links = self.links();
        ensure!(
            links.open > 0,
            "the host's server has no connection with a leader through its quorum proxy"
        );
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = Some(links.made);
        self.delay.send_replace(delay);
        let (number, proxy) = (self.delays.fetch_add(1, Ordering::Relaxed) + 1, Arc::clone(self));
        tokio::spawn(async move {
            tokio::time::sleep(at_most).await;
            if proxy.delays.load(Ordering::Relaxed) == number {
                proxy.catch_up();
            }
        });
        Ok(links)
    }

    /// Passes on at once what has waited and what comes from now on.
    pub fn catch_up(&self) -> Relief {
        self.delays.fetch_add(1, Ordering::Relaxed);
        let lagged = !self.delay.send_replace(Duration::ZERO).is_zero();
        let made = self.made.load(Ordering::Relaxed);
        let mark = *self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        Relief {
            lagged,
            made: mark.map_or(0, |mark| made - mark),
        }
    }

    /// The connections with a leader.
    pub fn links(&self) -> Links {
        let ended = self.ended.load(Ordering::Relaxed);
        let made = self.made.load(Ordering::Relaxed);
        Links {
            made,
            open: made.saturating_sub(ended),
        }
    }

    fn made(self: &Arc<Self>) -> QuorumConnection {
        self.made.fetch_add(1, Ordering::Relaxed);
        QuorumConnection(Arc::clone(self))
    }

    /// Ends the delay at each connection, and answers it with one byte: 1 if there was a delay, else 0.
    async fn answer_ends(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((mut stream, _)) => {
                    let lagged = u8::from(self.catch_up().lagged);
                    // The peer may have gone: the delay has ended all the same.
                    let _ = stream.write_all(&[lagged]).await;
                }
                // As in `accept`.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

/// Ends the delay of this host's proxy from another program; whether there was one. `false` where there is no proxy.
///
/// # Errors
/// If the proxy does not answer within two seconds.
pub async fn end() -> Result<bool> {
    end_at((Ipv4Addr::LOCALHOST, END_PORT).into()).await
}

async fn end_at(proxy: SocketAddr) -> Result<bool> {
    let Ok(mut stream) = TcpStream::connect(proxy).await else {
        return Ok(false);
    };
    let lagged = tokio::time::timeout(ENDS_WITHIN, stream.read_u8()).await;
    match lagged.context("the quorum proxy did not end its delay in time")? {
        Ok(lagged) => Ok(lagged > 0),
        // It has ended meanwhile, and the delay with it.
        Err(_) => Ok(false),
    }
}
