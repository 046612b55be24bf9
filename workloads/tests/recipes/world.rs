//! A machine with a clock of its own: one thread, and time passes when nothing else can happen.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zooquake_workloads::recipes::{Env, Notice};
use zooquake_workloads::zk::counted::Counters;
use zooquake_workloads::zk::{Connect, Host, Shared};

/// The machine. Clones share it.
#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    now: Duration,
    timers: Vec<(Duration, Waker)>,
    tasks: Vec<Task>,
    random: u128,
    notices: Vec<Notice>,
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
        self.0.lock().unwrap()
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

    /// Runs until this is done. Panics if nothing can happen any more.
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
        let Some(next) = inner.timers.iter().map(|(at, _)| *at).min() else {
            return false;
        };
        inner.now = inner.now.max(next);
        let now = inner.now;
        let due: Vec<_> = inner.timers.extract_if(.., |(at, _)| *at <= now).collect();
        drop(inner);
        due.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }

    /// What a recipe is given.
    pub fn env(&self, connect: Arc<dyn Connect>) -> Env {
        let world = self.clone();
        Env {
            client: "c1".into(),
            connect,
            host: Arc::new(self.clone()),
            ensemble: None,
            server: Some("n1".into()),
            notify: Arc::new(move |notice| world.inner().notices.push(notice)),
            sessions: Shared::new(BTreeSet::new()),
            counters: Counters::default(),
        }
    }

    /// The items that were named before they were taken.
    pub fn taking(&self) -> Vec<i64> {
        let taking = |notice: &Notice| match notice {
            Notice::Taking { item } => Some(*item),
            _ => None,
        };
        self.inner().notices.iter().filter_map(taking).collect()
    }

    /// The grants that were told to be lost.
    pub fn lost(&self) -> Vec<String> {
        let lost = |notice: &Notice| match notice {
            Notice::Lost { grant, .. } => Some(grant.clone()),
            Notice::Session { .. } | Notice::Taking { .. } => None,
        };
        self.inner().notices.iter().filter_map(lost).collect()
    }
}

impl Host for World {
    fn now(&self) -> Duration {
        self.inner().now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let (world, at) = (self.clone(), self.now() + time);
        std::future::poll_fn(move |context| {
            let mut inner = world.inner();
            if inner.now >= at {
                return Poll::Ready(());
            }
            inner.timers.push((at, context.waker().clone()));
            Poll::Pending
        })
        .boxed()
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
