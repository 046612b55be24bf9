//! What the client program asks of a recipe, whatever its family: a family is one more implementation of [`Service`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use zooquake_history::operation::membership::{GroupView, RegisteredMember};

use crate::protocol::{Outcome, Request};
use crate::recipes::{Env, HolderState, OpError, OwnZnode, WorkGuard};
use crate::zk::{SharedValue, Zk};

/// A recipe, as the client program drives it.
pub type Recipe = Arc<dyn Service>;

/// What the client program asks of a recipe. `ping`, `confirm`, `quiesce` and `view` are the program's own, and rest on
/// this.
#[async_trait]
pub trait Service: Send + Sync {
    /// The names of its operations.
    fn operations(&self) -> Vec<&'static str>;

    /// Does one of its operations, by the moment `deadline` of the host's clock. They come one at a time. With the work
    /// that goes on until the reply has arrived, if there is any.
    ///
    /// # Errors
    /// The answer to an operation that did not succeed.
    async fn serve(&self, request: &Request, deadline: Option<Duration>)
    -> Result<(Answer, Option<WorkGuard>), Answer>;

    /// The session that the client has now, to confirm in.
    async fn session(&self) -> SessionHandle;

    /// The client's own state; `None` in families whose clients neither hold nor own anything.
    fn holder(&self) -> Option<&HolderState> {
        None
    }

    /// Whether the client watches a group, for which alone there is the request `view`.
    fn has_group(&self) -> bool {
        false
    }

    /// What the recipe shows its application of the group, once every watch event is worked off that the client had
    /// received before the call. No read is made for the answer. `None` in families without groups.
    async fn worked_off(&self) -> Option<WatchedGroup> {
        None
    }

    /// The contender znodes that the client has recorded as its own: those it holds or waits with.
    async fn znodes(&self) -> Vec<OwnZnode> {
        self.holder().map(HolderState::znodes).unwrap_or_default()
    }

    /// Waits until background work is finished whose end changes [`Service::znodes`].
    async fn idle(&self) {
        if let Some(holder) = self.holder() {
            holder.idle().await;
        }
    }
}

/// What a client believes of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedGroup {
    /// The view that the recipe shows its application.
    pub view: GroupView,
    /// The entry by which the client believes to be a member; `None` if it believes to be none.
    pub registered: Option<RegisteredMember>,
}

/// A session in which a client sends requests.
pub struct SessionHandle {
    /// The session.
    pub zk: Arc<dyn Zk>,
    /// Whether it was opened for the purpose, and is to be closed after it.
    pub temporary: bool,
}

impl SessionHandle {
    /// A session that the client keeps.
    pub fn lasting(zk: Arc<dyn Zk>) -> Self {
        Self { zk, temporary: false }
    }

    /// The session that the client keeps, or else one that is opened for the purpose.
    pub async fn or_temporary(kept: &SharedValue<Option<Arc<dyn Zk>>>, env: &Env) -> Self {
        match kept.with(Clone::clone) {
            Some(zk) => Self::lasting(zk),
            None => Self {
                zk: env.connect().await,
                temporary: true,
            },
        }
    }
}

/// The reply to a request, but for its number.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub outcome: Outcome,
    /// The reply's value; `null` if it has none.
    pub value: Value,
    /// Why it failed, or is unknown.
    pub error: Option<String>,
}

impl Answer {
    /// It happened.
    pub fn ok(value: impl Serialize) -> Self {
        Self {
            outcome: Outcome::Ok,
            value: plain(value),
            error: None,
        }
    }

    /// It certainly did not.
    pub fn fail(why: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Fail,
            value: Value::Null,
            error: Some(why.into()),
        }
    }

    /// Unknown.
    pub fn info(why: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Info,
            value: Value::Null,
            error: Some(why.into()),
        }
    }

    /// The same with a value.
    pub fn with(self, value: impl Serialize) -> Self {
        let value = plain(value);
        Self { value, ..self }
    }
}

impl From<OpError> for Answer {
    fn from(ended: OpError) -> Self {
        match ended {
            OpError::Fail(why) => Self::fail(why),
            OpError::Info(why) => Self::info(why),
        }
    }
}

fn plain(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("an answer is plain data with string keys")
}

/// What a request asks.
///
/// # Errors
/// The answer to an operation that the family does not have, or to a value that makes no sense.
pub fn parse<T: DeserializeOwned>(request: &Request) -> Result<T, Answer> {
    let senseless = |error| Answer::fail(format!("the value of `{}` makes no sense: {error}", request.f));
    request.operation().map_err(senseless)
}

/// The answer to an operation that the recipe does not have.
pub fn unknown(request: &Request) -> Answer {
    Answer::fail(format!("no operation `{}`", request.f))
}
