//! A client's process: its tasks run, stand still or are no more, and its sessions live while a server serves it.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zooquake_workloads::zk::sim::{Net, World};
use zooquake_workloads::zk::{Connect, Host, SessionState, Shared, Zk};

/// How long a connection is away when it goes from one server to another.
const MOVES: Duration = Duration::from_millis(50);

/// How long a client takes to come back.
const BACK: Duration = Duration::from_millis(2);

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It does.
    Runs,
    /// It does nothing, and will go on.
    Frozen,
    /// It has been killed.
    Dead,
}

#[derive(Debug, Default)]
struct Link {
    /// The server that serves it.
    server: Option<String>,
    sessions: BTreeSet<i64>,
    /// Counts the changes, so that what was to follow one knows whether another has come since.
    changes: u64,
}

/// A process. Clones share it.
#[derive(Clone)]
pub struct Process {
    world: World,
    net: Net,
    session_timeout: Duration,
    life: Shared<Life>,
    link: Shared<Link>,
}

impl Process {
    /// A process that runs, and that no server serves yet.
    pub fn new(world: &World, net: &Net, session_timeout: Duration) -> Self {
        Self {
            world: world.clone(),
            net: net.clone(),
            session_timeout,
            life: Shared::new(Life::Runs),
            link: Shared::new(Link::default()),
        }
    }

    /// Whether it runs.
    pub fn life(&self) -> Life {
        self.life.with(|life| *life)
    }

    /// Freezes, thaws or kills it; a dead one stays dead.
    pub fn live(&self, to: Life) {
        self.life.update(|life| {
            if *life != Life::Dead {
                *life = to;
            }
        });
    }

    /// The server that serves it.
    pub fn server(&self) -> Option<String> {
        self.link.with(|link| link.server.clone())
    }

    /// Whether a session is one of this process.
    pub fn owns(&self, session: i64) -> bool {
        self.link.with(|link| link.sessions.contains(&session))
    }

    /// From now on it is served by this server, or by none.
    pub fn serve(&self, server: Option<String>) {
        let before = self.server();
        if before == server {
            return;
        }
        let changes = self.link.update(|link| {
            link.changes += 1;
            link.server.clone_from(&server);
            link.changes
        });
        match (before, server) {
            (_, None) => self.lose(changes),
            (Some(_), Some(_)) => {
                self.tell(SessionState::Disconnected);
                self.come_back(changes, MOVES);
            }
            (None, Some(_)) => self.come_back(changes, BACK),
        }
    }

    /// Closes the session that it opened last from outside; it learns of that when it comes back. `None` if that session is
    /// over already, or not connected.
    pub fn expire(&self) -> Option<i64> {
        let session = self.link.with(|link| link.sessions.last().copied())?;
        let mut server = self.net.server();
        if server.sessions[&session].with(|state| *state != SessionState::Connected) {
            return None;
        }
        server.end(session, SessionState::Disconnected);
        let process = self.clone();
        let learns = async move {
            process.world.sleep(BACK).await;
            process.net.server().tell(session, SessionState::Expired);
        };
        self.world.spawn(learns.boxed());
        Some(session)
    }

    fn unchanged(&self, changes: u64) -> bool {
        self.link.with(|link| link.changes == changes)
    }

    fn tell(&self, state: SessionState) {
        let server = self.net.server();
        self.link
            .with(|link| link.sessions.iter().for_each(|session| server.tell(*session, state)));
    }

    /// Its sessions expire if nothing changes before.
    fn lose(&self, changes: u64) {
        self.tell(SessionState::Disconnected);
        let process = self.clone();
        let expiry = async move {
            process.world.sleep(process.session_timeout).await;
            if process.unchanged(changes) {
                let sessions = process.link.with(|link| link.sessions.clone());
                let mut server = process.net.server();
                sessions
                    .into_iter()
                    .for_each(|session| server.end(session, SessionState::Expired));
            }
        };
        self.world.spawn(expiry.boxed());
    }

    fn come_back(&self, changes: u64, after: Duration) {
        let process = self.clone();
        let back = async move {
            process.world.sleep(after).await;
            if process.unchanged(changes) {
                process.tell(SessionState::Connected);
            }
        };
        self.world.spawn(back.boxed());
    }

    /// The task, as long as the process lives, and only while it runs.
    fn gated(&self, mut task: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let life = self.life.clone();
        let mut thaws: Option<BoxFuture<'static, ()>> = None;
        let gate = poll_fn(move |context| {
            loop {
                match life.with(|life| *life) {
                    Life::Dead => return Poll::Ready(()),
                    Life::Runs => return task.as_mut().poll(context),
                    Life::Frozen => {
                        let life = life.clone();
                        let thaw = async move { life.until(|life| (*life != Life::Frozen).then_some(())).await };
                        let thaws = thaws.get_or_insert_with(|| thaw.boxed());
                        std::task::ready!(thaws.as_mut().poll(context));
                    }
                }
                thaws = None;
            }
        });
        gate.boxed()
    }
}

impl Host for Process {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.world.sleep(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.world.spawn(self.gated(task));
    }

    fn random(&self) -> u128 {
        self.world.random()
    }
}

impl Connect for Process {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        let process = self.clone();
        async move {
            process.link.until(|link| link.server.clone()).await;
            let zk = process.net.connect().await;
            let (served, changes) = process.link.update(|link| {
                link.sessions.insert(zk.session());
                (link.server.is_some(), link.changes)
            });
            // It was opened while the connection went.
            if !served {
                process.lose(changes);
            }
            zk
        }
        .boxed()
    }
}
