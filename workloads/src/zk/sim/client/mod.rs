//! The client library: what zookeeper-client does with requests, answers and watches.

mod reconnect;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use super::ensemble::Ensemble;
use super::tree::Path;
use super::txn::Write;
use super::watches::Aspect;
use super::wire::{ClientRequest, ConnectionMessage, NodeId, ServerReply, ServerResult, whole};
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
