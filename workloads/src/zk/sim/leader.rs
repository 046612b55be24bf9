//! What a leader does: it orders the writes, proposes them, commits what a majority has taken, and decides which
//! sessions are over (Junqueira, Reed, Serafini, "Zab: High-performance broadcast for primary-backup systems", 2011).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::ensemble::{DueEvent, Ensemble};
use super::server::{Role, Server};
use super::tree::Tree;
use super::txn::{Origin, Txn, TxnOutcome, Write};
use super::wire::ConnectionMessage;

/// A learner, as its leader has it.
#[derive(Debug)]
pub(super) struct Learner {
    pub(super) wire: usize,
    /// Whether it has all that was committed.
    pub(super) in_sync: bool,
    pub(super) heard: Duration,
    /// How long its log was when it came, and the transaction that it ended with.
    pub(super) log: (usize, i64),
}

/// A transaction that was proposed, and is not committed yet.
#[derive(Debug)]
struct Proposal {
    txn: Arc<Txn>,
    acks: BTreeSet<usize>,
    /// The requests for a sync, which are answered when what was proposed by then is committed.
    syncs: Vec<Origin>,
}

#[derive(Debug)]
pub(super) struct LeaderState {
    pub(super) epoch: i64,
    /// Whether a majority has taken its epoch and its log.
    pub(super) established: bool,
    /// The tree with all that was proposed.
    pub(super) prepared: Tree,
    zxid: i64,
    outstanding: VecDeque<Proposal>,
    pub(super) learners: BTreeMap<usize, Learner>,
    pub(super) tracker: Tracker,
    /// The newest epochs that its followers have promised.
    pub(super) promised: BTreeMap<usize, i64>,
}

impl LeaderState {
    /// A server that was elected commits all that is in its log.
    pub(super) fn new(server: &Server, tick: Duration, now: Duration) -> Self {
        Self {
            epoch: 0,
            established: false,
            prepared: server.tree.clone(),
            zxid: 0,
            outstanding: VecDeque::new(),
            learners: BTreeMap::new(),
            tracker: Tracker::new(&server.tree.sessions, tick, now),
            promised: BTreeMap::new(),
        }
    }
}

impl Ensemble {
    pub(super) fn leading(&mut self, server: usize) -> Option<&mut LeaderState> {
        match &mut self.servers[server].role {
            Role::Leading(leading) => Some(leading),
            _ => None,
        }
    }

    /// Begins to serve once a majority is in sync.
    pub(super) fn establish_if_supported(&mut self, server: usize) {
        let (now, majority, tick) = (self.now(), self.majority(), self.config.tick);
        let alone = self.config.voters == 1;
        let Role::Leading(leading) = &self.servers[server].role else {
            return;
        };
        let in_sync = leading.learners.iter().filter(|(_, learner)| learner.in_sync);
        let voters = in_sync.filter(|(learner, _)| self.servers[**learner].votes).count() + 1;
        if leading.established || voters < majority {
            return;
        }
        let elected = &mut self.servers[server];
        let last = elected.last_logged();
        let Role::Leading(leading) = &mut elected.role else {
            return;
        };
        if alone {
            // A server on its own counts on.
            leading.zxid = last;
        } else {
            leading.zxid = leading.epoch << 32;
            elected.current_epoch = leading.epoch;
            elected.tree.zxid = leading.zxid;
        }
        leading.prepared = elected.tree.clone();
        leading.established = true;
        // A new leader gives every session its whole timeout again.
        leading.tracker = Tracker::new(&elected.tree.sessions, tick, now);
        let ready: Vec<usize> = leading
            .learners
            .values()
            .filter(|one| one.in_sync)
            .map(|one| one.wire)
            .collect();
        ready
            .into_iter()
            .for_each(|wire| self.send(wire, 1, ConnectionMessage::UpToDate));
        self.changed();
        self.expire_later(server);
    }

    fn expire_later(&mut self, server: usize) {
        if self.config.scripted {
            return;
        }
        let (now, turn) = (self.now(), self.servers[server].turn);
        let next = round_up(now, self.config.tick);
        self.after(next - now, DueEvent::Expire(server, turn));
    }

