//! A server: its log, its tree, and the part that it plays in the ensemble.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::connection::ServedConnection;
use super::ensemble::{DueEvent, Ensemble};
use super::leader::LeaderState;
use super::tree::Tree;
use super::txn::Txn;
use super::watches::Watches;
use super::wire::{ConnectionMessage, Purpose};

/// What a server is at the moment.
pub(super) enum Role {
    /// Its process does not run.
    Down,
    /// It looks for a leader, since a moment.
    Looking,
    /// It follows, or observes, a leader.
    Following(FollowerLink),
    /// It was elected.
    Leading(Box<LeaderState>),
}

/// The way to a leader.
#[derive(Debug)]
pub(super) struct FollowerLink {
    /// The connection with it.
    pub(super) wire: usize,
    /// Whether it is up to date, and serves clients.
    pub(super) serves: bool,
    /// When it last heard of it.
    pub(super) heard: Duration,
}

pub(super) struct Server {
    pub(super) votes: bool,
    pub(super) role: Role,
    /// Counts its roles: what was due in one is void in the next.
    pub(super) turn: u64,
    /// When its last role began.
    pub(super) since: Duration,
    /// On disk: the transactions that it has taken, in order.
    pub(super) log: Vec<Arc<Txn>>,
    /// How many of them it has not logged itself: they came as a snapshot when it had nothing.
    pub(super) snapshot: usize,
    /// How many of them its tree has.
    pub(super) applied: usize,
    pub(super) tree: Tree,
    /// On disk: the newest epoch that it has promised to follow, and the one of its log.
    pub(super) accepted_epoch: i64,
    pub(super) current_epoch: i64,
    pub(super) watches: Watches,
    /// Its clients' connections.
    pub(super) served: BTreeMap<usize, ServedConnection>,
    /// The writes of its clients' sessions that it has handed to the leader and not applied yet, by connection and
    /// number.
    pub(super) forwarded: BTreeMap<i64, BTreeSet<(usize, u64)>>,
    /// The sessions of its clients that it has heard of since its leader last asked.
    pub(super) touched: BTreeSet<i64>,
}

impl Server {
    pub(super) fn new(votes: bool) -> Self {
        Self {
            votes,
            role: Role::Down,
            turn: 0,
            since: Duration::ZERO,
            log: Vec::new(),
            snapshot: 0,
            applied: 0,
            tree: Tree::default(),
            accepted_epoch: 0,
            current_epoch: 0,
            watches: Watches::default(),
            served: BTreeMap::new(),
            forwarded: BTreeMap::new(),
            touched: BTreeSet::new(),
        }
    }

    pub(super) fn runs(&self) -> bool {
        !matches!(self.role, Role::Down)
    }

    /// Whether it leads with a quorum behind it.
    pub(super) fn leads(&self) -> bool {
        matches!(&self.role, Role::Leading(leading) if leading.established)
    }

    /// Whether it serves clients.
    pub(super) fn serves(&self) -> bool {
        match &self.role {
            Role::Down | Role::Looking => false,
            Role::Following(following) => following.serves,
            Role::Leading(leading) => leading.established,
        }
    }

    /// The transaction that its log ends with.
    pub(super) fn last_logged(&self) -> i64 {
        self.log.last().map_or(0, |txn| txn.zxid)
    }

    pub(super) fn number(&mut self, path: &str, next: i32) {
        self.tree.number(path, next);
        if let Role::Leading(leading) = &mut self.role {
            leading.prepared.number(path, next);
        }
    }

    /// What it had on disk is gone, but for the epochs that it has promised.
    pub(super) fn wipe(&mut self) {
        self.log.clear();
        self.snapshot = 0;
        self.applied = 0;
        self.tree = Tree::default();
    }
}

