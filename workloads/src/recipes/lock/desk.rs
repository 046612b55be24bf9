//! The operations of a lock: `acquire`, `write`, `release`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Lock;
use crate::protocol::Request;
use crate::recipes::{Env, Held, NOT_HELD, Owned, Working};
use crate::service::{Answer, Seat, Service, parse};
use crate::zk::session_hex;

/// A lock, as the client program drives it.
#[derive(Clone)]
pub struct Desk {
    env: Env,
    lock: Arc<dyn Lock>,
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
    /// Serves this lock.
    pub fn new(env: &Env, lock: impl Lock + 'static) -> Self {
        Self {
            env: env.clone(),
            lock: Arc::new(lock),
        }
    }

    async fn acquire(&self, name: &str, deadline: Option<Duration>) -> Answer {
        if let Some(held) = self.lock.ledger().held() {
            return Answer::fail(format!("it holds {} already", held.grant.name));
        }
        match self.lock.acquire(name, deadline).await {
            Ok(grant) => {
                let mut value = json!({
                    "grant": grant.name, "path": grant.path, "czxid": grant.czxid, "session": session_hex(grant.session),
                });
                if let Some(token) = grant.token {
                    value["token"] = token.into();
                }
                Answer::ok(value)
            }
            Err(ended) => ended.into(),
        }
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Answer {
        match self.lock.release(name, deadline).await {
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
        let Some((held, working)) = self.lock.ledger().work(grant) else {
            return (Answer::fail(NOT_HELD), None);
        };
        self.env.host.sleep(Duration::from_millis(*work_ms)).await;
        if !self.lock.guards() {
            let value = json!({"grant": grant, "value": value, "token": held.token});
            return (Answer::ok(value), Some(working));
        }
        let answer = match self.env.within(deadline, self.lock.write(grant, value)).await {
            Some(Ok(mzxid)) => Answer::ok(json!({"grant": grant, "value": value, "mzxid": mzxid})),
            Some(Err(ended)) => Answer::from(ended).with(json!({"grant": grant, "value": value})),
            None => Answer::info("timed out").with(json!({"grant": grant, "value": value})),
        };
        (answer, Some(working))
    }

    async fn serve(&self, request: &Request, deadline: Option<Duration>) -> Result<(Answer, Option<Working>), Answer> {
        Ok(match request.f.as_str() {
            "acquire" => (self.acquire(&parse::<Named>(request)?.grant, deadline).await, None),
            "release" => (self.release(&parse::<Named>(request)?.grant, deadline).await, None),
            "write" => self.write(&parse(request)?, deadline).await,
            other => return Err(Answer::fail(format!("no operation `{other}`"))),
        })
    }
}

impl Service for Desk {
    fn operations(&self) -> &'static [&'static str] {
        &["acquire", "write", "release"]
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
        self.lock.session()
    }

    fn held(&self) -> Option<Held> {
        self.lock.ledger().held()
    }

    fn znodes(&self) -> BoxFuture<'static, Vec<Owned>> {
        self.lock.znodes()
    }

    fn idle(&self) -> BoxFuture<'static, ()> {
        let ledger = self.lock.ledger().clone();
        async move { ledger.idle().await }.boxed()
    }
}
