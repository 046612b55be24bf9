//! This machine.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::zk::Host;

/// This machine, on tokio.
#[derive(Debug)]
pub struct RealHost {
    started: Instant,
}

impl Default for RealHost {
    fn default() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Host for RealHost {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn random(&self) -> u128 {
        // Each `RandomState` is seeded by the system's randomness.
        let half = |salt: u64| u128::from(RandomState::new().hash_one((salt, self.started, std::process::id())));
        half(1) << 64 | half(2)
    }
}