impl Ensemble {
    /// Begins another role of a server; its connections end.
    fn turn(&mut self, server: usize, role: Role) {
        let now = self.now();
        let turning = &mut self.servers[server];
        turning.turn += 1;
        turning.since = now;
        let before = std::mem::replace(&mut turning.role, role);
        turning.watches = Watches::default();
        turning.touched.clear();
        turning.forwarded.clear();
        let served = std::mem::take(&mut turning.served);
        let learners = match before {
            Role::Down | Role::Looking => VecDeque::new(),
            Role::Following(following) => {
                self.close(following.wire, 0);
                VecDeque::new()
            }
            Role::Leading(leading) => leading.learners.into_values().map(|learner| learner.wire).collect(),
        };
        served.into_keys().chain(learners).for_each(|wire| self.close(wire, 1));
        self.changed();
    }

    /// Starts a server's process, which looks for a leader; nothing happens to one that runs.
    pub fn start_server(&mut self, server: usize) {
        if !self.servers[server].runs() {
            self.look_for_leader(server);
        }
    }

    /// Kills a server's process: its kernel ends the connections. What is on its disk stays.
    pub fn kill_server(&mut self, server: usize) {
        self.turn(server, Role::Down);
    }

    /// It neither leads nor follows.
    pub(super) fn look_for_leader(&mut self, server: usize) {
        self.turn(server, Role::Looking);
        if self.config.voters == 1 && self.servers[server].votes {
            self.lead(server, Vec::new());
            return;
        }
        // A server waits this long for a better vote than those that it has.
        let wait = match self.config.scripted {
            true => 200_000,
            false => self.world.draw(|rng| rng.u64(200_000..260_000)),
        };
        let turn = self.servers[server].turn;
        self.after(Duration::from_micros(wait), DueEvent::Look(server, turn));
    }

    /// It was elected by these voters. What its log has is committed by that.
    pub(super) fn lead(&mut self, server: usize, supporters: Vec<usize>) {
        let now = self.now();
        while self.servers[server].applied < self.servers[server].log.len() {
            self.apply_next(server);
        }
        let leading = LeaderState::new(&self.servers[server], self.config.tick, now);
        self.turn(server, Role::Leading(Box::new(leading)));
        self.establish_if_supported(server);
        self.tick_later(server);
        for supporter in supporters {
            self.follow(supporter, server);
        }
    }

    /// It asks a leader for what it lacks.
    pub(super) fn follow(&mut self, server: usize, leader: usize) {
        let wire = self.open(server, leader, Purpose::Quorum);
        let heard = self.now();
        let following = FollowerLink {
            wire,
            serves: false,
            heard,
        };
        self.turn(server, Role::Following(following));
        let joins = &self.servers[server];
        let message = ConnectionMessage::Follow {
            accepted: joins.accepted_epoch,
            log: joins.log.len(),
            zxid: joins.last_logged(),
        };
        self.send(wire, 0, message);
        self.tick_later(server);
    }

    fn tick_later(&mut self, server: usize) {
        let turn = self.servers[server].turn;
        self.after(self.config.tick / 2, DueEvent::Server(server, turn));
    }

    /// What a server does twice a tick: a leader sends heartbeats and sees that it has a quorum, who follows that it
    /// hears of its leader.
    pub(super) fn half_tick(&mut self, server: usize, turn: u64) {
        if self.servers[server].turn != turn {
            return;
        }
        let now = self.now();
        let limit = self.config.tick * self.config.sync_limit;
        let init = self.config.tick * self.config.init_limit;
        let since = self.servers[server].since;
        let lost = match &self.servers[server].role {
            Role::Down | Role::Looking => return,
            Role::Following(following) if following.serves => now > following.heard + limit,
            Role::Following(_) => now > since + init,
            Role::Leading(leading) if leading.established => !self.has_quorum(server, limit),
            Role::Leading(_) => now > since + init,
        };
        if lost {
            self.look_for_leader(server);
            return;
        }
        self.heartbeat(server, limit);
        self.tick_later(server);
    }
}
