//! Connections between nodes: messages take a while, arrive in order, and wait where the network is cut or the receiver
//! is frozen, as TCP and the kernel keep them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::ensemble::{DueEvent, Ensemble};
use super::tree::{Path, Tree};
use super::txn::{Origin, Txn, Write};
use super::watches::Aspect;
use crate::zk::{Error, MultiError, OpResult, Stat, WatchEvent};

/// A node of the network: the servers first, then the hosts of clients.
pub(super) type NodeId = usize;

/// The end of a connection: 0 has opened it, 1 was dialled.
pub(super) type ConnectionSide = usize;

#[derive(Debug, Clone)]
pub(super) enum ClientRequest {
    Write(Write),
    Get(Path, bool),
    Exists(Path, bool),
    Children(Path, bool),
    Sync,
    Ping,
    /// Watches that are set again, and the last transaction that the client has seen.
    Watches(i64, Vec<(Aspect, Path)>),
}

/// What a request answers.
#[derive(Debug, Clone)]
pub(super) enum ServerReply {
    Wrote(Vec<OpResult>),
    Data(Vec<u8>, Stat),
    Stat(Option<Stat>),
    Children(Arc<Vec<String>>),
    Done,
}

/// A failure names the part of a multi that was refused.
pub(super) type ServerResult = Result<ServerReply, MultiError>;

/// The failure of a whole request.
pub(super) fn whole(error: Error) -> MultiError {
    MultiError { index: None, error }
}

/// What passes on a connection.
#[derive(Debug)]
pub(super) enum ConnectionMessage {
    /// The connection is closed from the other side.
    Fin,
    // From client to server.
    Hello {
        session: i64,
        timeout: Duration,
        zxid: i64,
    },
    Ask(u64, ClientRequest),
    // From server to client.
    Welcome {
        session: i64,
        timeout: Duration,
    },
    SessionExpired,
    Reply(u64, ServerResult, i64),
    Event(Path, WatchEvent),
    // From learner to leader.
    Follow {
        accepted: i64,
        log: usize,
        zxid: i64,
    },
    InSync,
    Ack(i64),
    Forward(Origin, i64, Write),
    AskSync(Origin),
    Revalidate(usize, i64),
    Touched(Vec<i64>),
    // From leader to learner.
    /// The epoch, what is missing at the end of the learner's log, and how much of the log is committed.
    Diff(i64, Vec<Arc<Txn>>, usize),
    /// The epoch, the committed part of the log, and its tree: the learner's own log differs.
    Snapshot(i64, Vec<Arc<Txn>>, Box<Tree>),
    UpToDate,
    Propose(Arc<Txn>),
    Commit(i64),
    Inform(Arc<Txn>),
    Heartbeat,
    Synced(Origin),
    Revalidated(usize, i64, Option<Duration>),
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// This client's session.
    Client(usize),
    /// A learner's connection with its leader.
    Quorum,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) ends: [NodeId; 2],
    pub(super) purpose: Purpose,
    /// Whether each side still uses it.
    pub(super) open: [bool; 2],
    /// What each side has sent and the other has not read, with the moments of arrival.
    queues: [VecDeque<(Duration, ConnectionMessage)>; 2],
    last: [Duration; 2],
}

/// A client's connection on which what its server sends waits at the client's proxy.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldWire {
    wire: usize,
    since: Duration,
    /// When the client gave the connection up, and how many messages waited then.
    given_up: Option<(Duration, usize)>,
}

/// What became of a reply that was kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldOutcome {
    /// The messages that were kept back, the reply among them.
    pub messages: usize,
    /// For how long the reply was.
    pub lasted: Duration,
    /// Whether they are passed on; otherwise the client had given the connection up.
    pub delivered: bool,
}

impl Ensemble {
    /// Opens a connection; nothing is sent by that.
    pub(super) fn open(&mut self, from: NodeId, to: NodeId, purpose: Purpose) -> usize {
        self.wires.push(Wire {
            ends: [from, to],
            purpose,
            open: [true; 2],
            queues: Default::default(),
            last: [self.now(); 2],
        });
        self.wires.len() - 1
    }

