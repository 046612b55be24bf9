//! Sessions that count what a recipe asks of ZooKeeper, and what it hears.
//!
//! A request is counted when it is sent, whatever comes of it; a multi is one request. What a client library sends of its
//! own accord (pings, the removal of watches that nobody waits for any more) is not counted, nor is the harness's own
//! work below `/zooquake`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{CreateMode, Created, MultiError, Op, OpResult, Reply, SessionState, Stat, Watch, WatchEvent, Zk};
pub use zooquake_history::operation::Counts;

/// Where the harness keeps its own znodes.
const HARNESS: &str = "/zooquake/";

/// Counts as they grow. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Counters(Arc<Cells>);

#[derive(Debug, Default)]
struct Cells {
    create: AtomicU64,
    delete: AtomicU64,
    get: AtomicU64,
    set: AtomicU64,
    exists: AtomicU64,
    children: AtomicU64,
    multi: AtomicU64,
    sync: AtomicU64,
    events: AtomicU64,
    pending: AtomicU64,
    missed: AtomicBool,
}

impl Counters {
    /// Says that something is done that is not counted.
    pub fn miss(&self) {
        self.0.missed.store(true, Ordering::SeqCst);
    }

    /// Whether all that was done is counted.
    pub fn is_whole(&self) -> bool {
        !self.0.missed.load(Ordering::SeqCst)
    }

    /// The counts now.
    pub fn read(&self) -> Counts {
        let read = |cell: &AtomicU64| cell.load(Ordering::SeqCst);
        let cells = &self.0;
        Counts {
            create: read(&cells.create),
            delete: read(&cells.delete),
            get: read(&cells.get),
            set: read(&cells.set),
            exists: read(&cells.exists),
            children: read(&cells.children),
            multi: read(&cells.multi),
            sync: read(&cells.sync),
            events: read(&cells.events),
            pending: read(&cells.pending),
        }
    }
}

/// A session whose requests and watch events are counted.
pub struct Counted {
    zk: Arc<dyn Zk>,
    counters: Counters,
}

impl Counted {
    /// Counts what is done in this session.
    pub fn new(zk: Arc<dyn Zk>, counters: Counters) -> Self {
        Self { zk, counters }
    }

    /// Counts a request once its future is polled, which is when it is sent.
    fn count<T: 'static>(
        &self,
        kind: fn(&Cells) -> &AtomicU64,
        path: &str,
        request: BoxFuture<'static, T>,
    ) -> BoxFuture<'static, T> {
        if path.starts_with(HARNESS) {
            return request;
        }
        let counters = self.counters.clone();
        async move {
            kind(&counters.0).fetch_add(1, Ordering::SeqCst);
            let _pending = Pending::begin(&counters);
            request.await
        }
        .boxed()
    }

    fn heard(&self, watch: Watch) -> Watch {
        let counters = self.counters.clone();
        Box::pin(Heard {
            watch: Some(watch),
            counters,
        })
    }
}

/// One pending request, until it is dropped.
struct Pending(Counters);

impl Pending {
    fn begin(counters: &Counters) -> Self {
        counters.0.pending.fetch_add(1, Ordering::SeqCst);
        Self(counters.clone())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.0.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A watch whose event is counted.
struct Heard {
    watch: Option<Watch>,
    counters: Counters,
}

impl Heard {
    fn count(&self, event: &WatchEvent) {
        if !matches!(event, WatchEvent::Session(_)) {
            self.counters.0.events.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Future for Heard {
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

impl Drop for Heard {
    /// An event that came while its recipe was busy with another was delivered all the same.
    fn drop(&mut self) {
        if let Some(event) = self.watch.take().and_then(FutureExt::now_or_never) {
            self.count(&event);
        }
    }
}

impl Zk for Counted {
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

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        self.count(|cells| &cells.create, path, self.zk.create(path, data, mode))
    }

    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()> {
        self.count(|cells| &cells.delete, path, self.zk.delete(path, version))
    }

    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)> {
        self.count(|cells| &cells.get, path, self.zk.get(path))
    }

    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)> {
        let request = self.count(|cells| &cells.get, path, self.zk.get_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move {
            request
                .await
                .map(|(data, stat, watch)| (data, stat, counted.heard(watch)))
        }
        .boxed()
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        self.count(|cells| &cells.set, path, self.zk.set(path, data, version))
    }

    fn exists(&self, path: &str) -> Reply<Option<Stat>> {
        self.count(|cells| &cells.exists, path, self.zk.exists(path))
    }

    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)> {
        let request = self.count(|cells| &cells.exists, path, self.zk.exists_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move { request.await.map(|(stat, watch)| (stat, counted.heard(watch))) }.boxed()
    }

    fn children(&self, path: &str) -> Reply<Vec<String>> {
        self.count(|cells| &cells.children, path, self.zk.children(path))
    }

    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)> {
        let request = self.count(|cells| &cells.children, path, self.zk.children_and_watch(path));
        let counted = Self::new(self.zk.clone(), self.counters.clone());
        async move { request.await.map(|(names, watch)| (names, counted.heard(watch))) }.boxed()
    }

    fn multi(&self, ops: Vec<Op>) -> BoxFuture<'static, std::result::Result<Vec<OpResult>, MultiError>> {
        self.count(|cells| &cells.multi, "", self.zk.multi(ops))
    }

    fn sync(&self, path: &str) -> Reply<()> {
        self.count(|cells| &cells.sync, path, self.zk.sync(path))
    }

    fn close(&self) -> BoxFuture<'static, SessionState> {
        self.zk.close()
    }
}
