//! A gate: its keeper raises and lifts it, and who asks to wait while it stands waits until it is lifted.
//!
//! The gate of a round is a persistent znode of its own, so that it outlasts its keeper, and that to raise and to lift
//! it may be repeated: NodeExists and NoNode are what was wanted. Who waits first writes a scratch znode, in each
//! session anew, and by that sees every gate that had been raised before; the look sets the watch, and is repeated
//! after each event and each reconnect.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{Either, select};
use zooquake_history::operation::barrier::{BarrierAnswer as Answered, BarrierRequest as Asked, f};

use super::{GATES, overdue, steady};
use crate::protocol::Request;
use crate::recipes::bug::Bug;
use crate::recipes::requests::{SCRATCH, over, touch};
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse, unknown};
use crate::zk::{CreateMode, Error, Reply, SessionState, Zk};

/// `barrier/gate`.
pub struct Gate {
    env: Env,
    handle: Handle,
    /// The znode that it writes before it looks.
    scratch: String,
}

impl Gate {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            scratch: format!("{SCRATCH}/gate-{:032x}", env.host.random()),
        }
    }

    async fn raise(&self, round: i64) -> Result<(), OpError> {
        let mode = match self.env.has(Bug::EphemeralGate) {
            true => CreateMode::Ephemeral,
            false => CreateMode::Persistent,
        };
        let create = |zk: Arc<dyn Zk>| zk.create(&gate(round), b"", mode);
        self.until_done("raise", create, Error::NodeExists).await
    }

    async fn lift(&self, round: i64) -> Result<(), OpError> {
        let delete = |zk: Arc<dyn Zk>| zk.delete(&gate(round), None);
        self.until_done("lift", delete, Error::NoNode).await
    }

    /// Repeats a request until it is known to have taken effect; `done` is the error by which it is.
    async fn until_done<T>(
        &self,
        what: &str,
        request: impl Fn(Arc<dyn Zk>) -> Reply<T>,
        done: Error,
    ) -> Result<(), OpError> {
        loop {
            let zk = self.handle.live().await;
            match request(Arc::clone(&zk)).await {
                Ok(_) => return Ok(()),
                Err(error) if error == done => return Ok(()),
                Err(error) if error.is_definite() => return Err(OpError::unknown(what, &error)),
                Err(_) => _ = steady(&self.env, zk.as_ref()).await,
            }
        }
    }

    async fn wait(&self, round: i64) -> Result<(), OpError> {
        loop {
            let zk = self.handle.live().await;
            if self.pass(zk.as_ref(), &gate(round)).await? {
                return Ok(());
            }
        }
    }

    /// Waits in one session. False if that is over before.
    async fn pass(&self, zk: &dyn Zk, gate: &str) -> Result<bool, OpError> {
        let mut wrote = self.env.has(Bug::LooksWithoutWrite);
        while !zk.state().is_over() {
            match self.look(zk, gate, &mut wrote).await {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) if error.is_definite() => return Err(OpError::unknown("wait", &error)),
                Err(_) => _ = steady(&self.env, zk).await,
            }
        }
        Ok(false)
    }

    /// Looks, after a write if there was none in the session, and waits for an event if the gate stands. False if it
    /// has to look again.
    async fn look(&self, zk: &dyn Zk, gate: &str, wrote: &mut bool) -> Result<bool, Error> {
        if !*wrote {
            touch(zk, &self.scratch).await?;
            *wrote = true;
        }
        let (there, watch) = zk.exists_and_watch(gate).await?;
        if there.is_none() {
            return Ok(true);
        }
        match select(watch, zk.changed(SessionState::Connected)).await {
            _ if self.env.has(Bug::AnyEventLifts) => return Ok(true),
            Either::Right(_) if self.env.has(Bug::GateUnwatched) => over(zk).await,
            Either::Left(_) | Either::Right(_) => {}
        }
        Ok(false)
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Answer> {
        let round = match parse(request)? {
            Asked::Raise { round } => self.raise(round).await.map(|()| round)?,
            Asked::Wait { round } => self.wait(round).await.map(|()| round)?,
            Asked::Lift { round } => self.lift(round).await.map(|()| round)?,
            _ => return Err(unknown(request)),
        };
        Ok(Answer::ok(Answered::Round { round }))
    }
}

/// The znode of a round's gate.
fn gate(round: i64) -> String {
    format!("{GATES}/{round}")
}

#[async_trait]
impl Service for Gate {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::RAISE, f::WAIT, f::LIFT]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let answer = self.env.within(deadline, self.answer(request)).await;
        Ok((answer.ok_or_else(overdue)??, None))
    }

    async fn session(&self) -> SessionHandle {
        self.handle.session_handle().await
    }
}
