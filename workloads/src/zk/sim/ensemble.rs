//! The ensemble, its network and its clients: one state, which messages and timers change.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::client::SessionClient;
use super::faults::Refusal;
use super::script::ScriptedRequest;
use super::server::Server;
use super::tree::{SimZnode, Tree};
use super::txn::{Origin, Write};
use super::wire::{ConnectionSide, HeldWire, NodeId, Wire};
use super::world::World;
use crate::zk::{CreateMode, CreatedZnode, Error, Host, MultiOp, OpResult, SharedValue, Stat};
use zooquake_history::evidence::Txn;

/// What an ensemble is made of.
#[derive(Debug, Clone)]
pub struct Config {
    /// Number of servers that vote.
    pub voters: usize,
    /// Number of servers that do not.
    pub observers: usize,
    /// `tickTime`.
    pub tick: Duration,
    /// `initLimit`, in ticks.
    pub init_limit: u32,
    /// `syncLimit`, in ticks.
    pub sync_limit: u32,
    /// Whether a test decides what happens: each message takes 1 ms, and sessions end only when they are closed or
    /// ended by the test.
    pub scripted: bool,
}

/// A machine on the network.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) frozen: bool,
    /// What fell due while it was frozen.
    pub(super) held: Vec<DueEvent>,
    /// Which connections of its clients are refused.
    pub(super) refusal: Refusal,
    /// Of a server: by how much what its leader sends is late.
    pub(super) lag: Duration,
    /// Of a client's host: what its proxy does to what passes.
    pub(super) proxy: ProxyTraffic,
}

/// What becomes of what passes through the proxy of a client's host.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProxyTraffic {
    /// By how much it is late: so long, and as much more or less at most.
    pub(super) latency: Option<(Duration, Duration)>,
    /// Whether it waits.
    pub(super) stalled: bool,
}

/// The simulated ensemble: servers, clients and the network between them.
pub struct Ensemble {
    pub(super) me: Weak<Mutex<Ensemble>>,
    pub(super) world: World,
    pub(super) config: Config,
    pub(super) nodes: Vec<Machine>,
    /// Directions in which nothing passes.
    pub(super) cuts: BTreeSet<(NodeId, NodeId)>,
    pub(super) wires: Vec<Wire>,
    pub(super) servers: Vec<Server>,
    pub(super) clients: Vec<SessionClient>,
    /// The sessions in the order in which they were opened.
    pub(super) opened: Vec<i64>,
    /// How often a server or a session has changed in a way that can be seen from outside.
    pub(super) changes: SharedValue<u64>,
    /// What to do to requests yet to come; each is used once, by the first request that fits.
    pub script: Vec<ScriptedRequest>,
    /// Whether a request that is on its way when its client's connection is lost still arrives; drawn if `None`.
    pub late: Option<bool>,
    /// The connection on which a reply is kept back, or was last.
    pub(super) held: Option<HeldWire>,
}

impl Ensemble {
    pub(super) fn shared(world: &World, config: Config) -> Arc<Mutex<Self>> {
        let all = config.voters + config.observers;
        Arc::new_cyclic(|me| {
            Mutex::new(Self {
                me: me.clone(),
                world: world.clone(),
                nodes: (0..all).map(|_| Machine::default()).collect(),
                cuts: BTreeSet::new(),
                wires: Vec::new(),
                servers: (0..all).map(|server| Server::new(server < config.voters)).collect(),
                clients: Vec::new(),
                opened: Vec::new(),
                changes: SharedValue::new(0),
                script: Vec::new(),
                late: config.scripted.then_some(false),
                held: None,
                config,
            })
        })
    }

    pub(super) fn lock(ensemble: &Mutex<Self>) -> MutexGuard<'_, Self> {
        ensemble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts how often a server or a session has changed in a way that can be seen from outside.
    pub fn changes(&self) -> SharedValue<u64> {
        self.changes.clone()
    }

    pub(super) fn changed(&self) {
        self.changes.update(|changes| *changes += 1);
    }

    /// How many of the voters are a quorum.
    pub(super) fn majority(&self) -> usize {
        self.config.voters / 2 + 1
    }

