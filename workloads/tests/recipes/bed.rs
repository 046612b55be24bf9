//! Clients of one recipe that grants, and the server that they use.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::election::{acknowledged, epoch};
use zooquake_workloads::recipes::grant::{GrantRecipe, Mode, ProtectedQueue, ZnodeName};
use zooquake_workloads::recipes::lock::protected;
use zooquake_workloads::recipes::semaphore::leases;
use zooquake_workloads::recipes::{Env, Grant, HolderState, OpError, rwlock};
use zooquake_workloads::zk::sim::Net;
use zooquake_workloads::zk::{Host, SharedValue, Zk};

use crate::world::RecipeWorld;

/// Long enough for some requests.
pub const MOMENT: Duration = Duration::from_millis(20);

/// Long enough for a session to expire.
pub const LONG: Duration = Duration::from_secs(3);

type Build<T> = fn(&Env) -> T;

/// The protected queues, and how many clients hold at once.
const PROTECTED: [(Build<ProtectedQueue>, usize); 5] = [
    (fenced, 1),
    (rwlock::fenced, 1),
    (acknowledged, 1),
    (epoch, 1),
    (leases, 2),
];

/// `lock/fenced`.
pub fn fenced(env: &Env) -> ProtectedQueue {
    protected(env, true)
}

type Make = dyn Fn(&Env) -> Arc<dyn GrantRecipe>;

/// A server and its clients.
pub struct GrantTestBed {
    pub world: RecipeWorld,
    pub net: Net,
    build: Box<Make>,
    /// Clients that hold throughout.
    others: Vec<Client>,
}

/// A client, whose operations the machine runs while the test goes on.
pub struct Client {
    world: RecipeWorld,
    recipe: Arc<dyn GrantRecipe>,
}

/// An acquire that was asked for.
pub struct AcquireAttempt(SharedValue<Option<Result<Grant, OpError>>>);

impl GrantTestBed {
    /// With clients of this recipe.
    pub fn new<T: GrantRecipe + 'static>(build: Build<T>) -> Self {
        let world = RecipeWorld::default();
        let net = Net::new(&world);
        Self {
            world,
            net,
            build: Box::new(move |env| Arc::new(build(env))),
            others: Vec::new(),
        }
    }

    /// A bed of each protected queue in which one more client is granted, and the next one has to wait for it.
    pub fn protected() -> impl Iterator<Item = Self> {
        PROTECTED.into_iter().map(|(build, capacity)| {
            let mut bed = Self::new(build);
            for _ in 1..capacity {
                let other = bed.client();
                other.hold("another");
                bed.others.push(other);
            }
            bed
        })
    }

    /// A client with its session open.
    pub fn client(&self) -> Client {
        let recipe = (self.build)(&self.world.env(Arc::new(self.net.clone())));
        self.world.pass(MOMENT);
        let world = self.world.clone();
        Client { world, recipe }
    }

    /// Some of them.
    pub fn clients<const N: usize>(&self) -> [Client; N] {
        std::array::from_fn(|_| self.client())
    }

    /// The contender znodes of all but those that hold throughout.
    pub fn locks(&self) -> Vec<String> {
        let others: Vec<_> = self.others.iter().flat_map(|other| other.holder().znodes()).collect();
        let mut locks = self.net.locks();
        locks.retain(|name| !others.iter().any(|own| own.path.ends_with(name)));
        locks
    }

    /// No contender znode is left, and no client is doing anything.
    pub fn assert_clean(&self, clients: &[Client]) {
        for client in clients {
            let holder = client.holder().clone();
            self.world.run(async move { holder.idle().await });
            assert_eq!(client.holder().znodes(), []);
        }
        assert_eq!(self.locks(), Vec::<String>::new());
    }
}

impl Client {
    pub fn holder(&self) -> &HolderState {
        self.recipe.holder()
    }

    pub fn holds(&self) -> bool {
        self.holder().held().is_some()
    }

    /// The session that it has now.
    pub fn session(&self) -> Arc<dyn Zk> {
        let recipe = self.recipe.clone();
        self.world.run(async move { recipe.session().await }).zk
    }

    /// Loses the connection of its session for this long.
    pub fn lose(&self, net: &Net, time: Duration) {
        net.lose(self.session().session(), time);
    }

    /// Asks, and stands in the queue.
    pub fn ask(&self, name: &'static str) -> AcquireAttempt {
        self.ask_for(name, None)
    }

    /// The same for as long at most.
    pub fn ask_for(&self, name: &'static str, time: Option<Duration>) -> AcquireAttempt {
        let attempt = self.begin(name, time);
        self.world.pass(MOMENT);
        attempt
    }

    /// Sends the first request.
    pub fn begin(&self, name: &'static str, time: Option<Duration>) -> AcquireAttempt {
        AcquireAttempt(self.world.start(self.attempt(name, Mode::Exclusive, time)))
    }

    /// Asks for a shared grant, and stands in the queue.
    pub fn ask_shared(&self, name: &'static str) -> AcquireAttempt {
        let attempt = self.world.start(self.attempt(name, Mode::Shared, None));
        self.world.pass(MOMENT);
        AcquireAttempt(attempt)
    }

    /// Waits until an attempt has ended.
    pub fn acquire(&self, name: &'static str, time: Option<Duration>) -> Result<Grant, OpError> {
        self.world.run(self.attempt(name, Mode::Exclusive, time))
    }

    fn attempt(
        &self,
        name: &'static str,
        mode: Mode,
        time: Option<Duration>,
    ) -> impl Future<Output = Result<Grant, OpError>> + Send + use<> {
        let (recipe, deadline) = (self.recipe.clone(), time.map(|time| self.world.now() + time));
        async move { recipe.acquire(name, mode, deadline).await }
    }

    /// Waits until it is granted.
    pub fn hold(&self, name: &'static str) -> Grant {
        self.acquire(name, None).unwrap()
    }

    pub fn release(&self, name: &'static str) -> Result<Option<ZnodeName>, OpError> {
        let recipe = self.recipe.clone();
        self.world.run(async move { recipe.release(name, None).await })
    }

    /// Gives back what it holds, and others hear of it.
    pub fn hand_over(&self, name: &'static str) -> Option<ZnodeName> {
        let released = self.release(name).unwrap();
        self.world.pass(MOMENT);
        released
    }
}

impl AcquireAttempt {
    pub fn waits(&self) -> bool {
        self.0.with(Option::is_none)
    }

    /// How it ended.
    pub fn ended(&self) -> Result<Grant, OpError> {
        self.0.with(Clone::clone).expect("it has ended")
    }

    /// It ended with an unknown outcome.
    pub fn is_unknown(&self) -> bool {
        matches!(self.ended(), Err(OpError::Info(_)))
    }

    pub fn granted(&self) -> Grant {
        self.ended().unwrap()
    }
}
