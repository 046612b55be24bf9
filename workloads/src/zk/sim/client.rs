//! The client library: what zookeeper-client does with requests, answers and watches, and when it is connected, by its
//! timings: it calls itself disconnected when it has heard nothing for 2/5 of the session timeout, and gives its
//! session up by itself 7/5 of the timeout after it last heard of it, when the attempt to connect that is under way has
//! failed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use super::ensemble::{DueEvent, Ensemble};
use super::tree::Path;
use super::txn::Write;
use super::watches::Aspect;
use super::wire::{ClientRequest, ConnectionMessage, NodeId, Purpose, ServerReply, ServerResult, whole};
use crate::zk::{Error, SessionState, SharedValue, WatchEvent};

/// The answer to a request, with the watch that it left.
pub(super) type WatchedReply = (ServerResult, Option<oneshot::Receiver<WatchEvent>>);

/// A request on its way.
#[derive(Debug)]
struct SessionRequest {
    number: u64,
    ask: ClientRequest,
    reply: oneshot::Sender<WatchedReply>,
}

/// What a client is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionStage {
    /// It waits before it tries the next server.
    Waiting,
    /// It has dialled a server on this connection, at this moment.
    Dialling(usize, Duration),
    /// It is served on this connection.
    Served(usize),
    /// Its session is over, or its process.
    Over,
}

/// One session's client.
pub(super) struct SessionClient {
    pub(super) host: NodeId,
    pub(super) session: i64,
    pub(super) state: SharedValue<SessionState>,
    pub(super) timeout: Duration,
    /// The servers, in the order in which they are tried.
    servers: Vec<usize>,
    /// How many tries there were since the session was last served.
    tries: u32,
    stage: ConnectionStage,
    /// Until when its connections are lost for a test.
    pub(super) lost_until: Duration,
    /// When it gives its session up.
    deadline: Duration,
    heard: Duration,
    sent: Duration,
    pinged: bool,
    /// The last transaction that it has seen.
    zxid: i64,
    requests: u64,
    waiting: VecDeque<SessionRequest>,
    flight: VecDeque<SessionRequest>,
    watches: BTreeMap<(Aspect, Path), Vec<oneshot::Sender<WatchEvent>>>,
    closing: bool,
    /// Whether it sends nothing more once it has a session.
    silent: bool,
    timer: u64,
}

/// The numbers of what the library asks of its own accord.
const PING: u64 = u64::MAX;
const WATCHES: u64 = u64::MAX - 1;

/// How long a process waits before it begins anew to open a session.
const RETRY: Duration = Duration::from_millis(100);

impl Ensemble {
    /// A client on a host begins to open a session with one of these servers.
    pub(super) fn new_client(&mut self, host: NodeId, servers: &[usize], timeout: Duration, silent: bool) -> usize {
        let now = self.now();
        let mut servers = servers.to_vec();
        self.world.draw(|rng| rng.shuffle(&mut servers));
        self.clients.push(SessionClient {
            host,
            session: 0,
            state: SharedValue::new(SessionState::Disconnected),
            timeout,
            servers,
            tries: 0,
            stage: ConnectionStage::Waiting,
            lost_until: Duration::ZERO,
            deadline: now + timeout,
            heard: now,
            sent: now,
            pinged: false,
            zxid: 0,
            requests: 0,
            waiting: VecDeque::new(),
            flight: VecDeque::new(),
            watches: BTreeMap::new(),
            closing: false,
            silent,
            timer: 0,
        });
        let client = self.clients.len() - 1;
        self.try_next(client);
        client
    }

    /// The connection on which a client is served, or tries to be.
    pub(super) fn wire_of(&self, client: usize) -> Option<usize> {
        match self.clients[client].stage {
            ConnectionStage::Dialling(wire, _) | ConnectionStage::Served(wire) => Some(wire),
            ConnectionStage::Waiting | ConnectionStage::Over => None,
        }
    }

    /// The server that serves a client.
    pub(super) fn server_of(&self, client: usize) -> Option<usize> {
        match self.clients[client].stage {
            ConnectionStage::Served(wire) => Some(self.wires[wire].ends[1]),
            _ => None,
        }
    }

