//! The handle of a plain client: one session, and another one only when asked for after that is over.

use std::sync::Arc;

use futures_util::FutureExt;

use super::Env;
use crate::service::SessionHandle;
use crate::zk::{SharedValue, Zk};

#[derive(Clone, Default)]
struct SessionState {
    zk: Option<Arc<dyn Zk>>,
    opening: bool,
}

/// A session handle. Clones share it.
#[derive(Clone)]
pub struct Handle {
    env: Env,
    state: SharedValue<SessionState>,
}

impl Handle {
    /// Begins to open the first session.
    pub fn open(env: &Env) -> Self {
        let handle = Self {
            env: env.clone(),
            state: SharedValue::default(),
        };
        handle.reopen();
        handle
    }

    fn reopen(&self) {
        if self.state.update(|state| std::mem::replace(&mut state.opening, true)) {
            return;
        }
        let (env, state) = (self.env.clone(), self.state.clone());
        let opening = async move {
            let zk = env.connect().await;
            state.update(|state| {
                *state = SessionState {
                    zk: Some(zk),
                    opening: false,
                }
            });
        };
        self.env.host.spawn(opening.boxed());
    }

    /// Whether there is a session, be it over.
    pub fn is_open(&self) -> bool {
        self.state.with(|state| state.zk.is_some())
    }

    /// The session, be it over; waits for the first one.
    pub async fn current(&self) -> Arc<dyn Zk> {
        self.state.until(|state| state.zk.clone()).await
    }

    /// A session whose end this client has not observed; opens another one if need be.
    pub async fn live(&self) -> Arc<dyn Zk> {
        if self
            .state
            .with(|state| state.zk.as_ref().is_some_and(|zk| zk.state().is_over()))
        {
            self.reopen();
        }
        self.state
            .until(|state| if state.opening { None } else { state.zk.clone() })
            .await
    }

    /// The session that the client's next operation would use, to confirm in: another one if the last is over, for a
    /// client that has nothing to do opens none by itself.
    pub async fn session_handle(&self) -> SessionHandle {
        SessionHandle::lasting(self.live().await)
    }
}
