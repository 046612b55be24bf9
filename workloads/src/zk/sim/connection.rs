//! A server's side of its clients' connections: how they begin and end, what is asked on them, and what it answers.

use std::collections::VecDeque;
use std::time::Duration;

use super::ensemble::Ensemble;
use super::script::{Fate, ScriptedRequest, StruckRequest};
use super::server::Role;
use super::tree::Path;
use super::txn::{Origin, Txn, Write};
use super::watches::Aspect;
use super::wire::{ClientRequest, ConnectionMessage, ServerReply, ServerResult, whole};
use crate::zk::Error;

/// A client's connection.
#[derive(Default)]
pub(super) struct ServedConnection {
    /// Its session; 0 until that is opened or found alive.
    session: i64,
    pending: VecDeque<PendingRequest>,
}

/// A request that is not answered yet.
struct PendingRequest {
    request: u64,
    ask: ClientRequest,
    done: Option<ServerResult>,
    /// Its transaction, once applied here.
    zxid: Option<i64>,
    /// What is to happen to its reply.
    struck: Option<ScriptedRequest>,
}

/// The request with which a session is opened.
const OPENS: u64 = 0;

impl Ensemble {
    /// A server hears a client.
    pub(super) fn hear_client(&mut self, server: usize, wire: usize, message: ConnectionMessage) {
        match message {
            ConnectionMessage::Fin => self.gone(server, wire),
            ConnectionMessage::Hello { session, timeout, zxid } => self.hello(server, wire, (session, timeout, zxid)),
            ConnectionMessage::Ask(request, ask) => self.asked(server, wire, request, ask),
            // Nothing else comes from a client.
            _ => {}
        }
    }

    /// Ends a client's connection at its server.
    fn gone(&mut self, server: usize, wire: usize) {
        self.servers[server].served.remove(&wire);
        self.servers[server].watches.forget(wire);
        self.close(wire, 1);
    }

    /// A client opens a session, or comes back with one. A server that has applied less than the client has seen
    /// refuses it.
    fn hello(&mut self, server: usize, wire: usize, (session, timeout, seen): (i64, Duration, i64)) {
        if !self.servers[server].serves() || seen > self.servers[server].tree.zxid {
            self.close(wire, 1);
            return;
        }
        self.servers[server].served.insert(wire, ServedConnection::default());
        if session == 0 {
            let (least, most) = (self.config.tick * 2, self.config.tick * 20);
            let timeout = timeout.clamp(least, most);
            let session = self.new_session(server);
            let write = Write::Open(timeout);
            self.enqueue(server, wire, OPENS, ClientRequest::Write(write.clone()), None);
            self.forward(server, wire, (OPENS, session), write);
            return;
        }
        let now = self.now();
        match &mut self.servers[server].role {
            Role::Leading(leading) => {
                let timeout = leading.tracker.take_over(session, server, now);
                self.revalidated(server, wire, session, timeout);
            }
            Role::Following(following) => {
                let leader = following.wire;
                self.send(leader, 0, ConnectionMessage::Revalidate(wire, session));
            }
            Role::Down | Role::Looking => {}
        }
    }

    fn new_session(&mut self, server: usize) -> i64 {
        // A server's ids begin with its number.
        let session = ((server as i64 + 1) << 56) + 0x100 + self.opened.len() as i64;
        self.opened.push(session);
        session
    }

    /// The leader has answered whether a session lives: its timeout, or `None` if it is over.
    pub(super) fn revalidated(&mut self, server: usize, wire: usize, session: i64, timeout: Option<Duration>) {
        if !self.servers[server].served.contains_key(&wire) {
            return;
        }
        let Some(timeout) = timeout else {
            self.send(wire, 1, ConnectionMessage::SessionExpired);
            self.gone(server, wire);
            return;
        };
        let same = |(other, served): (&usize, &ServedConnection)| {
            (*other != wire && served.session == session).then_some(*other)
        };
        let former: Vec<usize> = self.servers[server].served.iter().filter_map(same).collect();
        former.into_iter().for_each(|wire| self.gone(server, wire));
        if let Some(served) = self.servers[server].served.get_mut(&wire) {
            served.session = session;
        }
        self.send(wire, 1, ConnectionMessage::Welcome { session, timeout });
    }

    fn touch(&mut self, server: usize, session: i64) {
        let now = self.now();
        match &mut self.servers[server].role {
            Role::Leading(leading) => {
                leading.tracker.touch(session, now);
            }
            _ => {
                self.servers[server].touched.insert(session);
            }
        }
    }

