//! The operations of a counter: `increment`, `get`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::counter::{CounterAnswer as Answered, CounterContent, CounterRequest as Asked, f};

use super::COUNTER;
use crate::protocol::Request;
use crate::recipes::bug::Bug;
use crate::recipes::requests::{overdue, steady};
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse};
use crate::zk::{Error, SessionState, Stat, Zk, session_hex};

/// What the counter held, or holds now, as the transaction `mzxid` left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterReading {
    /// The counter's value after that transaction.
    pub value: i64,
    /// The znode's version after that transaction.
    pub version: i32,
    /// The transaction; `None` where it is not known.
    pub mzxid: Option<i64>,
    /// The session that asked.
    pub session: i64,
}

impl CounterReading {
    /// What a write left that a client did itself.
    pub(super) fn written(value: i64, stat: Stat, zk: &dyn Zk) -> Self {
        Self {
            value,
            version: stat.version,
            mzxid: Some(stat.mzxid),
            session: zk.session(),
        }
    }
}

/// How a variant adds 1.
#[async_trait]
pub trait Increment: Send + Sync {
    /// Adds 1, and returns the new value.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if it certainly added nothing.
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError>;
}

/// A counter, as one client uses it: one operation at a time. When its session is over it goes on in a new one.
pub struct CounterClient {
    env: Env,
    pub(super) handle: Handle,
    increment: Arc<dyn Increment>,
    /// Whether it has seen its connection lost ([`Bug::RefusesAfterCut`]).
    away: AtomicBool,
}

impl CounterClient {
    /// A client that begins to open its session.
    pub fn new(env: &Env, increment: Arc<dyn Increment>) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            increment,
            away: AtomicBool::new(false),
        }
    }

    /// Refuses what a client with a bug refuses.
    async fn refuse(&self) -> Result<(), OpError> {
        if !self.env.has(Bug::RefusesAfterCut) && !self.env.has(Bug::KeepsDeadSession) {
            return Ok(());
        }
        let state = self.handle.current().await.state();
        if self.env.has(Bug::KeepsDeadSession) {
            return match state.is_over() {
                true => Err(OpError::Info("the session is over".to_owned())),
                false => Ok(()),
            };
        }
        let away = self.away.fetch_or(state != SessionState::Connected, Ordering::Relaxed);
        match away || state != SessionState::Connected {
            true => Err(OpError::Fail("connection state: suspended".to_owned())),
            false => Ok(()),
        }
    }

    /// Waits until it makes sense to send the same again.
    pub(super) async fn pause(&self, zk: &dyn Zk) {
        steady(&self.env, zk).await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Answer> {
        let asked = parse(request)?;
        self.refuse().await?;
        let (what, held) = match asked {
            Asked::Increment {} => {
                let held = self.increment.increment(self).await?;
                (CounterContent::Made { id: held.value }, held)
            }
            Asked::Get {} => {
                let read = look(self.handle.live().await.as_ref()).await;
                let held = read.map_err(|error| OpError::Fail(format!("read: {error}")))?;
                (CounterContent::Value { value: held.value }, held)
            }
        };
        Ok(Answer::ok(Answered {
            what,
            mzxid: held.mzxid,
            session: session_hex(held.session),
            server: self.env.server.as_deref().map(str::to_owned),
        }))
    }
}

/// Reads the counter, by whatever server the session is at.
pub(super) async fn look(zk: &dyn Zk) -> Result<CounterReading, Error> {
    let (data, stat) = zk.get(COUNTER).await?;
    let text = String::from_utf8_lossy(&data);
    let value = match text.as_ref() {
        "" => 0,
        number => match number.parse() {
            Ok(value) => value,
            Err(_) => return Err(Error::BadArguments(format!("{COUNTER} holds `{text}`, no number"))),
        },
    };
    Ok(CounterReading::written(value, stat, zk))
}

/// The end of an increment whose request failed so. `unsure`: an earlier request of it may have added 1.
pub(super) fn ended(doing: &str, error: &Error, unsure: bool) -> OpError {
    match unsure {
        true => OpError::unknown(doing, error),
        false => OpError::Fail(format!("{doing}: {error}")),
    }
}

#[async_trait]
impl Service for CounterClient {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::INCREMENT, f::GET]
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
