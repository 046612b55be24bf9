//! A machine with a clock of its own: one thread, and time passes when nothing else can happen.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::zk::{Host, Shared};

/// The machine. Clones share it. Whatever runs on it does so in the same order each time.
#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    now: Duration,
    /// Those that sleep, by the moment at which they wake and the order in which they went to sleep.
    timers: BTreeMap<(Duration, u64), Waker>,
    slept: u64,
    tasks: Vec<Task>,
    random: u128,
}

struct Task {
    future: BoxFuture<'static, ()>,
    ready: Arc<Ready>,
}

struct Ready(AtomicBool);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl World {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts something, whose result can be looked at or waited for.
    pub fn start<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Shared<Option<T>> {
        let result = Shared::new(None);
        let slot = result.clone();
        let task = async move {
            let done = work.await;
            slot.update(|slot| *slot = Some(done));
        };
        self.spawn(task.boxed());
        result
    }

    /// Runs until this is done.
    ///
    /// # Panics
    /// If it is not done and nothing can happen any more.
    pub fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let result = self.start(work);
        loop {
            if let Some(done) = result.update(Option::take) {
                return done;
            }
            assert!(self.step(), "at {:?}: nothing can happen any more", self.now());
        }
    }

    /// Lets that much time pass.
    pub fn pass(&self, time: Duration) {
        let host = self.clone();
        self.run(async move { host.sleep(time).await });
    }

    /// Polls what is ready, or moves the clock. False if neither is possible.
    fn step(&self) -> bool {
        let mut tasks = std::mem::take(&mut self.inner().tasks);
        let mut moved = false;
        tasks.retain_mut(|task| {
            if !task.ready.0.swap(false, Ordering::SeqCst) {
                return true;
            }
            moved = true;
            let waker = Waker::from(task.ready.clone());
            task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        });
        let mut inner = self.inner();
        // Those that were spawned meanwhile come after.
        tasks.append(&mut inner.tasks);
        inner.tasks = tasks;
        if moved {
            return true;
        }
        let Some((&(next, _), _)) = inner.timers.first_key_value() else {
            return false;
        };
        inner.now = inner.now.max(next);
        let now = inner.now;
        let later = inner.timers.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut inner.timers, later);
        drop(inner);
        due.into_values().for_each(Waker::wake);
        true
    }
}

impl Host for World {
    fn now(&self) -> Duration {
        self.inner().now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut inner = self.inner();
        inner.slept += 1;
        let key = (inner.now + time, inner.slept);
        Box::pin(Sleep {
            world: self.clone(),
            key,
        })
    }

    fn spawn(&self, future: BoxFuture<'static, ()>) {
        self.inner().tasks.push(Task {
            future,
            ready: Arc::new(Ready(AtomicBool::new(true))),
        });
    }

    fn random(&self) -> u128 {
        let mut inner = self.inner();
        inner.random += 1;
        inner.random
    }
}

/// Ends at a moment; no timer is left of one that is dropped before.
struct Sleep {
    world: World,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.world.inner();
        if inner.now >= self.key.0 {
            return Poll::Ready(());
        }
        inner.timers.insert(self.key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.world.inner().timers.remove(&self.key);
    }
}