    /// Where the request stands in the order of its connection.
    fn enqueue(
        &mut self,
        server: usize,
        wire: usize,
        request: u64,
        ask: ClientRequest,
        struck: Option<ScriptedRequest>,
    ) {
        if let Some(served) = self.servers[server].served.get_mut(&wire) {
            served.pending.push_back(PendingRequest {
                request,
                ask,
                done: None,
                zxid: None,
                struck,
            });
        }
    }

    fn asked(&mut self, server: usize, wire: usize, request: u64, ask: ClientRequest) {
        let Some(session) = self.servers[server].served.get(&wire).map(|served| served.session) else {
            return;
        };
        self.touch(server, session);
        let host = self.wires[wire].ends[0];
        let scripted = ask.name().and_then(|name| {
            let at = self
                .script
                .iter_mut()
                .position(|scripted| (scripted.fits)(host, name))?;
            Some(self.script.remove(at))
        });
        let mut struck = None;
        if let Some(mut scripted) = scripted {
            if let Some(before) = scripted.before.take() {
                before(self);
            }
            match scripted.fate {
                Fate::Answered => {}
                Fate::ReplyLost | Fate::ReplyHeld => struck = Some(scripted),
                Fate::RequestLost => {
                    (scripted.after)(StruckRequest::new(&ask, request, session, None));
                    self.lose_connection(wire);
                    return;
                }
            }
        }
        self.enqueue(server, wire, request, ask.clone(), struck);
        match ask {
            ClientRequest::Write(write) => self.forward(server, wire, (request, session), write),
            ClientRequest::Sync => self.forward_sync(server, wire, request),
            _ => {}
        }
        self.answer(server, wire);
    }

    /// Has the leader order a write.
    fn forward(&mut self, server: usize, wire: usize, (request, session): (u64, i64), write: Write) {
        let origin = Origin { server, wire, request };
        self.servers[server]
            .forwarded
            .entry(session)
            .or_default()
            .insert((wire, request));
        match &self.servers[server].role {
            Role::Leading(_) => {
                // The client waits for the commit.
                let _ = self.prepare(server, session, write, Some(origin));
            }
            Role::Following(following) => {
                self.send(following.wire, 0, ConnectionMessage::Forward(origin, session, write))
            }
            Role::Down | Role::Looking => {}
        }
    }

    fn forward_sync(&mut self, server: usize, wire: usize, request: u64) {
        let origin = Origin { server, wire, request };
        match &self.servers[server].role {
            Role::Leading(_) => self.sync(server, origin),
            Role::Following(following) => self.send(following.wire, 0, ConnectionMessage::AskSync(origin)),
            Role::Down | Role::Looking => {}
        }
    }
}

/// What it answers: the requests of a session in their order; reads by its own tree, once the writes before them have
/// been applied there.
impl Ensemble {
    /// A write of a session is applied here, or refused: what waited behind it at another connection goes on.
    fn settled(&mut self, server: usize, session: i64, origin: Origin) {
        let settling = &mut self.servers[server];
        if let Some(writes) = settling.forwarded.get_mut(&session) {
            writes.remove(&(origin.wire, origin.request));
            if !writes.is_empty() {
                return;
            }
            settling.forwarded.remove(&session);
        }
        let of = |(wire, served): (&usize, &ServedConnection)| {
            (served.session == session && *wire != origin.wire).then_some(*wire)
        };
        let wires: Vec<usize> = settling.served.iter().filter_map(of).collect();
        wires.into_iter().for_each(|wire| self.answer(server, wire));
    }

    /// What a request waited for has come: its transaction is applied here, or the server is in sync.
    ///
    /// A session that is over or was taken over by another server is an error of its connection (ZOOKEEPER-710): a
    /// client that came to a slow server first is ever after taken to be there, unless its connection ends.
    pub(super) fn done(&mut self, server: usize, origin: Origin, txn: Option<&Txn>) {
        if let Some(txn) = txn {
            self.settled(server, txn.session, origin);
        }
        if txn.is_some_and(|txn| txn.is_refused()) {
            if self.servers[server].served.contains_key(&origin.wire) {
                self.gone(server, origin.wire);
            }
            return;
        }
        let Some(served) = self.servers[server].served.get_mut(&origin.wire) else {
            return;
        };
        if let Some(pending) = served.pending.iter_mut().find(|one| one.request == origin.request) {
            pending.zxid = txn.map(|txn| txn.zxid);
            pending.done = Some(txn.map_or(Ok(ServerReply::Done), |txn| txn.outcome.clone().map(ServerReply::Wrote)));
        }
        if let (OPENS, Some(txn)) = (origin.request, txn) {
            served.pending.retain(|one| one.request != OPENS);
            self.welcome_new(server, origin.wire, txn);
        }
        self.answer(server, origin.wire);
    }