    /// Closes the sessions whose time is over.
    pub(super) fn expire_sessions(&mut self, server: usize, turn: u64) {
        if self.servers[server].turn != turn {
            return;
        }
        let now = self.now();
        let over = self
            .leading(server)
            .map(|leading| leading.tracker.over(now))
            .unwrap_or_default();
        for session in over {
            // What becomes of it, the quorum decides.
            let _ = self.prepare(server, session, Write::Close, None);
        }
        if self.servers[server].turn == turn {
            self.expire_later(server);
        }
    }

    /// Orders a write and proposes it; returns the answer that it gets once it is committed. A session that is over, or
    /// that another server has taken over, changes nothing.
    pub(super) fn prepare(&mut self, server: usize, session: i64, write: Write, origin: Option<Origin>) -> TxnOutcome {
        let now = self.now();
        let Some(leading) = self.leading(server) else {
            let error = crate::zk::Error::Unknown("it does not lead".to_string());
            return Err(super::wire::whole(error));
        };
        leading.zxid += 1;
        let zxid = leading.zxid;
        let refusal = origin.and_then(|origin| match &write {
            Write::Open(timeout) => {
                leading.tracker.open(session, *timeout, origin.server, now);
                None
            }
            _ => leading.tracker.refuses(session, origin.server),
        });
        if refusal.is_none() && matches!(write, Write::Close) {
            leading.tracker.close(session);
        }
        let txn = match refusal {
            None => Txn::prepare(&mut leading.prepared, zxid, session, write, origin),
            Some(why) => Txn::refused(zxid, session, write, why, origin),
        };
        let (outcome, txn) = (txn.outcome.clone(), Arc::new(txn));
        leading.outstanding.push_back(Proposal {
            txn: txn.clone(),
            acks: BTreeSet::from([server]),
            syncs: Vec::new(),
        });
        let learners: Vec<(usize, usize)> = leading
            .learners
            .iter()
            .map(|(learner, one)| (*learner, one.wire))
            .collect();
        self.servers[server].log.push(txn.clone());
        for (learner, wire) in learners {
            if self.servers[learner].votes {
                self.send(wire, 1, ConnectionMessage::Propose(txn.clone()));
            }
        }
        self.commit(server);
        outcome
    }

    /// A learner has taken a proposal; an observer's does not count.
    pub(super) fn acknowledged(&mut self, server: usize, follower: usize, zxid: i64) {
        if !self.servers[follower].votes {
            return;
        }
        let Some(leading) = self.leading(server) else { return };
        if let Some(proposal) = leading
            .outstanding
            .iter_mut()
            .find(|proposal| proposal.txn.zxid == zxid)
        {
            proposal.acks.insert(follower);
            self.commit(server);
        }
    }

    /// Commits, in order, what a majority has taken.
    fn commit(&mut self, server: usize) {
        let majority = self.majority();
        loop {
            let Some(leading) = self.leading(server) else { return };
            if leading
                .outstanding
                .front()
                .is_none_or(|first| first.acks.len() < majority)
            {
                return;
            }
            let Some(Proposal { txn, syncs, .. }) = leading.outstanding.pop_front() else {
                return;
            };
            let learners: Vec<(usize, usize)> = leading
                .learners
                .iter()
                .map(|(learner, one)| (*learner, one.wire))
                .collect();
            for (learner, wire) in learners {
                let message = if self.servers[learner].votes {
                    ConnectionMessage::Commit(txn.zxid)
                } else {
                    ConnectionMessage::Inform(txn.clone())
                };
                self.send(wire, 1, message);
            }
            self.apply_next(server);
            syncs.into_iter().for_each(|origin| self.synced(server, origin));
        }
    }

    /// Answers a sync once all that was proposed before it is committed. That asks no quorum whether it still follows
    /// (ZOOKEEPER-1675).
    pub(super) fn sync(&mut self, server: usize, origin: Origin) {
        let Some(leading) = self.leading(server) else { return };
        match leading.outstanding.back_mut() {
            Some(last) => last.syncs.push(origin),
            None => self.synced(server, origin),
        }
    }

    fn synced(&mut self, server: usize, origin: Origin) {
        if origin.server == server {
            self.done(server, origin, None);
            return;
        }
        let wire = self
            .leading(server)
            .and_then(|leading| leading.learners.get(&origin.server).map(|one| one.wire));
        if let Some(wire) = wire {
            self.send(wire, 1, ConnectionMessage::Synced(origin));
        }
    }

