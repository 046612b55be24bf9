//! Sessions with the server in memory: each request takes a moment to get there and back, in order, and waits while the
//! connection is lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::script::{Fate, Scripted};
use super::server::{PARENTS, Server};
use super::world::World;
use crate::zk::{
    Connect, CreateMode, Created, Error, Host, MultiError, Op, OpResult, Reply, SessionState, Shared, Stat, Watch,
    WatchEvent, Zk,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// How long a message takes.
const WAY: Duration = Duration::from_millis(1);

/// How long a connection stays lost if nobody says otherwise.
pub const OUTAGE: Duration = Duration::from_millis(50);

/// The server, as those see it who connect to it.
#[derive(Clone)]
pub struct Net {
    world: World,
    server: Arc<Mutex<Server>>,
}

impl Net {
    /// A server with the znodes that locks and elections stand on.
    pub fn new(world: &World) -> Self {
        let server = Server::with(&[&["/zooquake", "/zooquake/scratch", "/resource"], PARENTS].concat());
        Self {
            world: world.clone(),
            server: Arc::new(Mutex::new(server)),
        }
    }

    /// The server itself.
    pub fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The contender znodes there are.
    pub fn locks(&self) -> Vec<String> {
        let server = self.server();
        PARENTS
            .iter()
            .filter_map(|parent| server.children(parent).ok())
            .flatten()
            .collect()
    }

    /// The session that was opened last; 0 before the first one.
    pub fn last_session(&self) -> i64 {
        self.server().sessions.keys().next_back().copied().unwrap_or(0)
    }

    /// Loses a session's connection for this long.
    pub fn lose(&self, session: i64, time: Duration) {
        self.server().tell(session, SessionState::Disconnected);
        let net = self.clone();
        let back = async move {
            net.world.sleep(time).await;
            net.server().tell(session, SessionState::Connected);
        };
        self.world.spawn(back.boxed());
    }

    /// Loses a session's connection, and lets it expire after this time.
    pub fn expire(&self, session: i64, time: Duration) {
        self.server().tell(session, SessionState::Disconnected);
        let net = self.clone();
        let end = async move {
            net.world.sleep(time).await;
            net.server().end(session, SessionState::Expired);
        };
        self.world.spawn(end.boxed());
    }
}

impl Connect for Net {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        let net = self.clone();
        async move {
            net.world.sleep(WAY).await;
            let (session, state) = net.server().open();
            Arc::new(Fake { net, session, state }) as Arc<dyn Zk>
        }
        .boxed()
    }
}

#[derive(Clone)]
struct Fake {
    net: Net,
    session: i64,
    state: Shared<SessionState>,
}

