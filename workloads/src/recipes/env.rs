//! What a recipe is given to work with.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

pub use zooquake_history::operation::control::Notice;

use super::bug::Bug;
use super::commit::Journal;
use crate::zk::counted::{CountedSession, Counters};
use crate::zk::real::RealEnsemble;
use crate::zk::{Connect, Host, SessionState, SharedValue, Zk, session_hex};

/// What a recipe is given to work with. Clones share it.
#[derive(Clone)]
pub struct Env {
    /// The client's name, `c1`.
    pub client: Arc<str>,
    /// Opens sessions. Recipes use [`Env::connect`], which also reports them.
    pub connect: Arc<dyn Connect>,
    /// The machine.
    pub host: Arc<dyn Host>,
    /// The real ensemble, for the one variant that is zookeeper-client's own code; `None` in a simulation.
    pub ensemble: Option<RealEnsemble>,
    /// The only server that this client may use, `n2`; `None` if it may use all.
    pub server: Option<Arc<str>>,
    /// What a site of a commit has on its disk; `None` for a file on this machine.
    pub journal: Option<Journal>,
    /// Takes notices.
    pub notify: Arc<dyn Fn(Notice) + Send + Sync>,
    /// The sessions that are open, by the events that this process has received.
    pub sessions: SharedValue<BTreeSet<i64>>,
    /// What the recipe does wrong on purpose; `None` of all but planted variants.
    pub bug: Option<Bug>,
    /// What is asked and heard in the sessions of [`Env::connect`].
    pub counters: Counters,
}

impl Env {
    /// Whether the recipe has this planted bug.
    pub fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Opens a new session; tries without end.
    pub async fn connect(&self) -> Arc<dyn Zk> {
        let zk: Arc<dyn Zk> = Arc::new(CountedSession::new(self.connect.connect().await, self.counters.clone()));
        self.tell_of(zk.clone());
        zk
    }

    /// Reports what becomes of a session that was opened elsewhere. What is done in it is not counted.
    pub fn report(&self, zk: Arc<dyn Zk>) {
        self.counters.miss();
        self.tell_of(zk);
    }

    fn tell_of(&self, zk: Arc<dyn Zk>) {
        let session = zk.session();
        self.sessions.update(|sessions| sessions.insert(session));
        self.tell_state(session, SessionState::Connected);
        self.host.spawn(follow(self.clone(), zk).boxed());
    }

    fn tell_state(&self, session: i64, state: SessionState) {
        (self.notify)(Notice::Session {
            session: session_hex(session),
            state: state.name().to_string(),
        });
    }

    /// Sends the notice that a grant is held no more.
    pub fn lost(&self, grant: &str, why: &str) {
        (self.notify)(Notice::Lost {
            grant: grant.to_string(),
            why: why.to_string(),
        });
    }

    /// Names an item before it is taken.
    pub fn taking(&self, item: i64) {
        (self.notify)(Notice::Taking { item });
    }

    /// Runs `work` to its end, in the background if need be, and waits for it until the moment `deadline` of the host's
    /// clock; `None` if that came first.
    pub async fn outlast<T>(
        &self,
        deadline: Option<Duration>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T>
    where
        T: Send + 'static,
    {
        let done = SharedValue::new(Mutex::new(None));
        let tell = done.clone();
        let task = async move {
            let result = work.await;
            tell.update(|done| *done = Mutex::new(Some(result)));
        };
        self.host.spawn(task.boxed());
        self.within(
            deadline,
            done.until(|done| done.lock().unwrap_or_else(PoisonError::into_inner).take()),
        )
        .await
    }

    /// Runs `work` until the moment `deadline` of the host's clock; `None` if that came first.
    pub async fn within<T>(&self, deadline: Option<Duration>, work: impl Future<Output = T> + Send) -> Option<T> {
        let Some(deadline) = deadline else {
            return Some(work.await);
        };
        let sleep = self.host.sleep(deadline.saturating_sub(self.host.now()));
        match select(std::pin::pin!(work), sleep).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(((), _)) => None,
        }
    }
}

/// Reports each change until the session is over. It keeps the session open meanwhile: who wants it closed calls
/// [`Zk::close`], and a session that a recipe forgets stays open, as it does in Java.
async fn follow(env: Env, zk: Arc<dyn Zk>) {
    let session = zk.session();
    let mut state = SessionState::Connected;
    while !state.is_over() {
        state = zk.changed(state).await;
        if state.is_over() {
            env.sessions.update(|sessions| sessions.remove(&session));
        }
        env.tell_state(session, state);
    }
}
