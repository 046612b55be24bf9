//! When a client is connected, by the timings of zookeeper-client: it calls itself disconnected when it has heard
//! nothing for 2/5 of the session timeout, and gives its session up by itself 7/5 of the timeout after it last heard of
//! it, when the attempt to connect that is under way has failed.

use std::time::Duration;

use super::{ConnectionStage, PING, SessionClient, SessionRequest, WATCHES};
use crate::zk::sim::ensemble::Ensemble;
use crate::zk::sim::event::DueEvent;
use crate::zk::sim::txn::Write;
use crate::zk::sim::wire::{ClientRequest, ConnectionMessage, Purpose, whole};
use crate::zk::{Error, SessionState, WatchEvent};

/// How long a process waits before it begins anew to open a session.
const RETRY: Duration = Duration::from_millis(100);

impl SessionClient {
    pub(super) fn tick(&self) -> Duration {
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
    pub(super) fn check_at(&mut self, client: usize, at: Duration) {
        let now = self.now();
        let checked = &mut self.clients[client];
        checked.timer += 1;
        let event = DueEvent::Client(client, checked.timer);
        self.after(at.saturating_sub(now), event);
    }

    /// Waits for the next try, or makes it.
    pub(super) fn try_next(&mut self, client: usize) {
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
        if self.nodes[host].refused {
            self.attempt_failed(client);
            return;
        }
        let wire = self.open(host, server, Purpose::Client(client));
        self.clients[client].stage = ConnectionStage::Dialling(wire, now);
        self.send(wire, 0, hello);
        self.check_at(client, now + limit);
    }

    /// Tries the next server, unless the session must be over by now.
    pub(in crate::zk::sim) fn attempt_failed(&mut self, client: usize) {
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
    pub(in crate::zk::sim) fn connection_lost(&mut self, client: usize) {
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
    pub(in crate::zk::sim) fn over(&mut self, client: usize, to: SessionState) {
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
    pub(in crate::zk::sim) fn die(&mut self, client: usize) {
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

    pub(super) fn welcomed(&mut self, client: usize, wire: usize, session: i64, timeout: Duration) {
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
    pub(in crate::zk::sim) fn check_timeouts(&mut self, client: usize, timer: u64) {
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
