//! What a server answers: the requests of a session in their order; reads by the server's own tree, once the writes
//! before them have been applied there.

use super::{OPENS, PendingRequest, ServedConnection};
use crate::zk::Error;
use crate::zk::sim::ensemble::Ensemble;
use crate::zk::sim::script::LostRequest;
use crate::zk::sim::tree::Path;
use crate::zk::sim::txn::{Origin, Txn, Write};
use crate::zk::sim::watches::Aspect;
use crate::zk::sim::wire::{ClientRequest, ConnectionMessage, ServerReply, ServerResult, whole};

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
    pub(in crate::zk::sim) fn done(&mut self, server: usize, origin: Origin, txn: Option<&Txn>) {
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
    pub(in crate::zk::sim) fn answer(&mut self, server: usize, wire: usize) {
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
            if let Some(scripted) = first.loses.take() {
                // That a znode is missing is an error on the wire.
                let done = !matches!(answered, Err(_) | Ok(ServerReply::Stat(None)));
                if done || self.config.scripted {
                    (scripted.after)(LostRequest::new(&first.ask, first.request, session, first.zxid));
                    self.lose_connection(wire);
                    return;
                }
                self.script.insert(0, scripted);
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
    pub(in crate::zk::sim) fn end_session_of(&mut self, server: usize, txn: &Txn) {
        if txn.changes.is_empty() || !matches!(txn.write, Write::Close) {
            return;
        }
        let of = |(wire, served): (&usize, &ServedConnection)| (served.session == txn.session).then_some(*wire);
        let wires: Vec<usize> = self.servers[server].served.iter().filter_map(of).collect();
        wires.into_iter().for_each(|wire| self.gone(server, wire));
    }
}
