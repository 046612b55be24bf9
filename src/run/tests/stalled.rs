//! The harness stands still for a while, at each of many moments of a run: whatever it was about to do.

use super::{Ran, plan, run_on};
use crate::backends::sim::SimBackend;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use zooquake_backend::{Backend, BackendFuture, BringUp, Clock, Cluster, RunClaim};
use zooquake_checkers::Verdict;
use zooquake_history::Event;

/// Longer than the bound of liveness.
const STALL: Duration = Duration::from_secs(13);

/// A clock that is [`STALL`] later from its reading number `stalls_at` on.
#[derive(Clone)]
struct StallingClock {
    clock: Arc<dyn Clock>,
    readings: Arc<AtomicUsize>,
    stalls_at: usize,
}

impl StallingClock {
    fn read(&self, time: Duration) -> Duration {
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        time + STALL * u32::from(reading >= self.stalls_at)
    }
}

impl Clock for StallingClock {
    fn now(&self) -> Duration {
        self.read(self.clock.now())
    }

    fn boottime(&self) -> Duration {
        self.read(self.clock.boottime())
    }

    fn unix(&self) -> Duration {
        self.clock.unix()
    }

    fn rest(&self) -> Duration {
        self.clock.rest()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.clock.sleep(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.clock.spawn(task);
    }
}

/// A simulated backend with this clock.
struct StallingBackend(SimBackend, StallingClock);

impl Backend for StallingBackend {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(self.1.clone())
    }

    fn claim<'a>(&'a self, run: &'a str, history: Option<&'a Path>) -> BackendFuture<'a, Box<dyn RunClaim>> {
        self.0.claim(run, history)
    }

    fn finds(&self, run: &str) -> Value {
        self.0.finds(run)
    }

    fn confinement(&self) -> BackendFuture<'_, Value> {
        self.0.confinement()
    }

    fn engine(&self) -> BackendFuture<'_, Option<String>> {
        self.0.engine()
    }

    fn bring_up<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, Arc<dyn Cluster>> {
        self.0.bring_up(what)
    }

    fn alive(&self) -> BackendFuture<'_, BTreeSet<String>> {
        self.0.alive()
    }

    fn clear<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        self.0.clear(run)
    }

    fn remove_dead<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        self.0.remove_dead(run)
    }
}

/// A run whose clock stalls before this reading, and how often it was read.
fn run_stalled(name: &str, stalls_at: usize) -> (Ran, usize) {
    let world = SimBackend::default();
    let clock = StallingClock {
        clock: world.clock(),
        readings: Arc::default(),
        stalls_at,
    };
    let readings = Arc::clone(&clock.readings);
    let ran = run_on(
        plan(name, 1, 2_000, &[]),
        None,
        &world,
        StallingBackend(world.clone(), clock),
    );
    (ran, readings.load(Ordering::Relaxed))
}

#[test]
fn a_stall_is_recorded_before_what_comes_after_it_and_convicts_nobody() {
    for name in ["lock/fenced", "election/epoch"] {
        let (_, readings) = run_stalled(name, usize::MAX);
        let mut random = fastrand::Rng::with_seed(1);
        let moments = (1..80).map(|n| n * readings / 80 + random.usize(..readings / 80));
        let mut recorded = 0;
        for stalls_at in moments {
            let (ran, _) = run_stalled(name, stalls_at);
            assert_ne!(
                ran.results.verdict,
                Verdict::Invalid,
                "{name} at {stalls_at}: {:?}",
                ran.news()
            );
            let events = &ran.record.history.events;
            let later = |event: &&Event| event.time >= STALL.as_nanos() as u64;
            if let Some(first) = events.iter().find(later) {
                assert_eq!(first.f, "stall", "{name} at {stalls_at}: {first:?}");
                recorded += 1;
            }
        }
        // The others come after the last turn of the loop.
        assert!(recorded > 60, "{name}: {recorded} of 79 stalls are recorded");
    }
}