    /// Sends a request once the client is served; what comes of it arrives on the channel, if anything does.
    pub(super) fn submit(&mut self, client: usize, ask: ClientRequest) -> oneshot::Receiver<WatchedReply> {
        let (reply, replied) = oneshot::channel();
        let asking = &mut self.clients[client];
        let state = asking.state.with(|state| *state);
        if state.is_over() || asking.closing {
            let why = if state.is_over() {
                state.name()
            } else {
                "the session was closed"
            };
            // The caller may have gone.
            let _ = reply.send((Err(whole(Error::Unknown(why.to_string()))), None));
            return replied;
        }
        asking.closing = matches!(ask, ClientRequest::Write(Write::Close));
        asking.requests += 1;
        let number = asking.requests;
        asking.waiting.push_back(SessionRequest { number, ask, reply });
        self.flush(client);
        replied
    }

    /// Sends what waits, if the client is served.
    fn flush(&mut self, client: usize) {
        let now = self.now();
        while let ConnectionStage::Served(wire) = self.clients[client].stage {
            let sending = &mut self.clients[client];
            let Some(request) = sending.waiting.pop_front() else {
                return;
            };
            let message = ConnectionMessage::Ask(request.number, request.ask.clone());
            sending.flight.push_back(request);
            sending.sent = now;
            self.send(wire, 0, message);
        }
    }

    /// A client hears its server.
    pub(super) fn hear_server(&mut self, client: usize, wire: usize, message: ConnectionMessage) {
        if self.wire_of(client) != Some(wire) {
            return;
        }
        self.clients[client].heard = self.now();
        match message {
            ConnectionMessage::Fin if matches!(self.clients[client].stage, ConnectionStage::Served(_)) => {
                self.connection_lost(client)
            }
            ConnectionMessage::Fin => self.attempt_failed(client),
            ConnectionMessage::Welcome { session, timeout } => self.welcomed(client, wire, session, timeout),
            ConnectionMessage::SessionExpired => self.over(client, SessionState::Expired),
            ConnectionMessage::Reply(number, answered, zxid) => self.replied(client, number, answered, zxid),
            ConnectionMessage::Event(path, event) => self.clients[client].notify(&path, &event),
            // Nothing else comes from a server.
            _ => {}
        }
    }

    fn replied(&mut self, client: usize, number: u64, answered: ServerResult, zxid: i64) {
        let hearing = &mut self.clients[client];
        match number {
            // A ping's answer contains no zxid.
            PING => {
                hearing.pinged = false;
                let next = hearing.sent + hearing.tick() * 3;
                self.check_at(client, next);
            }
            WATCHES => {}
            _ => {
                hearing.zxid = hearing.zxid.max(zxid);
                let Some(request) = hearing.flight.pop_front() else {
                    return;
                };
                if matches!(request.ask, ClientRequest::Write(Write::Close)) && answered.is_ok() {
                    self.over(client, SessionState::Closed);
                } else {
                    let watch = hearing.watch_left(&request.ask, &answered);
                    // The caller may have gone.
                    let _ = request.reply.send((answered, watch));
                }
            }
        }
    }
}

impl SessionClient {
    /// The watch that an answered request leaves.
    fn watch_left(&mut self, ask: &ClientRequest, answered: &ServerResult) -> Option<oneshot::Receiver<WatchEvent>> {
        let (aspect, path) = match (ask, answered) {
            (ClientRequest::Get(path, true), Ok(_))
            | (ClientRequest::Exists(path, true), Ok(ServerReply::Stat(Some(_)))) => (Aspect::Data, path),
            (ClientRequest::Exists(path, true), Ok(_)) => (Aspect::Missing, path),
            (ClientRequest::Children(path, true), Ok(_)) => (Aspect::Children, path),
            _ => return None,
        };
        let (watch, watched) = oneshot::channel();
        self.watches.entry((aspect, path.clone())).or_default().push(watch);
        Some(watched)
    }

    /// Fires the watches that an event on this path triggers.
    fn notify(&mut self, path: &Path, event: &WatchEvent) {
        let aspects: &[Aspect] = match event {
            WatchEvent::Created | WatchEvent::DataChanged => &[Aspect::Data, Aspect::Missing],
            WatchEvent::Deleted => &[Aspect::Data, Aspect::Missing, Aspect::Children],
            WatchEvent::ChildrenChanged => &[Aspect::Children],
            WatchEvent::Session(_) => &[],
        };
        for aspect in aspects {
            for watch in self.watches.remove(&(*aspect, path.clone())).unwrap_or_default() {
                // The watcher may have gone.
                let _ = watch.send(event.clone());
            }
        }
    }
}

