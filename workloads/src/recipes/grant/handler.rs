//! The operations of whatever grants: of a lock `acquire`, `write`, `release`, where readers share it also `read`, of a
//! semaphore `work` instead of `write`.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use zooquake_history::operation::grant::{GrantAnswer as Answered, GrantRequest as Asked, TOO_LONG};
use zooquake_history::operation::{Family, GrantOps, Mode, ZnodeName};

use super::GrantRecipe;
use crate::protocol::Request;
use crate::recipes::bug::Bug;
use crate::recipes::{Env, Grant, HolderState, NOT_HELD, OwnZnode, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse};
use crate::zk::session_hex;

/// A recipe that grants, as the client program drives it.
pub struct GrantHandler {
    env: Env,
    ops: GrantOps,
    recipe: Box<dyn GrantRecipe>,
}

impl GrantHandler {
    /// Serves this recipe as one of a family that grants.
    pub fn new(env: &Env, family: &Family, recipe: impl GrantRecipe + 'static) -> Self {
        Self {
            env: env.clone(),
            ops: family.grant_ops(),
            recipe: Box::new(recipe),
        }
    }

    async fn acquire(&self, name: &str, mode: Mode, deadline: Option<Duration>) -> Result<Answer, Answer> {
        let now = self.env.host.now();
        if let Some(held) = self.recipe.holder().held().filter(|held| held.grant.outlasts(now)) {
            return Err(Answer::fail(format!("it holds {} already", held.grant.name)));
        }
        let grant = self.recipe.acquire(name, mode, deadline).await?;
        // What the clock ends goes with no znode.
        let lives = grant.until.is_none();
        Ok(Answer::ok(Answered::Granted {
            znode: lives.then(|| grant.znode()),
            session: lives.then(|| session_hex(grant.session)),
            token: grant.token,
            ack: self.ack(&grant),
            grant: grant.name,
        }))
    }

    async fn release(&self, grant: String, deadline: Option<Duration>) -> Result<Answer, Answer> {
        let removed = self.recipe.release(&grant, deadline).await?;
        Ok(Answer::ok(Answered::Released { grant, removed }))
    }

    /// Checks its belief, and begins to work.
    fn begin(&self, grant: &str) -> Result<(Grant, WorkGuard), Answer> {
        let begun = self.recipe.holder().work(grant);
        begun.ok_or_else(|| Answer::fail(NOT_HELD))
    }

    async fn work(&self, grant: String, work: Duration) -> Result<Answer, Answer> {
        let (held, _working) = self.begin(&grant)?;
        let now = self.env.host.now();
        match held.until.filter(|_| !self.env.has(Bug::WorksBeyondEnd)) {
            Some(until) if until <= now => return Err(Answer::fail(NOT_HELD)),
            Some(until) if until < now + work => return Err(Answer::fail(TOO_LONG)),
            _ => {}
        }
        self.env.host.sleep(work).await;
        Ok(Answer::ok(Answered::Worked { grant }))
    }

    /// Checks its belief, works, and reads without checking again.
    async fn read(&self, grant: String, work: Duration) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let (_, working) = self.begin(&grant)?;
        self.env.host.sleep(work).await;
        Ok((Answer::ok(Answered::Reading { grant }), Some(working)))
    }

    /// Checks its belief, works, and writes without checking again, as real critical sections do.
    async fn write(
        &self,
        (grant, value, work): (String, Value, Duration),
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let (held, working) = self.begin(&grant)?;
        self.env.host.sleep(work).await;
        if !self.recipe.guards() {
            let (token, ack) = (self.recipe.token(&held).await, self.ack(&held));
            let sent = Answered::Sent {
                grant,
                value,
                token,
                ack,
            };
            return Ok((Answer::ok(sent), Some(working)));
        }
        let written = self.env.within(deadline, self.recipe.write(&grant, &value)).await;
        let about = |mzxid| Answered::Written { grant, value, mzxid };
        let answer = match written {
            Some(Ok(mzxid)) => Answer::ok(about(Some(mzxid))),
            Some(Err(ended)) => Answer::from(ended).with(about(None)),
            None => Answer::info("timed out").with(about(None)),
        };
        Ok((answer, Some(working)))
    }

    /// The znode with which the client has acknowledged that it leads; the outer `None` where the recipe promises no
    /// acknowledgements.
    fn ack(&self, grant: &Grant) -> Option<Option<ZnodeName>> {
        self.recipe
            .acknowledges()
            .then(|| grant.ack.as_ref().map(ZnodeName::from))
    }
}

#[async_trait]
impl Service for GrantHandler {
    fn operations(&self) -> Vec<&'static str> {
        let GrantOps {
            takes,
            reads,
            works,
            gives,
        } = self.ops;
        [Some(takes), reads, Some(works), Some(gives)]
            .into_iter()
            .flatten()
            .collect()
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        Ok(match parse(request)? {
            Asked::Acquire { grant, mode } => (self.acquire(&grant, mode, deadline).await?, None),
            Asked::Elect { grant } => (self.acquire(&grant, Mode::Exclusive, deadline).await?, None),
            Asked::Release { grant } | Asked::Resign { grant } => (self.release(grant, deadline).await?, None),
            Asked::Read { grant, work_ms } => self.read(grant, Duration::from_millis(work_ms)).await?,
            Asked::Write { grant, value, work_ms } => {
                let work = Duration::from_millis(work_ms);
                self.write((grant, value, work), deadline).await?
            }
            Asked::Work { grant, work_ms } => (self.work(grant, Duration::from_millis(work_ms)).await?, None),
        })
    }

    async fn session(&self) -> SessionHandle {
        self.recipe.session().await
    }

    fn holder(&self) -> Option<&HolderState> {
        Some(self.recipe.holder())
    }

    async fn znodes(&self) -> Vec<OwnZnode> {
        self.recipe.znodes().await
    }
}