    pub(super) fn send(&mut self, wire: usize, side: ConnectionSide, message: ConnectionMessage) {
        let now = self.now();
        let Wire { ends, open, .. } = &self.wires[wire];
        if !open[side] {
            return;
        }
        let (from, to) = (ends[side], ends[1 - side]);
        let mut takes = self.latency(from, to);
        let lag = self.nodes[to].lag;
        if !lag.is_zero() && self.is_from_leader(wire, side) {
            // What ends a connection ends it at once, after what was sent before.
            match message {
                ConnectionMessage::Fin => self.hurry(wire, side),
                _ => takes += lag,
            }
        }
        takes += self.late_at_proxy(wire);
        let sending = &mut self.wires[wire];
        let at = sending.last[side].max(now + takes);
        sending.last[side] = at;
        sending.queues[side].push_back((at, message));
        self.after(at - now, DueEvent::Arrive(wire, side));
    }

    /// Whether what this side sends is what a leader sends to who follows it.
    pub(super) fn is_from_leader(&self, wire: usize, side: ConnectionSide) -> bool {
        side == 1 && self.wires[wire].purpose == Purpose::Quorum
    }

    /// Lets what one side has sent arrive as if it had been sent now.
    pub(super) fn hurry(&mut self, wire: usize, side: ConnectionSide) {
        let Wire { ends, queues, .. } = &self.wires[wire];
        if queues[side].is_empty() {
            return;
        }
        let (now, takes) = (self.now(), self.latency(ends[side], ends[1 - side]));
        let late = &mut self.wires[wire];
        late.queues[side]
            .iter_mut()
            .for_each(|(due, _)| *due = (*due).min(now + takes));
        late.last[side] = late.queues[side].back().map_or(now, |(due, _)| *due);
        self.after(takes, DueEvent::Arrive(wire, side));
    }

    /// How much later something passes the proxy of the connection's client.
    fn late_at_proxy(&self, wire: usize) -> Duration {
        let Wire { ends, purpose, .. } = &self.wires[wire];
        match (purpose, self.nodes[ends[0]].proxy.latency) {
            (Purpose::Quorum, _) | (_, None) => Duration::ZERO,
            (_, Some((mean, jitter))) if jitter.is_zero() || self.world.chooses() => mean,
            (_, Some((mean, jitter))) => {
                let most = u64::try_from(2 * jitter.as_micros()).unwrap_or(u64::MAX);
                mean - jitter + Duration::from_micros(self.world.draw(|rng| rng.u64(0..=most)))
            }
        }
    }

    /// Whether what one side sends waits at the proxy of the connection's client.
    fn waits_at_proxy(&self, wire: usize, side: ConnectionSide) -> bool {
        let Wire { ends, purpose, .. } = &self.wires[wire];
        let held = side == 1 && self.held.is_some_and(|held| held.wire == wire);
        matches!(purpose, Purpose::Client(_)) && (held || self.nodes[ends[0]].proxy.stalled)
    }

    /// Begins to keep back what the server sends on a client's connection.
    pub(super) fn hold(&mut self, wire: usize) {
        self.held = Some(HeldWire {
            wire,
            since: self.now(),
            given_up: None,
        });
    }

    /// Lets what was kept back arrive; what became of it, `None` if nothing was kept back.
    pub(super) fn deliver(&mut self) -> Option<HoldOutcome> {
        let HeldWire { wire, since, given_up } = self.held.take()?;
        let (until, messages) = given_up.unwrap_or((self.now(), self.wires[wire].queues[1].len()));
        self.hurry(wire, 1);
        Some(HoldOutcome {
            messages,
            lasted: until - since,
            delivered: given_up.is_none(),
        })
    }

