//! A place on the network of an ensemble: from here sessions are opened, and here faults strike.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::ensemble::{Config, Ensemble, Machine};
use super::session::Session;
use super::world::World;
use crate::zk::{Connect, SessionState, Zk};

/// How long a connection that a test's script loses stays lost.
pub const OUTAGE: Duration = Duration::from_millis(50);

/// The parents of contender znodes.
pub const PARENTS: &[&str] = &[
    "/lock",
    "/rwlock",
    "/ha",
    "/election",
    "/election-ack",
    "/semaphore",
    "/leases",
];

/// A host, as a client's library sees the network from there. Clones share it.
#[derive(Clone)]
pub struct Net {
    world: World,
    pub(super) ensemble: Arc<Mutex<Ensemble>>,
    /// Its number; servers come first.
    host: usize,
    servers: Vec<usize>,
    timeout: Duration,
    silent: bool,
}

impl Net {
    /// One server, for tests that script what happens, with the znodes that locks and elections stand on: it serves at
    /// once, each message takes 1 ms, and a session ends only when it is closed or a test ends it.
    pub fn new(world: &World) -> Self {
        let config = Config {
            voters: 1,
            observers: 0,
            tick: Duration::from_millis(250),
            init_limit: 20,
            sync_limit: 4,
            scripted: true,
        };
        let net = Self::ensemble(world, config, Duration::from_secs(2));
        {
            let mut server = net.server();
            server.start_server(0);
            for path in [&["/zooquake", "/zooquake/scratch", "/resource"], PARENTS].concat() {
                server.ensure(path);
            }
        }
        net.host()
    }

    /// An ensemble none of whose servers runs yet, seen from the first of them, with this session timeout to ask for.
    pub fn ensemble(world: &World, config: Config, timeout: Duration) -> Self {
        let servers = (0..config.voters + config.observers).collect();
        Self {
            world: world.clone(),
            ensemble: Ensemble::shared(world, config),
            host: 0,
            servers,
            timeout,
            silent: false,
        }
    }

    /// Another host, for clients.
    pub fn host(&self) -> Self {
        let mut ensemble = self.server();
        ensemble.nodes.push(Machine::default());
        Self {
            host: ensemble.nodes.len() - 1,
            ..self.clone()
        }
    }

    /// The number of this host.
    pub fn number(&self) -> usize {
        self.host
    }

    /// The only server that is used from here, if there is only one.
    pub fn only_server(&self) -> Option<usize> {
        match self.servers.as_slice() {
            [server] => Some(*server),
            _ => None,
        }
    }

    /// The same host, from where only these servers are used.
    pub fn among(&self, servers: &[usize]) -> Self {
        Self {
            servers: servers.to_vec(),
            ..self.clone()
        }
    }

    /// The same host, from where only this server is used.
    pub fn pinned(&self, server: usize) -> Self {
        self.among(&[server])
    }

    /// The host of a server, which uses itself only.
    pub fn at(&self, server: usize) -> Self {
        Self {
            host: server,
            ..self.pinned(server)
        }
    }

    /// The same host, whose sessions ask for this timeout and fall silent once they are open.
    pub fn silent(&self, timeout: Duration) -> Self {
        Self {
            timeout,
            silent: true,
            ..self.clone()
        }
    }

    /// The ensemble itself.
    pub fn server(&self) -> MutexGuard<'_, Ensemble> {
        Ensemble::lock(&self.ensemble)
    }

    /// The contender znodes there are.
    pub fn locks(&self) -> Vec<String> {
        let server = self.server();
        let children = PARENTS.iter().filter_map(|parent| server.children(parent).ok());
        children.flatten().collect()
    }

    /// The session that was opened last; 0 before the first one.
    pub fn last_session(&self) -> i64 {
        self.server().sessions().last().copied().unwrap_or(0)
    }

    /// Loses a session's connection for this long.
    pub fn lose(&self, session: i64, time: Duration) {
        self.server().lose(session, time);
    }

    /// Loses a session's connection, and lets it expire after this time.
    pub fn expire(&self, session: i64, time: Duration) {
        self.server().lose(session, time);
        let net = self.clone();
        self.world
            .after(time, move || net.server().end(session, SessionState::Expired));
    }
}

impl Connect for Net {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        let net = self.clone();
        async move {
            let client = {
                let mut ensemble = net.server();
                ensemble.new_client(net.host, &net.servers, net.timeout, net.silent)
            };
            Arc::new(Session::open(net.ensemble.clone(), client).await) as Arc<dyn Zk>
        }
        .boxed()
    }
}
