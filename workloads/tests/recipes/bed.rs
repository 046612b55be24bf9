//! Clients of `lock/fenced`, which is `lock/protected` with a token, and the server they use.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::lock::{Lock, Protected};

use crate::world::World;
use crate::zk::Net;

/// Long enough for some requests.
pub const MOMENT: Duration = Duration::from_millis(20);

/// Long enough for a session to expire.
pub const LONG: Duration = Duration::from_secs(3);

/// A server and its clients.
pub struct Bed {
    pub world: World,
    pub net: Net,
}

impl Bed {
    pub fn new() -> Self {
        let world = World::default();
        let net = Net::new(&world);
        Self { world, net }
    }

    /// A client with its session open.
    pub fn client(&self) -> Arc<Protected> {
        let client = Arc::new(Protected::new(&self.world.env(Arc::new(self.net.clone())), true));
        self.world.pass(MOMENT);
        client
    }

    /// No lock znode is left, and no client is doing anything.
    pub fn assert_clean(&self, clients: &[&Arc<Protected>]) {
        for client in clients {
            let ledger = client.ledger().clone();
            self.world.run(async move { ledger.idle().await });
            assert_eq!(client.ledger().znodes(), []);
        }
        assert_eq!(self.net.locks(), Vec::<String>::new());
    }
}