    /// How many messages are under way on the connections of a client's host.
    pub fn waiting(&self, host: NodeId) -> usize {
        let of = self.wires.iter().filter(|wire| wire.ends[0] == host);
        of.flat_map(|wire| &wire.queues).map(VecDeque::len).sum()
    }

    /// The connections of the clients on a host.
    pub(super) fn wires_of(&self, host: NodeId) -> Vec<usize> {
        let of =
            |wire: &usize| self.wires[*wire].ends[0] == host && matches!(self.wires[*wire].purpose, Purpose::Client(_));
        (0..self.wires.len()).filter(of).collect()
    }

    /// One side ends the connection; what it had sent before still arrives.
    pub(super) fn close(&mut self, wire: usize, side: ConnectionSide) {
        let (now, waiting) = (self.now(), self.wires[wire].queues[1].len());
        if let Some(held) = self.held.as_mut().filter(|held| held.wire == wire && side == 0) {
            held.given_up = held.given_up.or(Some((now, waiting)));
        }
        self.send(wire, side, ConnectionMessage::Fin);
        let closed = &mut self.wires[wire];
        closed.open[side] = false;
        // The reader is gone.
        closed.queues[1 - side].clear();
    }

    /// Throws away what one side has sent and the other has not read.
    pub(super) fn lose_sent(&mut self, wire: usize, side: ConnectionSide) {
        self.wires[wire].queues[side].clear();
    }

    /// Something between the two sides ends the connection: each hears of it after what the other had sent before.
    pub(super) fn end_both(&mut self, wire: usize) {
        self.send(wire, 0, ConnectionMessage::Fin);
        self.send(wire, 1, ConnectionMessage::Fin);
    }

    /// Whether a node's messages get through to another one, and are read there.
    fn passes(&self, from: NodeId, to: NodeId) -> bool {
        !self.nodes[to].frozen && !self.is_cut(from, to)
    }

    /// Reads what has arrived from one side of a connection.
    pub(super) fn arrive(&mut self, wire: usize, side: ConnectionSide) {
        loop {
            let now = self.now();
            let Wire { ends, queues, .. } = &self.wires[wire];
            let passes = self.passes(ends[side], ends[1 - side]) && !self.waits_at_proxy(wire, side);
            if queues[side].front().is_none_or(|(at, _)| *at > now) || !passes {
                return;
            }
            let Some((_, message)) = self.wires[wire].queues[side].pop_front() else {
                return;
            };
            if self.wires[wire].open[1 - side] {
                self.receive(wire, side, message);
            }
        }
    }

    /// Lets what waited for a node, or for the network between nodes, arrive: each connection's a while later.
    pub(super) fn resume(&mut self, at_most: Duration, concerns: impl Fn(NodeId, NodeId) -> bool) {
        let now = self.now();
        for wire in 0..self.wires.len() {
            for side in 0..2 {
                let Wire { ends, queues, last, .. } = &self.wires[wire];
                if queues[side].is_empty() || !concerns(ends[side], ends[1 - side]) {
                    continue;
                }
                let most = u64::try_from(at_most.as_micros()).unwrap_or(u64::MAX).max(1);
                let later = Duration::from_micros(self.world.draw(|rng| rng.u64(0..most)));
                let at = last[side].max(now + later);
                let waiting = &mut self.wires[wire];
                waiting.last[side] = at;
                waiting.queues[side].iter_mut().for_each(|(due, _)| *due = at.max(*due));
                self.after(at - now, DueEvent::Arrive(wire, side));
            }
        }
    }

    fn receive(&mut self, wire: usize, side: ConnectionSide, message: ConnectionMessage) {
        let Wire { ends, purpose, .. } = self.wires[wire];
        match (purpose, side) {
            (Purpose::Client(_), 0) => self.hear_client(ends[1], wire, message),
            (Purpose::Client(client), _) => self.hear_server(client, wire, message),
            (Purpose::Quorum, 0) => self.hear_learner(ends[1], ends[0], wire, message),
            (Purpose::Quorum, _) => self.hear_leader(ends[0], wire, message),
        }
    }
}
