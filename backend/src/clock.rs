//! The one clock of a run.

use futures_util::future::{BoxFuture, Either, select};
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time that a run lives in, and the tasks that go on in it. Engine, faults and generators read no other clock.
pub trait Clock: Send + Sync {
    /// Time since a fixed moment; monotonic, and stands still while the machine sleeps.
    fn now(&self) -> Duration;

    /// Time since a fixed moment; monotonic, and runs on while the machine sleeps.
    fn boottime(&self) -> Duration;

    /// What the wall clock shows, counted from 1970; zero if it shows an earlier time.
    fn unix(&self) -> Duration;

    /// How long a loop may rest that is to notice when it stood still.
    fn rest(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// Waits that long.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Runs a task in the background.
    fn spawn(&self, task: BoxFuture<'static, ()>);
}

/// What `work` gives within this time; `None` if it takes longer.
pub async fn within<T>(clock: &dyn Clock, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), clock.sleep(limit)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), _)) => None,
    }
}

/// This machine's clocks, on tokio.
#[derive(Debug)]
pub struct RealClock;

fn shown(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    // Neither clock is ever negative: both count from the start of the machine.
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        shown(ClockId::Monotonic)
    }

    fn boottime(&self) -> Duration {
        #[cfg(target_os = "linux")]
        let clock = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let clock = ClockId::Monotonic;
        shown(clock)
    }

    fn unix(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clocks_run_forward() {
        let read = || (RealClock.now(), RealClock.boottime());
        let (first, second) = (read(), read());
        assert!(second.0 >= first.0 && second.1 >= first.1);
        assert!(first.0 > Duration::ZERO);
    }
}
