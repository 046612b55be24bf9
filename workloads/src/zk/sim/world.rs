//! A machine with a clock of its own: one thread, and time passes when nothing else can happen.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::zk::{Host, Shared};

/// The machine. Clones share it. All of its randomness comes from one seed, so the same seed gives the same execution.
#[derive(Clone)]
pub struct World {
    inner: Arc<Mutex<Inner>>,
    ready: Arc<Mutex<VecDeque<usize>>>,
}

struct Inner {
    now: Duration,
    /// What is due later, by its moment and the order in which it was scheduled.
    timers: BTreeMap<(Duration, u64), Timer>,
    scheduled: u64,
    tasks: Vec<Option<Task>>,
    /// Places in `tasks` that are not in use.
    free: Vec<usize>,
    rng: fastrand::Rng,
}

enum Timer {
    Wake(Waker),
    Act(Box<dyn FnOnce() + Send>),
}

struct Task {
    future: BoxFuture<'static, ()>,
    waker: Waker,
    ready: Arc<Ready>,
}

struct Ready {
    task: usize,
    queued: AtomicBool,
    queue: Arc<Mutex<VecDeque<usize>>>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            lock(&self.queue).push_back(self.task);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for World {
    fn default() -> Self {
        Self::seeded(0)
    }
}

impl World {
    /// A machine whose randomness comes from this seed.
    pub fn seeded(seed: u64) -> Self {
        let inner = Inner {
            now: Duration::ZERO,
            timers: BTreeMap::new(),
            scheduled: 0,
            tasks: Vec::new(),
            free: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
            ready: Arc::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Draws from the world's randomness.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.inner().rng)
    }

    /// Does something when that much time has passed. What is due at one moment happens in the order in which it was scheduled.
    pub fn after(&self, time: Duration, act: impl FnOnce() + Send + 'static) {
        let mut inner = self.inner();
        inner.scheduled += 1;
        let key = (inner.now + time, inner.scheduled);
        inner.timers.insert(key, Timer::Act(Box::new(act)));
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

    /// Drops all that still runs or is scheduled. Tasks own clones of the world, so that a world that is never cleared is
    /// never freed.
    pub fn clear(&self) {
        let (tasks, timers) = {
            let mut inner = self.inner();
            (std::mem::take(&mut inner.tasks), std::mem::take(&mut inner.timers))
        };
        lock(&self.ready).clear();
        drop((tasks, timers));
    }

    /// Polls one task that is ready, or moves the clock to what is due next. False if neither is possible.
    fn step(&self) -> bool {
        let ready = lock(&self.ready).pop_front();
        if let Some(task) = ready {
            self.poll(task);
            return true;
        }
        let mut inner = self.inner();
        let Some(((due, _), timer)) = inner.timers.pop_first() else {
            return false;
        };
        inner.now = inner.now.max(due);
        drop(inner);
        match timer {
            Timer::Wake(waker) => waker.wake(),
            Timer::Act(act) => act(),
        }
        true
    }

    fn poll(&self, at: usize) {
        // The task is taken out, because polling it may spawn others.
        let Some(mut task) = self.inner().tasks.get_mut(at).and_then(Option::take) else {
            return;
        };
        task.ready.queued.store(false, Ordering::SeqCst);
        let waker = task.waker.clone();
        let pending = task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        let mut inner = self.inner();
        // The world may have been cleared meanwhile.
        if pending && at < inner.tasks.len() {
            inner.tasks[at] = Some(task);
        } else {
            inner.free.push(at);
            drop(inner);
            drop(task);
        }
    }
}

impl Host for World {
    fn now(&self) -> Duration {
        self.inner().now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut inner = self.inner();
        inner.scheduled += 1;
        let key = (inner.now.saturating_add(time), inner.scheduled);
        Box::pin(Sleep {
            world: self.clone(),
            key,
        })
    }

    fn spawn(&self, future: BoxFuture<'static, ()>) {
        let mut inner = self.inner();
        let at = inner.free.pop().unwrap_or_else(|| {
            inner.tasks.push(None);
            inner.tasks.len() - 1
        });
        let ready = Arc::new(Ready {
            task: at,
            queued: AtomicBool::new(true),
            queue: self.ready.clone(),
        });
        inner.tasks[at] = Some(Task {
            future,
            waker: Waker::from(ready.clone()),
            ready,
        });
        drop(inner);
        lock(&self.ready).push_back(at);
    }

    fn random(&self) -> u128 {
        self.draw(|rng| rng.u128(..))
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
        inner.timers.insert(self.key, Timer::Wake(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let timer = self.world.inner().timers.remove(&self.key);
        // A waker may own the last of a task, whose own timers go with it.
        drop(timer);
    }
}