    /// Whether a majority was heard of within this time.
    pub(super) fn has_quorum(&self, server: usize, limit: Duration) -> bool {
        let now = self.now();
        let Role::Leading(leading) = &self.servers[server].role else {
            return false;
        };
        let with = leading
            .learners
            .iter()
            .filter(|(learner, one)| self.servers[**learner].votes && one.in_sync && one.heard + limit >= now);
        with.count() + 1 >= self.majority()
    }

    /// Sends heartbeats, and lets go of learners that are not heard of.
    pub(super) fn heartbeat(&mut self, server: usize, limit: Duration) {
        let now = self.now();
        let Some(leading) = self.leading(server) else { return };
        let silent = |one: &Learner| one.in_sync && one.heard + limit < now;
        let lost: Vec<usize> = leading
            .learners
            .values()
            .filter(|one| silent(one))
            .map(|one| one.wire)
            .collect();
        leading.learners.retain(|_, one| !silent(one));
        let wires: Vec<usize> = leading.learners.values().map(|one| one.wire).collect();
        lost.into_iter().for_each(|wire| self.close(wire, 1));
        wires
            .into_iter()
            .for_each(|wire| self.send(wire, 1, ConnectionMessage::Heartbeat));
    }
}

/// A session, as the leader has it.
#[derive(Debug)]
struct TrackedSession {
    timeout: Duration,
    /// The tick at which it is over if nothing is heard of it.
    over: Duration,
    /// The server that has it.
    owner: Option<usize>,
    closing: bool,
}

/// The sessions of a leader. Their ends are rounded up to ticks, as ZooKeeper's `ExpiryQueue` rounds them.
#[derive(Debug)]
pub(super) struct Tracker {
    sessions: BTreeMap<i64, TrackedSession>,
    tick: Duration,
}

/// The next tick after a moment.
fn round_up(time: Duration, tick: Duration) -> Duration {
    let ticks = time.as_nanos() / tick.as_nanos().max(1) + 1;
    tick * u32::try_from(ticks).unwrap_or(u32::MAX)
}

impl Tracker {
    /// All these sessions were heard of just now.
    pub(super) fn new(sessions: &BTreeMap<i64, Duration>, tick: Duration, now: Duration) -> Self {
        let tracked = |(session, timeout): (&i64, &Duration)| {
            let tracked = TrackedSession {
                timeout: *timeout,
                over: round_up(now + *timeout, tick),
                owner: None,
                closing: false,
            };
            (*session, tracked)
        };
        Self {
            sessions: sessions.iter().map(tracked).collect(),
            tick,
        }
    }

    pub(super) fn open(&mut self, session: i64, timeout: Duration, owner: usize, now: Duration) {
        let tracked = TrackedSession {
            timeout,
            over: round_up(now + timeout, self.tick),
            owner: Some(owner),
            closing: false,
        };
        self.sessions.insert(session, tracked);
    }

    /// It was heard of. Its timeout, if it lives.
    pub(super) fn touch(&mut self, session: i64, now: Duration) -> Option<Duration> {
        let tick = self.tick;
        let tracked = self.sessions.get_mut(&session).filter(|tracked| !tracked.closing)?;
        tracked.over = tracked.over.max(round_up(now + tracked.timeout, tick));
        Some(tracked.timeout)
    }

    /// A server takes a session over that lives; its timeout.
    pub(super) fn take_over(&mut self, session: i64, owner: usize, now: Duration) -> Option<Duration> {
        let timeout = self.touch(session, now)?;
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.owner = Some(owner);
        }
        Some(timeout)
    }

    /// Why a request of a session is refused that comes through this server.
    pub(super) fn refuses(&mut self, session: i64, server: usize) -> Option<&'static str> {
        let Some(tracked) = self.sessions.get_mut(&session).filter(|tracked| !tracked.closing) else {
            return Some("session expired");
        };
        (*tracked.owner.get_or_insert(server) != server).then_some("session moved")
    }

    /// It is about to end, and takes no requests any more.
    pub(super) fn close(&mut self, session: i64) {
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.closing = true;
        }
    }

    /// The sessions whose time is over by now.
    pub(super) fn over(&self, now: Duration) -> Vec<i64> {
        let over = |tracked: &TrackedSession| !tracked.closing && tracked.over <= now;
        let sessions = self.sessions.iter().filter(|(_, tracked)| over(tracked));
        sessions.map(|(session, _)| *session).collect()
    }
}