    pub(super) fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        !self.cuts.is_empty() && self.cuts.contains(&(from, to))
    }

    /// The server that leads and has a quorum.
    pub fn leader(&self) -> Option<usize> {
        let leads = |server: &usize| self.servers[*server].leads();
        (0..self.servers.len())
            .filter(leads)
            .max_by_key(|server| self.servers[*server].current_epoch)
    }

    /// The tree of the leader; without one, of the server that has applied most.
    pub(super) fn newest(&self) -> &Tree {
        let last = || self.servers.iter().max_by_key(|server| server.tree.zxid);
        let server = self.leader().map(|leader| &self.servers[leader]).or_else(last);
        &server.expect("an ensemble has servers").tree
    }

    /// What the log files of a server have, in order: not what it was given with a snapshot, nor what it lost.
    pub fn logged(&self, server: usize) -> impl Iterator<Item = Txn> {
        let server = &self.servers[server];
        server.log[server.snapshot..].iter().map(|txn| txn.logged())
    }

    /// The last transaction.
    pub fn zxid(&self) -> i64 {
        self.newest().zxid
    }

    /// All znodes but the root, in the order of their paths.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &SimZnode)> {
        self.newest().nodes().map(|(path, node)| (&**path, &**node))
    }

    /// The same, as one server has it.
    pub fn nodes_at(&self, server: usize) -> impl Iterator<Item = (&str, &SimZnode)> {
        let nodes = self.servers[server].tree.nodes();
        nodes.map(|(path, node)| (&**path, &**node))
    }

    /// The sessions that are not over on every server that runs.
    pub fn sessions_alive(&self) -> BTreeSet<i64> {
        let running = self.servers.iter().filter(|server| server.serves());
        running
            .flat_map(|server| server.tree.sessions.keys().copied())
            .collect()
    }

    /// The sessions that were opened, over or not, in that order.
    pub fn sessions(&self) -> &[i64] {
        &self.opened
    }

    /// Reads a znode.
    ///
    /// # Errors
    /// If it is not there.
    pub fn get(&self, path: &str) -> Result<(Vec<u8>, Stat), Error> {
        let node = self.newest().get(path).ok_or(Error::NoNode)?;
        Ok((node.data.clone(), node.stat))
    }

    /// A znode's stat, if it is there.
    pub fn exists(&self, path: &str) -> Option<Stat> {
        self.newest().get(path).map(|node| node.stat)
    }

    /// The names of a znode's children.
    ///
    /// # Errors
    /// If it is not there.
    pub fn children(&self, path: &str) -> Result<Vec<String>, Error> {
        self.newest().get(path).ok_or(Error::NoNode)?;
        Ok(self.newest().children(path).map(str::to_string).collect())
    }

    /// Writes as this session, through the leader.
    fn admin(&mut self, session: i64, op: MultiOp) -> Result<OpResult, Error> {
        let leader = self
            .leader()
            .ok_or_else(|| Error::Unknown("nobody leads".to_string()))?;
        let outcome = self.prepare(leader, session, Write::One(op), None::<Origin>);
        let mut results = outcome.map_err(|error| error.error)?;
        results.pop().ok_or_else(|| Error::Unknown("no result".to_string()))
    }

    /// Creates a znode of a session.
    ///
    /// # Errors
    /// If it is there, or its parent is not.
    pub fn create(&mut self, session: i64, path: &str, data: &[u8], mode: CreateMode) -> Result<CreatedZnode, Error> {
        match self.admin(session, MultiOp::Create(path.to_string(), data.to_vec(), mode))? {
            OpResult::Created(created) => Ok(created),
            other => Err(Error::Unknown(format!("{other:?}"))),
        }
    }

    /// Deletes a znode, of this version only if one is given.
    ///
    /// # Errors
    /// If it is not there, of another version, or has children.
    pub fn delete(&mut self, path: &str, version: Option<i32>) -> Result<(), Error> {
        self.admin(0, MultiOp::Delete(path.to_string(), version)).map(|_| ())
    }

    /// Writes a znode, of this version only if one is given.
    ///
    /// # Errors
    /// If it is not there, or of another version.
    pub fn set(&mut self, path: &str, data: &[u8], version: Option<i32>) -> Result<Stat, Error> {
        match self.admin(0, MultiOp::Set(path.to_string(), data.to_vec(), version))? {
            OpResult::Set(stat) => Ok(stat),
            other => Err(Error::Unknown(format!("{other:?}"))),
        }
    }

    /// Creates a persistent znode, and its parents; those that are there are left as they are.
    pub fn ensure(&mut self, path: &str) {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for end in ends {
            if self.exists(&path[..end]).is_none() {
                // The only error is that nobody leads, and then there is nothing to create it on.
                let _ = self.create(0, &path[..end], b"", CreateMode::Persistent);
            }
        }
    }

    /// Sets the number that the next child of a znode gets; nothing happens where there is no such znode.
    pub fn number(&mut self, path: &str, next: i32) {
        for server in &mut self.servers {
            server.number(path, next);
        }
    }
}

/// Something that is due. What concerns a part of a node's life names it, and is void in another one.
#[derive(Debug, Clone, Copy)]
pub(super) enum DueEvent {
    /// A message has arrived.
    Arrive(usize, ConnectionSide),
    /// A client looks at its timeouts.
    Client(usize, u64),
    /// A server in a role does what it does twice a tick.
    Server(usize, u64),
    /// A leader looks which sessions are over.
    Expire(usize, u64),
    /// A server that looks for a leader counts votes.
    Look(usize, u64),
}

impl Ensemble {
    pub(super) fn now(&self) -> Duration {
        self.world.now()
    }

    /// Has something happen later.
    pub(super) fn after(&self, time: Duration, event: DueEvent) {
        self.world.happen_after(time, self.whose(event), self.me.clone(), event);
    }

    /// The node whose step it is.
    fn whose(&self, event: DueEvent) -> NodeId {
        match event {
            DueEvent::Arrive(wire, side) => self.wires[wire].ends[1 - side],
            DueEvent::Client(client, _) => self.clients[client].host,
            DueEvent::Server(server, _) | DueEvent::Expire(server, _) | DueEvent::Look(server, _) => server,
        }
    }

    pub(super) fn happen(&mut self, event: DueEvent) {
        if let DueEvent::Arrive(wire, side) = event {
            return self.arrive(wire, side);
        }
        let node = self.whose(event);
        if self.nodes[node].frozen {
            // It happens as soon as the node is thawed.
            self.nodes[node].held.push(event);
            return;
        }
        match event {
            DueEvent::Arrive(..) => {}
            DueEvent::Client(client, timer) => self.check_timeouts(client, timer),
            DueEvent::Server(server, turn) => self.half_tick(server, turn),
            DueEvent::Expire(server, turn) => self.expire_sessions(server, turn),
            DueEvent::Look(server, turn) => self.look(server, turn),
        }
    }

    /// How long a message takes.
    pub(super) fn latency(&self, from: NodeId, to: NodeId) -> Duration {
        let micros = match &self.config.scripted {
            true => 1_000,
            false if from == to => 50,
            false if self.world.chooses() => 400,
            // Now and then a message is late.
            false => self.world.draw(|rng| match rng.u32(0..64) {
                0 => rng.u64(1_000..20_000),
                _ => rng.u64(100..1_000),
            }),
        };
        Duration::from_micros(micros)
    }
}