    fn welcome_new(&mut self, server: usize, wire: usize, txn: &Txn) {
        let Write::Open(timeout) = txn.write else { return };
        if let Some(served) = self.servers[server].served.get_mut(&wire) {
            served.session = txn.session;
        }
        let session = txn.session;
        self.send(wire, 1, ConnectionMessage::Welcome { session, timeout });
    }

    /// Answers what can be answered, in order.
    pub(super) fn answer(&mut self, server: usize, wire: usize) {
        loop {
            let Some(session) = self.servers[server].served.get(&wire).map(|served| served.session) else {
                return;
            };
            // The order of a session's requests at a server outlasts their connection.
            let earlier = self.servers[server].forwarded.get(&session);
            let unsettled = earlier.is_some_and(|earlier| earlier.iter().any(|(other, _)| *other != wire));
            let waits = |first: &PendingRequest| first.done.is_none() && (first.ask.waits() || unsettled);
            let Some(served) = self.servers[server].served.get_mut(&wire) else {
                return;
            };
            if served.pending.front().is_none_or(waits) {
                return;
            }
            let Some(mut first) = served.pending.pop_front() else {
                return;
            };
            let answered = match first.done.take() {
                Some(done) => done,
                None => self.read(server, wire, &first.ask),
            };
            // Like the proxy, which passes errors on and waits for the next request.
            if let Some(scripted) = first.struck.take() {
                // That a znode is missing is an error on the wire.
                let done = !matches!(answered, Err(_) | Ok(ServerReply::Stat(None)));
                if !done && !self.config.scripted {
                    self.script.insert(0, scripted);
                } else {
                    (scripted.after)(StruckRequest::new(&first.ask, first.request, session, first.zxid));
                    if scripted.fate != Fate::ReplyHeld {
                        self.lose_connection(wire);
                        return;
                    }
                    self.hold(wire);
                }
            }
            let zxid = self.servers[server].tree.zxid;
            self.send(wire, 1, ConnectionMessage::Reply(first.request, answered, zxid));
        }
    }

    /// Answers a request that changes nothing.
    fn read(&mut self, server: usize, wire: usize, ask: &ClientRequest) -> ServerResult {
        let reader = &mut self.servers[server];
        let node = |path: &Path| reader.tree.get(path).cloned().ok_or_else(|| whole(Error::NoNode));
        match ask {
            ClientRequest::Get(path, watch) => {
                let node = node(path)?;
                if *watch {
                    reader.watches.add(wire, path, Aspect::Data);
                }
                Ok(ServerReply::Data(node.data.clone(), node.stat))
            }
            ClientRequest::Exists(path, watch) => {
                let stat = reader.tree.get(path).map(|node| node.stat);
                if *watch {
                    reader.watches.add(wire, path, Aspect::Missing);
                }
                Ok(ServerReply::Stat(stat))
            }
            ClientRequest::Children(path, watch) => {
                node(path)?;
                let names = reader.tree.list(path);
                if *watch {
                    reader.watches.add(wire, path, Aspect::Children);
                }
                Ok(ServerReply::Children(names))
            }
            ClientRequest::Watches(since, watches) => {
                for (aspect, path) in watches {
                    let reader = &mut self.servers[server];
                    let event = reader.watches.again(&reader.tree, (wire, *since), path, *aspect);
                    if let Some(event) = event {
                        self.send(wire, 1, ConnectionMessage::Event(path.clone(), event));
                    }
                }
                Ok(ServerReply::Done)
            }
            ClientRequest::Ping | ClientRequest::Sync | ClientRequest::Write(_) => Ok(ServerReply::Done),
        }
    }

    /// Ends the connection of a session that a transaction has closed.
    pub(super) fn end_session_of(&mut self, server: usize, txn: &Txn) {
        if txn.changes.is_empty() || !matches!(txn.write, Write::Close) {
            return;
        }
        let of = |(wire, served): (&usize, &ServedConnection)| (served.session == txn.session).then_some(*wire);
        let wires: Vec<usize> = self.servers[server].served.iter().filter_map(of).collect();
        wires.into_iter().for_each(|wire| self.gone(server, wire));
    }
}
