//! Where the sessions of a sequence connect from, and what strikes them there.

use super::SERVERS;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zooquake_workloads::zk::sim::{Fate, Net, Refusal, ScriptedRequest, World};
use zooquake_workloads::zk::{Connect, Host, SessionState, Zk};

/// What is lost of a request. The connection ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The request, before a server sees it.
    Request,
    /// The reply, if it is a success; one with an error is passed on.
    Reply,
}

/// A host from which one session at a time is open.
pub trait Line: Send + Sync {
    /// Opens a session.
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>>;

    /// Ends the connection. The client finds a server by itself.
    fn cut(&self) -> BoxFuture<'static, ()>;

    /// Has the next request lost that is no sync.
    fn lose(&self, loss: Loss);

    /// Loses nothing any more; whether something was lost since [`Line::lose`].
    fn lost(&self) -> bool;

    /// Closes the session from another connection. Its client learns of it by itself.
    fn expire(&self, session: i64) -> BoxFuture<'static, ()>;
}

/// Whether a server is struck in a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storms {
    Never,
    HalfWay,
}

/// A server that is killed or frozen for a while, and back again.
pub struct Strike {
    /// Ready when an operation is to begin: just before, or while, the server is struck.
    pub begins: BoxFuture<'static, ()>,
    /// Ready when all servers serve again.
    pub is_over: BoxFuture<'static, ()>,
}

/// Gives each session of a sequence a host of its own, and strikes the servers.
pub trait LineSource: Send + Sync {
    fn line(&self) -> Arc<dyn Line>;

    /// A sequence begins; it is played until what is returned is dropped.
    fn enter(&self) -> BoxFuture<'static, Box<dyn Send>>;

    /// Strikes a server, once.
    fn strike(&self) -> Strike;
}

/// Hosts of the model, in its world.
pub struct InMemory(pub Net, pub World);

impl LineSource for InMemory {
    fn line(&self) -> Arc<dyn Line> {
        Arc::new(MemoryLine {
            net: self.0.host(),
            lost: Arc::default(),
        })
    }

    fn enter(&self) -> BoxFuture<'static, Box<dyn Send>> {
        ready(Box::new(()) as Box<dyn Send>).boxed()
    }

    fn strike(&self) -> Strike {
        let (net, world) = (self.0.clone(), self.1.clone());
        let (server, kills) = world.draw(|rng| (rng.usize(..SERVERS), rng.bool()));
        // It strikes a moment before the operation, while it is under way, or after it.
        let [strikes, begins] = [0, 1].map(|_| Duration::from_micros(world.draw(|rng| rng.u64(..3_000))));
        let back = strikes + Duration::from_millis(world.draw(|rng| rng.u64(200..2_000)));
        let (struck, whole) = (net.clone(), net.clone());
        world.after(strikes, move || match kills {
            true => struck.server().kill_server(server),
            false => struck.server().freeze(server),
        });
        world.after(back, move || match kills {
            true => net.server().start_server(server),
            false => net.server().thaw(server),
        });
        let slept = world.clone();
        let is_over = async move {
            slept.sleep(back).await;
            while !(0..SERVERS).all(|server| whole.server().state_of(server).is_some()) {
                slept.sleep(Duration::from_millis(10)).await;
            }
        };
        Strike {
            begins: world.sleep(begins),
            is_over: is_over.boxed(),
        }
    }
}

struct MemoryLine {
    net: Net,
    lost: Arc<AtomicBool>,
}

impl Line for MemoryLine {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        self.net.connect()
    }

    fn cut(&self) -> BoxFuture<'static, ()> {
        let mut ensemble = self.net.server();
        ensemble.refuse(self.net.number(), Refusal::All);
        ensemble.let_through(self.net.number());
        ready(()).boxed()
    }

    fn lose(&self, loss: Loss) {
        let (host, lost) = (self.net.number(), self.lost.clone());
        lost.store(false, Ordering::SeqCst);
        self.net.server().script.push(ScriptedRequest {
            fits: Box::new(move |at, op| at == host && !["sync", "close"].contains(&op)),
            fate: match loss {
                Loss::Request => Fate::RequestLost,
                Loss::Reply => Fate::ReplyLost,
            },
            before: None,
            after: Box::new(move |_| lost.store(true, Ordering::SeqCst)),
        });
    }

    fn lost(&self) -> bool {
        self.net.server().script.clear();
        self.lost.load(Ordering::SeqCst)
    }

    fn expire(&self, session: i64) -> BoxFuture<'static, ()> {
        self.net.server().close_session(session).expect("a leader");
        ready(()).boxed()
    }
}

/// What is guarded stays whole: nothing in between can panic.
pub fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no thread that held it has panicked")
}

/// Waits until a session's server has caught up with the leader, as often as its connection is lost meanwhile.
pub async fn in_sync(zk: &Arc<dyn Zk>, path: &str) -> Result<(), String> {
    while let Err(error) = zk.sync(path).await {
        let state = match zk.state() {
            SessionState::Disconnected => zk.changed(SessionState::Disconnected).await,
            state => state,
        };
        if state.is_over() {
            return Err(format!("a session is over of itself: {error:?}"));
        }
    }
    Ok(())
}
