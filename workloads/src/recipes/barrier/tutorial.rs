//! The tutorial's barrier, faults and all: members join by an ephemeral sequential znode and count the children of the
//! one parent, `start` among them; a client that counts enough of them creates `start`, and a waiting application
//! starts when that appears.
//!
//! Each client that counts enough members tries to create it, so that several do, and all but one end with an error. An
//! error ends a join and leaves its znodes to the session. `start` goes with the session of its creator, and so do
//! members, silently.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::barrier::{BarrierAnswer as Answered, BarrierRequest as Asked, f};

use super::{MEMBERS, ensure, overdue};
use crate::protocol::Request;
use crate::recipes::grant::create;
use crate::recipes::{Env, HolderState, OpError, OwnZnode, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse, unknown};
use crate::zk::{CreateMode, SharedValue, WatchEvent, Zk, session_hex};

/// `barrier/tutorial`.
pub struct Tutorial {
    env: Env,
    holder: HolderState,
    /// The session of the round: opened by its first operation, closed by `close`.
    session: SharedValue<Option<Arc<dyn Zk>>>,
}

impl Tutorial {
    /// A client without a session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            holder: HolderState::default(),
            session: SharedValue::new(None),
        }
    }

    async fn open(&self) -> Arc<dyn Zk> {
        // A program that finds its session over is started again, as the tutorial leaves nothing else.
        let open = self.session.with(Clone::clone).filter(|zk| !zk.state().is_over());
        if let Some(zk) = open {
            return zk;
        }
        self.holder.forget();
        let zk = self.env.connect().await;
        self.session.update(|session| *session = Some(zk.clone()));
        if let Err(error) = ensure(zk.as_ref(), MEMBERS).await {
            crate::stderr::say(&format!("create {MEMBERS}: {error}"));
        }
        zk
    }

    async fn join(&self, round: i64, members: usize, member: u64) -> Result<Answer, OpError> {
        let zk = self.open().await;
        let start = format!("{MEMBERS}/start");
        // The member's own watch, which the tutorial sets and a member does not wait for.
        let (_, _watch) = zk
            .exists_and_watch(&start)
            .await
            .map_err(|error| OpError::Fail(format!("exists: {error}")))?;
        let own = self
            .create(
                zk.as_ref(),
                &format!("{MEMBERS}/x{member}"),
                CreateMode::EphemeralSequential,
            )
            .await?;
        let (children, _) = zk
            .children_and_watch(MEMBERS)
            .await
            .map_err(|error| OpError::unknown("count", &error))?;
        if children.len() >= members {
            // With the member's znode left behind no error of this is a certain failure.
            self.create(zk.as_ref(), &start, CreateMode::Ephemeral)
                .await
                .map_err(|(OpError::Fail(why) | OpError::Info(why))| OpError::Info(format!("start: {why}")))?;
        }
        Ok(Answer::ok(Answered::Member {
            round,
            znode: ZnodeName::from(&own),
            session: session_hex(zk.session()),
        }))
    }

    async fn create(&self, zk: &dyn Zk, path: &str, mode: CreateMode) -> Result<OwnZnode, OpError> {
        let created = create(zk, &self.holder, path, mode).await;
        created.map_err(|error| OpError::from_error("create", &error))
    }

    async fn enter(&self, round: i64) -> Result<Answer, OpError> {
        let zk = self.open().await;
        // A client that only waits leaves nothing behind.
        let (there, watch) = zk
            .exists_and_watch(&format!("{MEMBERS}/start"))
            .await
            .map_err(|error| OpError::Fail(format!("exists: {error}")))?;
        if there.is_none()
            && let WatchEvent::Session(state) = watch.await
        {
            return Err(OpError::Fail(format!("the session is {} while waiting", state.name())));
        }
        let session = session_hex(zk.session());
        Ok(Answer::ok(Answered::Opened { round, session }))
    }

    async fn close(&self, round: i64) -> Result<Answer, OpError> {
        if let Some(zk) = self.session.update(Option::take) {
            zk.close().await;
        }
        self.holder.forget();
        Ok(Answer::ok(Answered::Round { round }))
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Answer> {
        Ok(match parse(request)? {
            Asked::Join { round, members, member } => self.join(round, members, member).await?,
            Asked::Enter { round, .. } => self.enter(round).await?,
            Asked::Close { round } => self.close(round).await?,
            _ => return Err(unknown(request)),
        })
    }
}

#[async_trait]
impl Service for Tutorial {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::JOIN, f::ENTER, f::CLOSE]
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
        SessionHandle::or_temporary(&self.session, &self.env).await
    }

    fn holder(&self) -> Option<&HolderState> {
        Some(&self.holder)
    }
}
