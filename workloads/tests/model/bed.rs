//! An ensemble that serves.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::zk::sim::{Config, Net, World};
use zooquake_workloads::zk::{Connect, Host, SessionState, Zk};

pub const TICK: Duration = Duration::from_millis(250);

/// The session timeout that clients ask for.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// Longer than a server that is cut off goes on: syncLimit ticks, and the election that follows.
pub const DEPOSED: Duration = Duration::from_millis(2_500);

/// Longer than any message takes.
pub const MOMENT: Duration = Duration::from_millis(100);

pub struct EnsembleTestBed {
    pub world: World,
    pub net: Net,
    servers: usize,
}

impl EnsembleTestBed {
    pub fn new(servers: usize, seed: u64) -> Self {
        let world = World::seeded(seed);
        let config = Config {
            voters: servers,
            observers: 0,
            tick: TICK,
            init_limit: 20,
            sync_limit: 4,
            scripted: false,
        };
        let net = Net::ensemble(&world, config, TIMEOUT);
        (0..servers).for_each(|server| net.server().start_server(server));
        let bed = Self { world, net, servers };
        bed.until(|bed| (0..servers).all(|server| bed.net.server().state_of(server).is_some()));
        bed
    }

    /// Lets time pass until something is so.
    pub fn until(&self, holds: impl Fn(&Self) -> bool) {
        let end = self.world.now() + Duration::from_secs(60);
        while !holds(self) {
            assert!(self.world.now() < end, "it does not come about");
            self.world.pass(Duration::from_millis(1));
        }
    }

    pub fn leader(&self) -> usize {
        self.net.server().leader().expect("a leader")
    }

    /// The servers that do not lead.
    pub fn followers(&self) -> Vec<usize> {
        let leader = self.leader();
        (0..self.servers).filter(|server| *server != leader).collect()
    }

    /// A session of a client on a host.
    pub fn open(&self, host: &Net) -> Arc<dyn Zk> {
        let opening = host.connect();
        self.world.run(opening)
    }

    /// A session of a client on a host of its own, which uses this server only.
    pub fn at(&self, server: usize) -> Arc<dyn Zk> {
        self.open(&self.net.host().pinned(server))
    }

    /// A host of its own for a client, and a session of that.
    pub fn hosted(&self) -> (Net, Arc<dyn Zk>) {
        let host = self.net.host();
        let zk = self.open(&host);
        (host, zk)
    }

    /// A session of a client on a host of its own.
    pub fn session(&self) -> Arc<dyn Zk> {
        self.open(&self.net.host())
    }

    /// Cuts a server off from the other servers, and not from clients.
    pub fn cut_off(&self, server: usize) -> Vec<usize> {
        let others: Vec<usize> = (0..self.servers).filter(|other| *other != server).collect();
        for other in &others {
            self.net.server().cut(server, *other);
            self.net.server().cut(*other, server);
        }
        others
    }

    /// How long it takes until a session is in a state, measured from now.
    pub fn takes(&self, session: &Arc<dyn Zk>, state: SessionState) -> Duration {
        let begun = self.world.now();
        self.until(|_| session.state() == state);
        self.world.now() - begun
    }

    /// What a server answers when it is asked for the data of a znode.
    pub fn data(&self, session: &Arc<dyn Zk>, path: &str) -> String {
        let (data, _) = self.world.run(session.get(path)).expect("its data");
        String::from_utf8(data).expect("text")
    }
}
