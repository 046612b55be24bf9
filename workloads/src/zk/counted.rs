//! Sessions that count what a recipe asks of ZooKeeper, and what it hears.
//!
//! A request is counted when it is sent, whatever comes of it; a multi is one request. What a client library sends of
//! its own accord (pings, the removal of watches that nobody waits for any more) is not counted, nor is the harness's
//! own work below `/zooquake`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{
    CreateMode, CreatedZnode, MultiError, MultiOp, OpResult, Reply, SessionState, Stat, Watch, WatchEvent, Zk,
};
pub use zooquake_history::operation::Counts;

/// Where the harness keeps its own znodes.
const HARNESS: &str = "/zooquake/";

/// Counts as they grow. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Counters(Arc<Mutex<CounterState>>);

#[derive(Debug, Default)]
struct CounterState {
    counts: Counts,
    /// Whether something was done that is not counted.
    missed: bool,
}

impl Counters {
    fn lock(&self) -> MutexGuard<'_, CounterState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that something is done that is not counted.
    pub fn miss(&self) {
        self.lock().missed = true;
    }

    /// Whether all that was done is counted.
    pub fn is_whole(&self) -> bool {
        !self.lock().missed
    }

    /// The counts now.
    pub fn read(&self) -> Counts {
        self.lock().counts
    }
}

/// A session whose requests and watch events are counted.
pub struct CountedSession {
    zk: Arc<dyn Zk>,
    counters: Counters,
}

impl CountedSession {
    /// Counts what is done in this session.
    pub fn new(zk: Arc<dyn Zk>, counters: Counters) -> Self {
        Self { zk, counters }
    }

    /// Counts a request once its future is polled, which is when it is sent.
    fn count<T: 'static>(
        &self,
        kind: fn(&mut Counts) -> &mut u64,
        path: &str,
        request: BoxFuture<'static, T>,
    ) -> BoxFuture<'static, T> {
        if path.starts_with(HARNESS) {
            return request;
        }
        let counters = self.counters.clone();
        async move {
            *kind(&mut counters.lock().counts) += 1;
            let _pending = CountedRequest::begin(&counters);
            request.await
        }
        .boxed()
    }

    fn heard(&self, watch: Watch) -> Watch {
        let counters = self.counters.clone();
        Box::pin(CountedWatch {
            watch: Some(watch),
            counters,
        })
    }
}

/// One pending request, until it is dropped.
struct CountedRequest(Counters);

impl CountedRequest {
    fn begin(counters: &Counters) -> Self {
        counters.lock().counts.pending += 1;
        Self(counters.clone())
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        self.0.lock().counts.pending -= 1;
    }
}

/// A watch whose event is counted.
struct CountedWatch {
    watch: Option<Watch>,
    counters: Counters,
}

impl CountedWatch {
    fn count(&self, event: &WatchEvent) {
        if !matches!(event, WatchEvent::Session(_)) {
            self.counters.lock().counts.events += 1;
        }
    }
}

impl Future for CountedWatch {
    type Output = WatchEvent;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<WatchEvent> {
        let Some(watch) = self.watch.as_mut() else {
            return Poll::Pending;
        };
        let polled = watch.as_mut().poll(context);
        if let Poll::Ready(event) = &polled {
            self.watch = None;
            self.count(event);
        }
        polled
    }
}

impl Drop for CountedWatch {
    /// An event that came while its recipe was busy with another was delivered all the same.
    fn drop(&mut self) {
        if let Some(event) = self.watch.take().and_then(FutureExt::now_or_never) {
            self.count(&event);
        }
    }
}

impl Zk for CountedSession {
    fn session(&self) -> i64 {
        self.zk.session()
    }

    fn timeout(&self) -> Duration {
        self.zk.timeout()
    }

    fn state(&self) -> SessionState {
        self.zk.state()
    }

    fn changed(&self, from: SessionState) -> BoxFuture<'static, SessionState> {
        self.zk.changed(from)
    }

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<CreatedZnode> {
        self.count(|counts| &mut counts.create, path, self.zk.create(path, data, mode))
    }

    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()> {
        self.count(|counts| &mut counts.delete, path, self.zk.delete(path, version))
    }

    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)> {
        self.count(|counts| &mut counts.get, path, self.zk.get(path))
    }

    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)> {
        let request = self.count(|counts| &mut counts.get, path, self.zk.get_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move {
            request
                .await
                .map(|(data, stat, watch)| (data, stat, counted.heard(watch)))
        }
        .boxed()
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        self.count(|counts| &mut counts.set, path, self.zk.set(path, data, version))
    }

    fn exists(&self, path: &str) -> Reply<Option<Stat>> {
        self.count(|counts| &mut counts.exists, path, self.zk.exists(path))
    }

    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)> {
        let request = self.count(|counts| &mut counts.exists, path, self.zk.exists_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move { request.await.map(|(stat, watch)| (stat, counted.heard(watch))) }.boxed()
    }

    fn children(&self, path: &str) -> Reply<Vec<String>> {
        self.count(|counts| &mut counts.children, path, self.zk.children(path))
    }

    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)> {
        let request = self.count(|counts| &mut counts.children, path, self.zk.children_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move { request.await.map(|(names, watch)| (names, counted.heard(watch))) }.boxed()
    }

    fn multi(&self, ops: Vec<MultiOp>) -> BoxFuture<'static, std::result::Result<Vec<OpResult>, MultiError>> {
        self.count(|counts| &mut counts.multi, "", self.zk.multi(ops))
    }

    fn sync(&self, path: &str) -> Reply<()> {
        self.count(|counts| &mut counts.sync, path, self.zk.sync(path))
    }

    fn close(&self) -> BoxFuture<'static, SessionState> {
        self.zk.close()
    }
}
