//! The tutorial's second lock, faults and all: each attempt has a session of its own, waits for the znode just before
//! its own by reading that one's data with a watch, and releases by closing the session.
//!
//! It does not handle unknown outcomes and ignores session events. What goes wrong before the first wait ends the
//! attempt with the error; what goes wrong later happens inside a watch callback, is printed, and the attempt never
//! ends. Either way the session stays open, and the znode stays with it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::PARENT;
use crate::recipes::grant::{GrantRecipe, Mode, ZnodeName, create, not_held, overdue};
use crate::recipes::requests::ensure_or_print;
use crate::recipes::{Env, Grant, HeldGrant, HolderState, OpError};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, SessionState, SharedValue, Watch, WatchEvent, Zk};

/// `lock/predecessor`.
#[derive(Clone)]
pub struct Predecessor {
    env: Env,
    holder: HolderState,
    /// The session of the attempt that runs, holds, or was given up.
    attempt: SharedValue<Option<Arc<dyn Zk>>>,
}

/// The result of a look at the children.
enum ChildrenRead {
    /// The own znode is the first.
    First,
    /// The znode before it is there and watched.
    Wait(Watch),
    /// The own znode is missing, which the tutorial prints.
    Lost,
}

impl Predecessor {
    /// A client without a session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            holder: HolderState::default(),
            attempt: SharedValue::new(None),
        }
    }

    async fn attempt(&self, name: &str) -> Result<Grant, OpError> {
        let zk = self.env.connect().await;
        self.attempt.update(|attempt| *attempt = Some(zk.clone()));
        ensure_or_print(zk.as_ref(), PARENT).await;
        let prefix = format!("{PARENT}/sub");
        let own = create(zk.as_ref(), &self.holder, &prefix, CreateMode::EphemeralSequential)
            .await
            .map_err(|error| OpError::from_error("create", &error))?;
        let grant = Grant::new(name, &own);
        let mut in_callback = false;
        loop {
            match look(zk.as_ref(), &grant.path).await {
                Ok(ChildrenRead::First) => break,
                Ok(ChildrenRead::Wait(watch)) => {
                    in_callback = true;
                    match watch.await {
                        WatchEvent::Deleted => {}
                        // Printed. The watch has fired, and no other one is set.
                        event => never(&format!("{event:?}")).await,
                    }
                }
                Ok(ChildrenRead::Lost) => never("the own znode is gone").await,
                Err(error) if in_callback => never(&error.to_string()).await,
                Err(error) => return Err(OpError::unknown("look at the children", &error)),
            }
        }
        self.holder.hold(HeldGrant {
            grant: grant.clone(),
            zk,
        });
        Ok(grant)
    }
}

async fn look(zk: &dyn Zk, own: &str) -> Result<ChildrenRead, Error> {
    loop {
        let mut names = zk.children(PARENT).await?;
        names.sort();
        let Some(at) = names
            .iter()
            .position(|name| own.strip_prefix(PARENT) == Some(&format!("/{name}")))
        else {
            return Ok(ChildrenRead::Lost);
        };
        if at == 0 {
            return Ok(if zk.exists(own).await?.is_some() {
                ChildrenRead::First
            } else {
                ChildrenRead::Lost
            });
        }
        let before = format!("{PARENT}/{}", names[at - 1]);
        match zk.get_and_watch(&before).await {
            Ok((_, _, watch)) => return Ok(ChildrenRead::Wait(watch)),
            Err(error) => {
                if zk.exists(&before).await?.is_some() {
                    return Err(error);
                }
            }
        }
    }
}

/// The tutorial prints, and waits for a latch that is never opened.
async fn never(why: &str) {
    crate::stderr::say(&format!("this attempt never ends: {why}"));
    pending::<()>().await
}

#[async_trait]
impl GrantRecipe for Predecessor {
    async fn acquire(&self, name: &str, _: Mode, deadline: Option<Duration>) -> Result<Grant, OpError> {
        let attempt = self.env.within(deadline, self.attempt(name)).await;
        let result = attempt.unwrap_or_else(|| Err(overdue()));
        if result.is_err() {
            // The session stays open, and its znode with it, but the recipe forgets them.
            self.holder.forget();
        }
        result
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError> {
        let held = self.holder.let_go(name).ok_or_else(not_held)?;
        self.attempt.update(|attempt| *attempt = None);
        let state = self.env.within(deadline, held.zk.close()).await;
        self.holder.forget();
        match state.ok_or_else(overdue)? {
            SessionState::Closed => Ok(Some(held.grant.znode())),
            _ => Ok(None),
        }
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::or_temporary(&self.attempt, &self.env).await
    }
}