impl SessionClient {
    fn tick(&self) -> Duration {
        (self.timeout / 20).max(Duration::from_millis(1))
    }

    /// How long it waits before its next try: not at all until each server was tried once, then longer from round to
    /// round.
    fn backoff(&self, jitter: &fastrand::Rng) -> Duration {
        let servers = u32::try_from(self.servers.len()).unwrap_or(u32::MAX).max(1);
        let (round, at) = (self.tries / servers, self.tries % servers);
        let mut jitter = jitter.clone();
        match (round, at) {
            (0, _) => Duration::ZERO,
            (round, 0) => {
                let base = (Duration::from_millis(100) * servers).min(Duration::from_secs(1));
                base * 2u32.saturating_pow(round.min(16) - 1) + Duration::from_millis(jitter.u64(0..100))
            }
            (_, at) => Duration::from_millis(50) * at + Duration::from_millis(jitter.u64(0..50)),
        }
    }
}

impl Ensemble {
    fn check_at(&mut self, client: usize, at: Duration) {
        let now = self.now();
        let checked = &mut self.clients[client];
        checked.timer += 1;
        let event = DueEvent::Client(client, checked.timer);
        self.after(at.saturating_sub(now), event);
    }

    /// Waits for the next try, or makes it.
    fn try_next(&mut self, client: usize) {
        let now = self.now();
        let jitter = fastrand::Rng::with_seed(self.world.draw(|rng| rng.u64(..)));
        let trying = &mut self.clients[client];
        trying.stage = ConnectionStage::Waiting;
        let at = (now + trying.backoff(&jitter))
            .min(trying.deadline.max(now))
            .max(trying.lost_until);
        if at > now {
            self.check_at(client, at);
        } else {
            self.dial(client);
        }
    }

    fn dial(&mut self, client: usize) {
        let now = self.now();
        let dialling = &mut self.clients[client];
        let server = dialling.servers[dialling.tries as usize % dialling.servers.len()];
        dialling.tries += 1;
        let (host, limit) = (dialling.host, dialling.tick() * 8);
        let hello = ConnectionMessage::Hello {
            session: dialling.session,
            timeout: dialling.timeout,
            zxid: dialling.zxid,
        };
        if self.nodes[host].refusal.strikes(server) {
            self.attempt_failed(client);
            return;
        }
        let wire = self.open(host, server, Purpose::Client(client));
        self.clients[client].stage = ConnectionStage::Dialling(wire, now);
        self.send(wire, 0, hello);
        self.check_at(client, now + limit);
    }

    /// Tries the next server, unless the session must be over by now.
    pub(super) fn attempt_failed(&mut self, client: usize) {
        let now = self.now();
        if let Some(wire) = self.wire_of(client) {
            if !self.nodes[self.wires[wire].ends[1]].frozen {
                // What is late then is TCP's handshake, and nothing is sent before that is done.
                self.lose_sent(wire, 0);
            }
            self.close(wire, 0);
        }
        let failing = &mut self.clients[client];
        if now < failing.deadline || self.config.scripted {
            self.try_next(client);
        } else if failing.session != 0 {
            self.over(client, SessionState::Expired);
        } else {
            (failing.stage, failing.tries) = (ConnectionStage::Waiting, 0);
            failing.deadline = now + RETRY + failing.timeout;
            self.check_at(client, now + RETRY);
        }
    }

