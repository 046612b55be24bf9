//! The wire proxy: stands between the host's client and the ensemble, parses ZooKeeper's framing, drops the request or
//! reply that its rule selects or keeps it back, and reports which one that was. It delays what passes, or lets nothing
//! pass.
//!
//! A lost reply or request always ends the connection, because TCP loses nothing in the middle of one, and what waits
//! is passed on in order, because TCP reorders nothing.

mod expire;
mod frame;
mod half;
mod relay;
mod rule;
#[cfg(test)]
mod tests;
mod traffic;

use anyhow::{Context, Result, bail, ensure};
use frame::Session;
use futures_util::future::join_all;
use rule::{FrameVerdict, WireRule};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use zooquake_history::fault::Wire;

pub use expire::ExpiryEffect;
use half::HalfSource;
pub use rule::{HeldKind, LossKind, RuleAction, RuleEffect};
use traffic::{HeldReply, Traffic};
pub use traffic::{HoldEffect, LatencyEffect, PassageEffect, StallEffect};

/// How long disconnected connections may take to end.
const DISCONNECTED_WITHIN: Duration = Duration::from_secs(2);

/// How long a connection through the proxy may take to show that a server answers.
const PASSES_WITHIN: Duration = Duration::from_millis(500);

/// What was seen when the client's connections were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisconnectEffect {
    /// Connections that were open, and are no more.
    pub connections: usize,
    /// Whether a connection that was tried afterwards was refused.
    pub refuses: bool,
}

/// What was seen when the client's connections were let to one server alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteEffect {
    /// Connections to other servers that were open, and are no more.
    pub ended: usize,
    /// Whether connections to other servers that were tried afterwards were refused.
    pub refuses: bool,
    /// Milliseconds until this server served the client; `None` if it did not in time.
    pub served_after_ms: Option<u64>,
}

/// What was seen when connections were let through again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReconnectEffect {
    /// Milliseconds until a server had accepted the client's next connection; `None` if it made none in time.
    pub client_after_ms: Option<u64>,
    /// Whether a server answered over a connection through the proxy.
    pub passes: bool,
}

/// Which of the client's connections are ended, and new ones to the same servers refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    /// How they end: by [`Wire::Close`] or [`Wire::Reset`].
    how: Wire,
    /// The server whose connections are let through all the same; `None`: there is none.
    spared: Option<SocketAddr>,
}

impl Refusal {
    /// Whether connections to this server are ended and refused.
    fn strikes(self, server: SocketAddr) -> bool {
        self.spared != Some(server)
    }
}

/// The proxy of one client: one listening port on the loopback for each server.
#[derive(Debug)]
pub struct Proxy {
    /// The ports, each with its server.
    ways: Mutex<Vec<(u16, SocketAddr)>>,
    rule: Mutex<Option<WireRule>>,
    /// Sessions of the open connections, and their servers, once these have accepted them.
    sessions: Mutex<HashMap<u64, (SocketAddr, Session)>>,
    next: AtomicU64,
    /// `None`: all connections are let through.
    refusal: watch::Sender<Option<Refusal>>,
    /// Whether new connections wait.
    held: watch::Sender<bool>,
    /// What becomes of what passes.
    traffic: watch::Sender<Traffic>,
    /// The reply that is kept back, or was last.
    held_reply: Mutex<Option<HeldReply>>,
    /// Bytes that wait to be passed on.
    waiting: AtomicUsize,
    /// Answers of servers that were passed on to the client at once.
    carried: AtomicU64,
    /// The servers of the open connections.
    open: watch::Sender<BTreeMap<u64, SocketAddr>>,
    /// Connections that a server has accepted so far, and how many these were when the last loss was.
    accepted: watch::Sender<u64>,
    mark: AtomicU64,
}

impl Default for Proxy {
    fn default() -> Self {
        Self {
            ways: Mutex::default(),
            rule: Mutex::default(),
            sessions: Mutex::default(),
            next: AtomicU64::new(1),
            refusal: watch::Sender::new(None),
            held: watch::Sender::new(false),
            traffic: watch::Sender::new(Traffic::default()),
            held_reply: Mutex::default(),
            waiting: AtomicUsize::new(0),
            carried: AtomicU64::new(0),
            open: watch::Sender::default(),
            accepted: watch::Sender::new(0),
            mark: AtomicU64::new(0),
        }
    }
}

/// An open connection; dropping it removes it from the proxy's state.
struct OpenConnection {
    id: u64,
    proxy: Arc<Proxy>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        locked(&self.proxy.sessions).remove(&self.id);
        self.proxy.given_up(self.id);
        if let Some(rule) = &mut *locked(&self.proxy.rule) {
            rule.gone(self.id);
        }
        self.proxy.open.send_modify(|open| _ = open.remove(&self.id));
    }
}

