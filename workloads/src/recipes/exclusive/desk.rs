//! The operations of whatever grants: of a lock `acquire`, `write`, `release`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Exclusive;
use crate::protocol::Request;
use crate::recipes::{Env, Grant, Held, NOT_HELD, Owned, Working};
use crate::service::{Answer, Seat, Service, parse};
use crate::zk::session_hex;

/// What a family calls its operations: to be granted, to write, to give back.
pub type Words = [&'static str; 3];

/// Of a lock.
pub const LOCK: Words = ["acquire", "write", "release"];

/// Of an election.
pub const ELECTION: Words = ["elect", "write", "resign"];

/// A recipe that grants, as the client program drives it.
#[derive(Clone)]
pub struct Desk {
    env: Env,
    words: &'static Words,
    recipe: Arc<dyn Exclusive>,
}

#[derive(Deserialize)]
struct Named {
    grant: String,
}

#[derive(Deserialize)]
struct Write {
    grant: String,
    value: Value,
    #[serde(default)]
    work_ms: u64,
}

impl Desk {
    /// Serves this recipe under these words.
    pub fn new(env: &Env, words: &'static Words, recipe: impl Exclusive + 'static) -> Self {
        Self {
            env: env.clone(),
            words,
            recipe: Arc::new(recipe),
        }
    }

    async fn acquire(&self, name: &str, deadline: Option<Duration>) -> Answer {
        if let Some(held) = self.recipe.ledger().held() {
            return Answer::fail(format!("it holds {} already", held.grant.name));
        }
        match self.recipe.acquire(name, deadline).await {
            Ok(grant) => {
                let mut value = json!({
                    "grant": grant.name, "path": grant.path, "czxid": grant.czxid, "session": session_hex(grant.session),
                });
                if let Some(token) = grant.token {
                    value["token"] = token.into();
                }
                self.add_ack(&mut value, &grant);
                Answer::ok(value)
            }
            Err(ended) => ended.into(),
        }
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Answer {
        match self.recipe.release(name, deadline).await {
            Ok(released) => {
                let removed = released
                    .removed
                    .map(|(path, czxid)| json!({"path": path, "czxid": czxid}));
                Answer::ok(json!({"grant": name, "removed": removed}))
            }
            Err(ended) => ended.into(),
        }
    }

    /// Checks its belief, works, and writes without checking again, as real critical sections do.
    async fn write(&self, asked: &Write, deadline: Option<Duration>) -> (Answer, Option<Working>) {
        let Write { grant, value, work_ms } = asked;
        let Some((held, working)) = self.recipe.ledger().work(grant) else {
            return (Answer::fail(NOT_HELD), None);
        };
        self.env.host.sleep(Duration::from_millis(*work_ms)).await;
        if !self.recipe.guards() {
            let mut value = json!({"grant": grant, "value": value, "token": held.token});
            self.add_ack(&mut value, &held);
            return (Answer::ok(value), Some(working));
        }
        let answer = match self.env.within(deadline, self.recipe.write(grant, value)).await {
            Some(Ok(mzxid)) => Answer::ok(json!({"grant": grant, "value": value, "mzxid": mzxid})),
            Some(Err(ended)) => Answer::from(ended).with(json!({"grant": grant, "value": value})),
            None => Answer::info("timed out").with(json!({"grant": grant, "value": value})),
        };
        (answer, Some(working))
    }

    /// Says by which znode the client has told that it leads, where the recipe promises to tell.
    fn add_ack(&self, value: &mut Value, grant: &Grant) {
        if self.recipe.acknowledges() {
            let ack = grant.ack.as_ref();
            value["ack"] = ack.map_or(Value::Null, |own| json!({"path": own.path, "czxid": own.czxid}));
        }
    }

    async fn serve(&self, request: &Request, deadline: Option<Duration>) -> Result<(Answer, Option<Working>), Answer> {
        let [acquire, write, release] = self.words;
        Ok(match request.f.as_str() {
            f if f == *acquire => (self.acquire(&parse::<Named>(request)?.grant, deadline).await, None),
            f if f == *release => (self.release(&parse::<Named>(request)?.grant, deadline).await, None),
            f if f == *write => self.write(&parse(request)?, deadline).await,
            other => return Err(Answer::fail(format!("no operation `{other}`"))),
        })
    }
}

impl Service for Desk {
    fn operations(&self) -> &'static [&'static str] {
        self.words
    }

    fn answer(&self, request: Request, deadline: Option<Duration>) -> BoxFuture<'static, (Answer, Option<Working>)> {
        let desk = self.clone();
        async move {
            let served = desk.serve(&request, deadline).await;
            served.unwrap_or_else(|answer| (answer, None))
        }
        .boxed()
    }

    fn session(&self) -> BoxFuture<'static, Seat> {
        self.recipe.session()
    }

    fn held(&self) -> Option<Held> {
        self.recipe.ledger().held()
    }

    fn znodes(&self) -> BoxFuture<'static, Vec<Owned>> {
        self.recipe.znodes()
    }

    fn idle(&self) -> BoxFuture<'static, ()> {
        let ledger = self.recipe.ledger().clone();
        async move { ledger.idle().await }.boxed()
    }
}