    /// What was under way has an unknown outcome, and the client looks for a server.
    pub(super) fn connection_lost(&mut self, client: usize) {
        let ConnectionStage::Served(wire) = self.clients[client].stage else {
            return;
        };
        self.close(wire, 0);
        let losing = &mut self.clients[client];
        losing.deadline = losing.heard + losing.timeout * 7 / 5;
        losing.tries = 0;
        losing.stage = ConnectionStage::Waiting;
        let flight = std::mem::take(&mut losing.flight);
        let state = losing.state.clone();
        state.update(|state| *state = SessionState::Disconnected);
        for request in flight {
            if matches!(request.ask, ClientRequest::Write(Write::Close)) {
                self.clients[client].waiting.push_front(request);
                continue;
            }
            let lost = Error::Unknown("connection lost".to_string());
            // The caller may have gone.
            let _ = request.reply.send((Err(whole(lost)), None));
        }
        let mut servers = std::mem::take(&mut self.clients[client].servers);
        self.world.draw(|rng| rng.shuffle(&mut servers));
        self.clients[client].servers = servers;
        self.try_next(client);
    }

    /// The session is over for its client.
    pub(super) fn over(&mut self, client: usize, to: SessionState) {
        if let Some(wire) = self.wire_of(client) {
            self.close(wire, 0);
        }
        let ending = &mut self.clients[client];
        ending.stage = ConnectionStage::Over;
        let requests: Vec<SessionRequest> = ending.flight.drain(..).chain(ending.waiting.drain(..)).collect();
        let watches = std::mem::take(&mut ending.watches);
        ending.state.update(|state| {
            if !state.is_over() {
                *state = to;
            }
        });
        // The callers and watchers may have gone.
        for request in requests {
            let _ = request
                .reply
                .send((Err(whole(Error::Unknown(to.name().to_string()))), None));
        }
        for watch in watches.into_values().flatten() {
            let _ = watch.send(WatchEvent::Session(to));
        }
    }

    /// The client's process is dead. Its kernel closes the connection; its session lives until its timeout.
    pub(super) fn die(&mut self, client: usize) {
        if let Some(wire) = self.wire_of(client) {
            self.close(wire, 0);
        }
        let dying = &mut self.clients[client];
        dying.stage = ConnectionStage::Over;
        dying.closing = true;
        dying.flight.clear();
        dying.waiting.clear();
        dying.watches.clear();
    }

    fn welcomed(&mut self, client: usize, wire: usize, session: i64, timeout: Duration) {
        let now = self.now();
        let served = &mut self.clients[client];
        (served.session, served.timeout) = (session, timeout);
        (served.stage, served.tries, served.sent, served.pinged) = (ConnectionStage::Served(wire), 0, now, false);
        served.state.update(|state| *state = SessionState::Connected);
        self.changes.update(|changes| *changes += 1);
        if served.silent {
            // No timer of it is due any more.
            served.timer += 1;
            return;
        }
        served.watches.retain(|_, watches| {
            watches.retain(|watch| !watch.is_closed());
            !watches.is_empty()
        });
        if !served.watches.is_empty() {
            let again = ClientRequest::Watches(served.zxid, served.watches.keys().cloned().collect());
            self.send(wire, 0, ConnectionMessage::Ask(WATCHES, again));
        }
        self.flush(client);
        let ping = now + self.clients[client].tick() * 3;
        self.check_at(client, ping);
    }

    /// A timer of a client: it tries again, gives its connection up, or sends a ping.
    pub(super) fn check_timeouts(&mut self, client: usize, timer: u64) {
        let now = self.now();
        let checked = &self.clients[client];
        if checked.timer != timer {
            return;
        }
        let tick = checked.tick();
        match checked.stage {
            ConnectionStage::Over => {}
            ConnectionStage::Waiting => self.dial(client),
            ConnectionStage::Dialling(_, since) if now >= since + tick * 8 => self.attempt_failed(client),
            ConnectionStage::Dialling(_, since) => self.check_at(client, since + tick * 8),
            ConnectionStage::Served(_) if now >= checked.heard + tick * 8 => self.connection_lost(client),
            ConnectionStage::Served(wire) => {
                if !checked.pinged && now >= checked.sent + tick * 3 {
                    let pinging = &mut self.clients[client];
                    (pinging.pinged, pinging.sent) = (true, now);
                    self.send(wire, 0, ConnectionMessage::Ask(PING, ClientRequest::Ping));
                }
                let waiting = &self.clients[client];
                let loss = waiting.heard + tick * 8;
                let next = if waiting.pinged {
                    loss
                } else {
                    loss.min(waiting.sent + tick * 3)
                };
                self.check_at(client, next.max(now + Duration::from_millis(1)));
            }
        }
    }
}