/// What is guarded stays whole whatever happens, since nothing in between can panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Listens for each of the servers, on ports from `from` on or any if that is 0; one that listens already goes on.
    ///
    /// # Errors
    /// If a port is taken.
    pub async fn open(self: &Arc<Self>, servers: &[SocketAddr], from: u16) -> Result<Vec<u16>> {
        let ports = |ways: &[(u16, SocketAddr)]| ways.iter().map(|(port, _)| *port).collect();
        let already = locked(&self.ways).clone();
        if !already.is_empty() {
            return Ok(ports(&already));
        }
        let mut ways = Vec::new();
        for (server, n) in servers.iter().zip(0..) {
            let port = if from == 0 { 0 } else { from + n };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
                .await
                .with_context(|| format!("listening on port {port} for {server}"))?;
            let port = listener.local_addr().context("the port of the proxy")?.port();
            ways.push((port, *server));
            tokio::spawn(Arc::clone(self).listen(listener, *server));
        }
        locked(&self.ways).clone_from(&ways);
        Ok(ports(&ways))
    }

    async fn listen(self: Arc<Self>, listener: TcpListener, server: SocketAddr) {
        loop {
            match listener.accept().await {
                Ok((client, _)) if self.refusal.borrow().is_some_and(|refusal| refusal.strikes(server)) => {
                    // If the option is not taken, the connection is closed all the same.
                    let _ = client.set_zero_linger();
                }
                Ok((client, _)) => drop(tokio::spawn(relay::relay(Arc::clone(&self), client, server))),
                // A transient error, such as too many open files.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Arms a rule and waits until it has acted; `None` if it did not within the limit, and is armed no more.
    ///
    /// # Errors
    /// If there is no proxy, or the action is none that waits for a request.
    pub async fn arm(&self, wire: Wire, limit: Duration) -> Result<Option<RuleEffect>> {
        let (action, which) = match wire {
            Wire::DropReply(which) => (RuleAction::Lost(LossKind::Reply), which),
            Wire::DropRequest(which) => (RuleAction::Lost(LossKind::Request), which),
            Wire::HoldReply(which) => (RuleAction::Held(HeldKind::Reply), which),
            Wire::Close | Wire::Reset => bail!("{wire:?} waits for no request"),
        };
        ensure!(
            !locked(&self.ways).is_empty(),
            "the client's connections do not go through the proxy"
        );
        let (rule, mut acted) = WireRule::new(action, which);
        *locked(&self.rule) = Some(rule);
        if let Ok(effect) = tokio::time::timeout(limit, &mut acted).await {
            // A rule that was disarmed has gone without a word.
            return Ok(effect.ok());
        }
        self.disarm();
        Ok(acted.try_recv().ok())
    }

    /// Takes a rule away that has not acted.
    pub fn disarm(&self) {
        locked(&self.rule).take();
    }

    /// Ends all connections of the client and refuses new ones until [`Proxy::reconnect`].
    ///
    /// # Errors
    /// If one is still open after two seconds.
    pub async fn disconnect(&self, how: Wire) -> Result<DisconnectEffect> {
        self.refuse(Refusal { how, spared: None }).await
    }

    async fn refuse(&self, refusal: Refusal) -> Result<DisconnectEffect> {
        let struck =
            |open: &BTreeMap<u64, SocketAddr>| open.values().filter(|server| refusal.strikes(**server)).count();
        self.mark.store(*self.accepted.borrow(), Ordering::Relaxed);
        let connections = struck(&self.open.borrow());
        self.refusal.send_replace(Some(refusal));
        let mut open = self.open.subscribe();
        tokio::time::timeout(DISCONNECTED_WITHIN, open.wait_for(|open| struck(open) == 0))
            .await
            .context("a connection is still open")?
            .context("the proxy is there as long as it is asked")?;
        let refuses = self.passing(|server| refusal.strikes(server)).await.is_empty();
        Ok(DisconnectEffect { connections, refuses })
    }

    /// Ends the connections of the client to all servers but this one, refuses new ones to them until
    /// [`Proxy::unroute`], and waits until this server serves the client.
    ///
    /// # Errors
    /// If it is none of the proxy's servers, or a connection to another one is still open after two seconds.
    pub async fn route(&self, server: SocketAddr, limit: Duration) -> Result<RouteEffect> {
        let known = locked(&self.ways).iter().any(|(_, other)| *other == server);
        ensure!(
            known,
            "the client's connections do not go to {server} through the proxy"
        );
        let begun = Instant::now();
        let (how, spared) = (Wire::Close, Some(server));
        let DisconnectEffect { connections, refuses } = self.refuse(Refusal { how, spared }).await?;
        let mut accepted = self.accepted.subscribe();
        let serves = |_: &u64| locked(&self.sessions).values().any(|(at, _)| *at == server);
        let served = tokio::time::timeout(limit, accepted.wait_for(serves)).await;
        Ok(RouteEffect {
            ended: connections,
            refuses,
            served_after_ms: served.is_ok().then(|| begun.elapsed().as_millis() as u64),
        })
    }

    /// Lets connections to all servers through again; those that answer over one.
    pub async fn unroute(&self) -> Vec<SocketAddr> {
        self.refusal.send_replace(None);
        self.passing(|_| true).await
    }

    /// Lets connections through again, and waits for the first that the client makes after the last loss.
    pub async fn reconnect(&self, limit: Duration) -> ReconnectEffect {
        let begun = Instant::now();
        self.disarm();
        self.refusal.send_replace(None);
        let mark = self.mark.load(Ordering::Relaxed);
        let mut accepted = self.accepted.subscribe();
        let next = tokio::time::timeout(limit, accepted.wait_for(|accepted| *accepted > mark));
        let came = next.await.is_ok();
        ReconnectEffect {
            client_after_ms: came.then(|| begun.elapsed().as_millis() as u64),
            passes: came || !self.passing(|_| true).await.is_empty(),
        }
    }

    /// Of these servers those that answer over their port, within half a second.
    async fn passing(&self, of: impl Fn(SocketAddr) -> bool) -> Vec<SocketAddr> {
        let mut ways = locked(&self.ways).clone();
        ways.retain(|(_, server)| of(*server));
        let probed = join_all(ways.into_iter().map(|(port, server)| async move {
            let answer = async {
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
                stream.write_all(b"srvr").await.ok()?;
                stream.read_u8().await.ok()
            };
            let answered = tokio::time::timeout(PASSES_WITHIN, answer).await;
            answered.ok().flatten().map(|_| server)
        }));
        probed.await.into_iter().flatten().collect()
    }

    fn opened(self: &Arc<Self>, server: SocketAddr) -> OpenConnection {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.send_modify(|open| _ = open.insert(id, server));
        OpenConnection {
            id,
            proxy: Arc::clone(self),
        }
    }

    /// Waits until connections to this server are to be ended; returns how.
    async fn refused(&self, server: SocketAddr) -> Wire {
        let mut refusal = self.refusal.subscribe();
        let strikes = |refusal: &Option<Refusal>| refusal.is_some_and(|refusal| refusal.strikes(server));
        // This proxy keeps the channel open as long as it is asked.
        let struck = refusal.wait_for(strikes).await;
        struck
            .ok()
            .and_then(|refusal| *refusal)
            .map_or(Wire::Close, |refusal| refusal.how)
    }

    /// A server has answered the request that opens a session.
    fn answered(&self, connection: u64, server: SocketAddr, session: Option<Session>) {
        if let Some(session) = session {
            locked(&self.sessions).insert(connection, (server, session));
            self.accepted.send_modify(|accepted| *accepted += 1);
        }
    }

    fn session_of(&self, connection: u64) -> Option<i64> {
        locked(&self.sessions).get(&connection).map(|(_, session)| session.id)
    }

    fn asked(&self, connection: u64, frame: &[u8]) -> FrameVerdict {
        self.judged(connection, |rule, session| {
            let asked = frame::asked(frame)?;
            Some(rule.asked(connection, session, &asked))
        })
    }

    fn replied(&self, connection: u64, frame: &[u8]) -> FrameVerdict {
        self.judged(connection, |rule, session| {
            let reply = frame::replied(frame)?;
            Some(rule.replied(connection, session, &reply, frame))
        })
    }

    fn judged(
        &self,
        connection: u64,
        judge: impl FnOnce(&mut WireRule, Option<i64>) -> Option<FrameVerdict>,
    ) -> FrameVerdict {
        let mut rule = locked(&self.rule);
        let Some(armed) = rule.as_mut() else {
            return FrameVerdict::Forward;
        };
        let verdict = judge(armed, self.session_of(connection)).unwrap_or(FrameVerdict::Forward);
        if verdict != FrameVerdict::Forward {
            // Still under the lock, which a caller that waits for the next connection takes first.
            self.mark.store(*self.accepted.borrow(), Ordering::Relaxed);
        }
        if verdict == FrameVerdict::Hold {
            self.hold(connection);
        }
        verdict
    }

    /// What came from this source was passed on at once.
    fn carried(&self, source: &HalfSource<'_>) {
        if source.is_session() {
            self.carried.fetch_add(1, Ordering::Relaxed);
        }
    }
}
