//! The operations of a register: `read`, `write`, `cas`.

use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::register::{RegisterAnswer as Answered, RegisterContent, RegisterRequest as Asked, f};

use super::REGISTER;
use crate::protocol::Request;
use crate::recipes::bug::Bug;
use crate::recipes::requests::{SCRATCH, overdue, touch};
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse};
use crate::zk::{Error, Stat, Zk, session_hex};

/// What the register held, or holds now, as the transaction `mzxid` left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterReading {
    /// Its value; `None` for nil.
    pub value: Option<i64>,
    /// The transaction.
    pub mzxid: i64,
    /// The session that asked.
    pub session: i64,
}

/// A register, as one client uses it: one operation at a time.
///
/// It repeats nothing: a write that has no known outcome is answered as unknown. When its session is over it goes on in
/// a new one.
pub struct RegisterClient {
    env: Env,
    handle: Handle,
    prelude: Prelude,
}

impl RegisterClient {
    /// A client that begins to open its session.
    pub fn new(env: &Env, prelude: Prelude) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            prelude,
        }
    }

    /// Reads the value.
    ///
    /// # Errors
    /// [`OpError::Fail`]: a read leaves nothing behind.
    pub async fn read(&self) -> Result<RegisterReading, OpError> {
        let zk = self.handle.live().await;
        let before = self.prelude.perform(zk.as_ref()).await;
        before.map_err(|error| OpError::Fail(format!("before the read: {error}")))?;
        let (held, _) = look(zk.as_ref()).await?;
        Ok(held)
    }

    /// Writes a value.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if it certainly was not written.
    pub async fn write(&self, value: i64) -> Result<RegisterReading, OpError> {
        self.set(self.handle.live().await.as_ref(), value, None).await
    }

    /// Writes `to` if the value is `from`: looks, then writes that version. Whatever the server it looks at has missed,
    /// the version decides.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if `to` certainly was not written; it is no evidence about the value, since the look may
    /// be stale.
    pub async fn cas(&self, from: i64, to: i64) -> Result<RegisterReading, OpError> {
        let zk = self.handle.live().await;
        let (held, stat) = look(zk.as_ref()).await?;
        if held.value != Some(from) {
            return Err(OpError::Fail("mismatch".to_string()));
        }
        self.set(zk.as_ref(), to, Some(stat.version)).await
    }

    async fn set(&self, zk: &dyn Zk, value: i64, version: Option<i32>) -> Result<RegisterReading, OpError> {
        match zk.set(REGISTER, value.to_string().as_bytes(), version).await {
            Ok(stat) => Ok(RegisterReading {
                value: Some(value),
                mzxid: stat.mzxid,
                session: zk.session(),
            }),
            Err(Error::BadVersion) => Err(OpError::Fail("bad-version".to_string())),
            Err(Error::Unknown(why)) if self.env.has(Bug::UnknownWriteFails) => Err(OpError::Fail(why)),
            Err(error) => Err(OpError::from_error("write", &error)),
        }
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Answer> {
        let (what, held) = match parse(request)? {
            Asked::Read {} => {
                let held = self.read().await?;
                (RegisterContent::Value { value: held.value }, held)
            }
            Asked::Write { value } => {
                let held = self.write(value).await?;
                (RegisterContent::Value { value: held.value }, held)
            }
            Asked::Cas { from, to } => (RegisterContent::Swapped { from, to }, self.cas(from, to).await?),
        };
        Ok(Answer::ok(Answered {
            what,
            mzxid: held.mzxid,
            session: session_hex(held.session),
            server: self.env.server.as_deref().map(str::to_owned),
        }))
    }
}

/// What comes before the read of the znode, in the session that reads afterwards. Nothing of the register is changed by
/// it.
pub enum Prelude {
    /// `register/read`, nothing: the server answers a read by itself, from what it has received. One that lags behind
    /// its leader, or is deposed and has not noticed, answers old values.
    Nothing,
    /// `register/sync-read`, a sync: the server catches up with the leader that it follows.
    ///
    /// Not enough under faults: sync is no quorum operation, so a leader that was deposed and has not noticed answers
    /// it from its own state (ZOOKEEPER-1675).
    Sync,
    /// `register/quorum-read`, a write, to this znode of the client's own: a server acknowledges it only once it has
    /// applied it, and with it all that was acknowledged to anybody before it was sent. A deposed leader finds no
    /// quorum for it.
    Write(String),
}

impl Prelude {
    /// A write to a scratch znode that no other process writes. The planted R1 leaves it out.
    pub(super) fn write(env: &Env) -> Self {
        let own = format!("{SCRATCH}/register-{:032x}", env.host.random());
        if env.has(Bug::ReadsWithoutWrite) {
            Self::Nothing
        } else {
            Self::Write(own)
        }
    }

    async fn perform(&self, zk: &dyn Zk) -> Result<(), Error> {
        match self {
            Self::Nothing => Ok(()),
            Self::Sync => zk.sync(REGISTER).await,
            Self::Write(own) => touch(zk, own).await.map(drop),
        }
    }
}

async fn look(zk: &dyn Zk) -> Result<(RegisterReading, Stat), OpError> {
    let read = zk.get(REGISTER).await;
    let (data, stat) = read.map_err(|error| OpError::Fail(format!("read: {error}")))?;
    let text = String::from_utf8_lossy(&data);
    let value = match text.as_ref() {
        "" => None,
        number => match number.parse() {
            Ok(value) => Some(value),
            Err(_) => return Err(OpError::Fail(format!("{REGISTER} holds `{text}`, no number"))),
        },
    };
    let (mzxid, session) = (stat.mzxid, zk.session());
    Ok((RegisterReading { value, mzxid, session }, stat))
}

#[async_trait]
impl Service for RegisterClient {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::READ, f::WRITE, f::CAS]
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
