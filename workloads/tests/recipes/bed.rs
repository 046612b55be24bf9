//! Clients of a protected queue, if not said otherwise of `lock/fenced`, and the server they use.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::Env;
use zooquake_workloads::recipes::grant::Protected;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::lock::protected;

use crate::world::World;
use zooquake_workloads::zk::sim::Net;

/// Long enough for some requests.
pub const MOMENT: Duration = Duration::from_millis(20);

/// Long enough for a session to expire.
pub const LONG: Duration = Duration::from_secs(3);

/// A server and its clients.
pub struct Bed {
    pub world: World,
    pub net: Net,
    build: fn(&Env) -> Protected,
}

impl Bed {
    pub fn new() -> Self {
        Self::of(|env| protected(env, true))
    }

    /// With other clients.
    pub fn of(build: fn(&Env) -> Protected) -> Self {
        let world = World::default();
        let net = Net::new(&world);
        Self { world, net, build }
    }

    /// A client with its session open.
    pub fn client(&self) -> Arc<Protected> {
        let client = Arc::new((self.build)(&self.world.env(Arc::new(self.net.clone()))));
        self.world.pass(MOMENT);
        client
    }

    /// No contender znode is left, and no client is doing anything.
    pub fn assert_clean(&self, clients: &[&Arc<Protected>]) {
        for client in clients {
            let holder = client.holder().clone();
            self.world.run(async move { holder.idle().await });
            assert_eq!(client.holder().znodes(), []);
        }
        assert_eq!(self.net.locks(), Vec::<String>::new());
    }
}
