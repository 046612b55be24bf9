//! What passes through the proxy and when: late, or not at all for a while; and what is seen of that from inside.

use super::{Proxy, locked};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use zooquake_history::fault::Latency;

/// How long a probe that goes past the proxy may take, and one that goes through it beyond what it is delayed by.
const PROBED_WITHIN: Duration = Duration::from_secs(1);

/// How often a probe is made of whose times the shortest counts.
const PROBES: usize = 3;

/// How long a probe through a proxy that lets nothing pass is waited for.
const UNANSWERED_FOR: Duration = Duration::from_millis(300);

/// How long something that waits may take to come: a client that does nothing else sends pings.
const COMES_WITHIN: Duration = Duration::from_secs(1);

/// How long what has waited may take to be passed on.
const PASSES_WITHIN: Duration = Duration::from_secs(3);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What becomes of what passes through the proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The connection on which all that the server sends waits.
    pub reply_held: Option<u64>,
    /// By how much all is delayed.
    pub latency: Option<Latency>,
    /// Whether nothing passes.
    pub stalled: bool,
}

/// A reply that is kept back, or was, with what follows it.
#[derive(Debug, Clone, Copy)]
pub struct HeldReply {
    connection: u64,
    since: Instant,
    bytes: usize,
    over: Option<HoldEffect>,
}

/// What became of a reply that was kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldEffect {
    /// The bytes that were kept back, those of the reply among them.
    pub bytes: usize,
    /// For how many milliseconds the reply was.
    pub ms: u64,
    /// Whether they were passed on; otherwise the connection had ended before.
    pub delivered: bool,
}

/// What was seen of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyEffect {
    /// Microseconds from the dialling of a server past the proxy to its answer to a four letter word.
    pub past_us: u64,
    /// The same through the proxy.
    pub through_us: u64,
}

/// What was seen when nothing passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StallEffect {
    /// Connections of the client that were open.
    pub connections: usize,
    /// Bytes that waited in the proxy.
    pub bytes: usize,
    /// Microseconds that a probe past the proxy took.
    pub past_us: u64,
    /// Milliseconds for which a probe through it had no answer; `None` if it had one.
    pub unanswered_ms: Option<u64>,
}

/// What was seen when everything passed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageEffect {
    /// What became of the reply that was kept back, if one was.
    pub held: Option<HoldEffect>,
    /// Milliseconds until an answer of a server had reached the client; `None` if none did in time.
    pub client_after_ms: Option<u64>,
    /// Whether a server has accepted a connection of the client since the last strike.
    pub anew: bool,
    /// Microseconds that the quickest probe through the proxy took; `None` if none was answered.
    pub through_us: Option<u64>,
}

/// How much later something passes.
pub fn drawn(latency: Latency) -> Duration {
    let (mean, jitter) = (latency.ms * 1_000, latency.jitter_ms.min(latency.ms) * 1_000);
    Duration::from_micros(mean - jitter + fastrand::u64(0..=2 * jitter))
}

