//! A simulated backend, in memory and in virtual time, on [`zooquake_workloads::zk::sim`]: engine, nemesis, generators,
//! recipes and checkers run as they do on containers, and the same seed gives the same history.
//!
//! What it leaves out is what the model leaves out. Nothing is written to disk, and servers write no logs.

mod cluster;
mod connection;
mod primitives;
mod process;

pub use connection::{InMemory, KIND};

use anyhow::Context;
use cluster::SimCluster;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zooquake_backend::{Backend, BackendFuture, BringUp, Clock, Cluster, RunClaim};
use zooquake_history::plan::{Plan, Scheduler};
use zooquake_workloads::zk::Host;
use zooquake_workloads::zk::sim::World;

/// A world in which runs take place. Clones share it; with the last of them goes all that still runs there.
#[derive(Clone)]
pub struct SimBackend {
    world: World,
    _owner: Arc<Owner>,
}

struct Owner(World);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.clear();
    }
}

impl Default for SimBackend {
    fn default() -> Self {
        Self::seeded(0)
    }
}

impl SimBackend {
    /// A world whose randomness comes from this seed: the same seed gives the same runs.
    pub fn seeded(seed: u64) -> Self {
        let world = World::seeded(seed);
        Self {
            _owner: Arc::new(Owner(world.clone())),
            world,
        }
    }

    /// The world of a plan's run, which has it to itself.
    pub fn for_plan(plan: &Plan) -> Self {
        zooquake_workloads::stderr::mute();
        Self::seeded(plan.seed).scheduled(&plan.scheduler)
    }

    /// The same, in which this scheduler decides what happens next.
    pub fn scheduled(self, scheduler: &Scheduler) -> Self {
        self.world.schedule(scheduler);
        self
    }

    /// How many steps were chosen of which another one could have come first.
    pub fn steps(&self) -> u32 {
        self.world.steps()
    }

    /// Runs until this is done, and lets virtual time pass for it.
    pub fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        self.world.run(work)
    }
}

/// The world's time.
struct VirtualClock(World);

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn boottime(&self) -> Duration {
        self.0.now()
    }

    fn unix(&self) -> Duration {
        self.0.now()
    }

    /// In virtual time nothing stands still.
    fn rest(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.0.spawn(task);
    }
}

/// Nothing outlives the program here.
struct SimClaim;

impl RunClaim for SimClaim {
    fn end(self: Box<Self>) -> BackendFuture<'static, ()> {
        ready(Ok(())).boxed()
    }
}

impl Backend for SimBackend {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(VirtualClock(self.world.clone()))
    }

    /// On a thread of its own, where nothing else of this program waits for it.
    fn drive<'a>(&'a self, work: BoxFuture<'static, ()>) -> BackendFuture<'a, ()> {
        let world = self.clone();
        async move {
            let passing = tokio::task::spawn_blocking(move || world.run(work));
            passing.await.context("the simulation did not come to its end")
        }
        .boxed()
    }

    fn claim<'a>(&'a self, _: &'a str, _: Option<&'a Path>) -> BackendFuture<'a, Box<dyn RunClaim>> {
        ready(Ok(Box::new(SimClaim) as Box<dyn RunClaim>)).boxed()
    }

    fn finds(&self, run: &str) -> Value {
        json!({ "run": run })
    }

    fn confinement(&self) -> BackendFuture<'_, Value> {
        ready(Ok(json!({ "in_memory": true }))).boxed()
    }

    fn engine(&self) -> BackendFuture<'_, Option<String>> {
        ready(Ok(None)).boxed()
    }

    fn bring_up<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, Arc<dyn Cluster>> {
        ready(Ok(Arc::new(SimCluster::new(&self.world, what.plan)) as Arc<dyn Cluster>)).boxed()
    }

    fn alive(&self) -> BackendFuture<'_, BTreeSet<String>> {
        ready(Ok(BTreeSet::new())).boxed()
    }

    fn clear<'a>(&'a self, _: &'a str) -> BackendFuture<'a, ()> {
        ready(Ok(())).boxed()
    }

    fn remove_dead<'a>(&'a self, _: &'a str) -> BackendFuture<'a, ()> {
        ready(Ok(())).boxed()
    }
}