impl Fake {
    /// A request is on its way from the first poll on, whatever becomes of the future.
    fn request<T, F>(&self, op: &'static str, apply: F) -> Reply<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Server) -> Result<T, Error> + Send + 'static,
    {
        let zk = self.clone();
        async move {
            let reply = Shared::new(Mutex::new(None));
            let (task, slot) = (zk.clone(), reply.clone());
            let travel = async move {
                let result = task.travel(op, apply).await;
                slot.update(|slot| *slot = Mutex::new(Some(result)));
            };
            zk.net.world.spawn(travel.boxed());
            let taken = |reply: &Mutex<Option<_>>| reply.lock().unwrap_or_else(PoisonError::into_inner).take();
            reply.until(taken).await
        }
        .boxed()
    }

    async fn travel<T>(
        &self,
        op: &'static str,
        apply: impl FnOnce(&mut Server) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let lost = |why: &str| Err(Error::Unknown(why.to_string()));
        let state = self
            .state
            .until(|state| (*state != SessionState::Disconnected).then_some(*state))
            .await;
        if state.is_over() {
            return lost(state.name());
        }
        self.net.world.sleep(WAY).await;
        let (fate, result) = {
            let mut server = self.net.server();
            let state = self.state();
            if state.is_over() || (state == SessionState::Disconnected && !server.late) {
                return lost("connection lost");
            }
            let session = self.session;
            let scripted = server
                .script
                .iter_mut()
                .position(|scripted| (scripted.fits)(session, op));
            let scripted = scripted.map(|at| server.script.remove(at));
            let (fate, before, after) = match scripted {
                Some(Scripted {
                    fate, before, after, ..
                }) => (fate, Some(before), Some(after)),
                None => (Fate::Answered, None, None),
            };
            before.into_iter().for_each(|before| before(&mut server));
            let result = match fate {
                Fate::RequestLost => lost("connection lost"),
                Fate::Answered | Fate::ReplyLost => apply(&mut server),
            };
            after.into_iter().for_each(|after| after(&server));
            (fate, result)
        };
        if fate != Fate::Answered {
            self.net.lose(self.session, OUTAGE);
        }
        self.net.world.sleep(WAY).await;
        if self.state() == SessionState::Connected {
            result
        } else {
            lost("connection lost")
        }
    }

    fn heard(&self, fired: Shared<Option<WatchEvent>>) -> Watch {
        let zk = self.clone();
        async move {
            let fire = fired.until(Clone::clone);
            let over = zk.state.until(|state| state.is_over().then_some(*state));
            let event = match futures_util::future::select(std::pin::pin!(fire), std::pin::pin!(over)).await {
                futures_util::future::Either::Left((event, _)) => event,
                futures_util::future::Either::Right((state, _)) => return WatchEvent::Session(state),
            };
            // What fires while the connection is lost arrives on reconnect.
            match zk
                .state
                .until(|state| (*state != SessionState::Disconnected).then_some(*state))
                .await
            {
                SessionState::Connected => event,
                state => WatchEvent::Session(state),
            }
        }
        .boxed()
    }
}

impl Zk for Fake {
    fn session(&self) -> i64 {
        self.session
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn state(&self) -> SessionState {
        self.state.with(|state| *state)
    }

    fn changed(&self, from: SessionState) -> BoxFuture<'static, SessionState> {
        let state = self.state.clone();
        async move { state.until(|state| (*state != from).then_some(*state)).await }.boxed()
    }

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        let (session, path, data) = (self.session, path.to_string(), data.to_vec());
        self.request("create", move |server| server.create(session, &path, &data, mode))
    }

    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()> {
        let path = path.to_string();
        self.request("delete", move |server| server.delete(&path, version))
    }

    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)> {
        let path = path.to_string();
        self.request("get", move |server| server.get(&path))
    }

    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)> {
        let (zk, path) = (self.clone(), path.to_string());
        self.request("get", move |server| {
            let (data, stat) = server.get(&path)?;
            Ok((data, stat, zk.heard(server.watch(&path, false))))
        })
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        let (path, data) = (path.to_string(), data.to_vec());
        self.request("set", move |server| server.set(&path, &data, version))
    }

    fn exists(&self, path: &str) -> Reply<Option<Stat>> {
        let path = path.to_string();
        self.request("exists", move |server| Ok(server.exists(&path)))
    }

    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)> {
        let (zk, path) = (self.clone(), path.to_string());
        self.request("exists", move |server| {
            Ok((server.exists(&path), zk.heard(server.watch(&path, false))))
        })
    }

    fn children(&self, path: &str) -> Reply<Vec<String>> {
        let path = path.to_string();
        self.request("children", move |server| server.children(&path))
    }

    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)> {
        let (zk, path) = (self.clone(), path.to_string());
        self.request("children", move |server| {
            let names = server.children(&path)?;
            Ok((names, zk.heard(server.watch(&path, true))))
        })
    }

    fn multi(&self, ops: Vec<Op>) -> BoxFuture<'static, Result<Vec<OpResult>, MultiError>> {
        let session = self.session;
        let asked = self.request("multi", move |server| Ok(server.multi(session, &ops)));
        let whole = |error| Err(MultiError { index: None, error });
        asked.map(move |answer| answer.unwrap_or_else(whole)).boxed()
    }

    fn sync(&self, _: &str) -> Reply<()> {
        self.request("sync", |_| Ok(()))
    }

    fn close(&self) -> BoxFuture<'static, SessionState> {
        let (net, session, state) = (self.net.clone(), self.session, self.state.clone());
        async move {
            state
                .until(|state| (*state != SessionState::Disconnected).then_some(()))
                .await;
            net.world.sleep(WAY).await;
            net.server().end(session, SessionState::Closed);
            state.with(|state| *state)
        }
        .boxed()
    }
}