/// Dials, asks a four letter word, and waits for the first byte of the answer; how long that took, `None` if it does
/// not come within the limit.
async fn probe(address: SocketAddr, limit: Duration) -> Option<Duration> {
    let begun = Instant::now();
    let answer = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(b"srvr").await.ok()?;
        stream.read_u8().await.ok()
    };
    timeout(limit, answer).await.ok().flatten().map(|_| begun.elapsed())
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Looks until something is so; whether it came about within the limit.
async fn until(limit: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > limit {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
    true
}

/// As the halves of connections ask for it, and report it.
impl Proxy {
    /// What is to become of what passes.
    pub(super) fn traffic(&self) -> watch::Receiver<Traffic> {
        self.traffic.subscribe()
    }

    /// So many bytes more wait.
    pub(super) fn wait_more(&self, bytes: usize) {
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes wait no longer.
    pub(super) fn wait_less(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Begins to keep back what the server sends on a connection, of which the reply is the next.
    pub(super) fn hold(&self, connection: u64) {
        *locked(&self.held_reply) = Some(HeldReply {
            connection,
            since: Instant::now(),
            bytes: 0,
            over: None,
        });
        self.traffic
            .send_modify(|traffic| traffic.reply_held = Some(connection));
    }

    /// So many bytes that a server has sent on a connection are kept back.
    pub(super) fn held(&self, connection: u64, bytes: usize) {
        if let Some(held) = &mut *locked(&self.held_reply)
            && held.connection == connection
        {
            held.bytes += bytes;
        }
    }

    /// All that waited on a connection for the client was passed on.
    pub(super) fn delivered(&self, connection: u64) {
        self.no_longer_held(connection, true);
    }

    /// A connection has ended: what was kept back on it is lost.
    pub(super) fn given_up(&self, connection: u64) {
        self.no_longer_held(connection, false);
    }

    fn no_longer_held(&self, connection: u64, delivered: bool) {
        if let Some(held) = &mut *locked(&self.held_reply)
            && held.connection == connection
        {
            held.over = held.over.or(Some(HoldEffect {
                bytes: held.bytes,
                ms: ms(held.since.elapsed()),
                delivered,
            }));
        }
    }

    /// Waits while no connection may be made to a server.
    pub(super) async fn lets_connect(&self) {
        self.not_held().await;
        // The proxy keeps the channel open as long as it is asked.
        let _ = self.traffic.subscribe().wait_for(|traffic| !traffic.stalled).await;
    }
}

impl Proxy {
    /// Delays all that passes from now on, until [`Proxy::pass_on`], and times a probe through the proxy and past it.
    ///
    /// # Errors
    /// If no server answers a probe past the proxy, or none comes through it in time.
    pub async fn delay(&self, latency: Latency) -> Result<LatencyEffect> {
        let (port, past) = self.answering().await?;
        self.remember();
        self.traffic.send_modify(|traffic| traffic.latency = Some(latency));
        let limit = Duration::from_millis(2 * (latency.ms + latency.jitter_ms)) + PROBED_WITHIN;
        let through = probe(port, limit).await;
        Ok(LatencyEffect {
            past_us: us(past),
            through_us: us(through.context("no answer came through the proxy in time")?),
        })
    }

    /// Lets nothing pass from now on, until [`Proxy::pass_on`], and sees that something waits and that a probe has no
    /// answer.
    ///
    /// # Errors
    /// If no server answers a probe past the proxy.
    pub async fn stall(&self) -> Result<StallEffect> {
        let (port, past) = self.answering().await?;
        self.remember();
        let connections = self.open.borrow().len();
        self.traffic.send_modify(|traffic| traffic.stalled = true);
        let waits = until(COMES_WITHIN, || self.waiting.load(Ordering::Relaxed) > 0);
        let (answer, _) = tokio::join!(probe(port, UNANSWERED_FOR), waits);
        Ok(StallEffect {
            connections,
            bytes: self.waiting.load(Ordering::Relaxed),
            past_us: us(past),
            unanswered_ms: answer.is_none().then(|| ms(UNANSWERED_FOR)),
        })
    }

    /// Lets everything pass again, what has waited first, and sees an answer of a server reach the client.
    ///
    /// # Errors
    /// If what has waited is not passed on in time.
    pub async fn pass_on(&self, limit: Duration) -> Result<PassageEffect> {
        let begun = Instant::now();
        self.disarm();
        let carried = self.carried.load(Ordering::Relaxed);
        self.traffic.send_replace(Traffic::default());
        let still = || locked(&self.held_reply).is_some_and(|held| held.over.is_none() && held.bytes > 0);
        let passed = || self.waiting.load(Ordering::Relaxed) == 0 && !still();
        let all = until(PASSES_WITHIN, passed).await;
        ensure!(
            all,
            "{} bytes still wait in the proxy",
            self.waiting.load(Ordering::Relaxed)
        );
        let came = until(limit, || self.carried.load(Ordering::Relaxed) > carried).await;
        let client_after_ms = came.then(|| ms(begun.elapsed()));
        let through = self.quickest().await;
        Ok(PassageEffect {
            held: locked(&self.held_reply).take().and_then(|held| held.over),
            client_after_ms,
            anew: *self.accepted.borrow() > self.mark.load(Ordering::Relaxed),
            through_us: through.map(us),
        })
    }

    /// What [`PassageEffect::anew`] counts from.
    fn remember(&self) {
        self.mark.store(*self.accepted.borrow(), Ordering::Relaxed);
    }

    /// The port of the first server that answers a probe past the proxy, and how long the quickest of some took there.
    async fn answering(&self) -> Result<(SocketAddr, Duration)> {
        let ways = locked(&self.ways).clone();
        ensure!(!ways.is_empty(), "the client's connections do not go through the proxy");
        for (port, server) in ways {
            let mut quickest = probe(server, PROBED_WITHIN).await;
            for _ in 1..PROBES {
                if quickest.is_some() {
                    quickest = probe(server, PROBED_WITHIN).await.min(quickest).or(quickest);
                }
            }
            if let Some(quickest) = quickest {
                return Ok(((Ipv4Addr::LOCALHOST, port).into(), quickest));
            }
        }
        bail!("no server answers past the proxy")
    }

    /// How long the quickest of some probes through the proxy took; `None` if none was answered.
    async fn quickest(&self) -> Option<Duration> {
        let ways = locked(&self.ways).clone();
        let mut quickest: Option<Duration> = None;
        for (port, _) in ways.iter().cycle().take(PROBES * ways.len()) {
            let took = probe((Ipv4Addr::LOCALHOST, *port).into(), PROBED_WITHIN).await;
            quickest = [quickest, took].into_iter().flatten().min();
        }
        quickest
    }
}
