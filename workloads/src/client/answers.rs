//! What a client answers to each request.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Client;
use crate::protocol::{Outcome, Request};
use crate::recipes::{Ended, Lock, NOT_HELD, Owned, Recipe, Working};
use crate::zk::{CreateMode, Error, Zk, session_hex};

/// The parent of the scratch znodes that `confirm` writes.
const SCRATCH: &str = "/zooquake/scratch";

/// How long `confirm` tries if its request names no timeout.
const CONFIRM: Duration = Duration::from_secs(10);

/// The reply to a request, but for its number.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub outcome: Outcome,
    /// Its value.
    pub value: Value,
    /// Why it failed, or is unknown.
    pub error: Option<String>,
}

impl Answer {
    pub(super) fn ok(value: Value) -> Self {
        Self {
            outcome: Outcome::Ok,
            value,
            error: None,
        }
    }

    pub(super) fn fail(why: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Fail,
            value: Value::Null,
            error: Some(why.into()),
        }
    }

    pub(super) fn info(why: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Info,
            value: Value::Null,
            error: Some(why.into()),
        }
    }

    fn with(self, value: Value) -> Self {
        Self { value, ..self }
    }
}

impl From<Ended> for Answer {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Fail(why) => Self::fail(why),
            Ended::Info(why) => Self::info(why),
        }
    }
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

/// Answers a request; with the work that goes on until the reply has arrived, if it is a write.
pub(super) async fn answer(client: &Client, request: &Request) -> (Answer, Option<Working>) {
    let deadline = request
        .timeout_ms
        .map(|timeout| client.env.host.now() + Duration::from_millis(timeout));
    let Recipe::Lock(lock) = &client.recipe;
    let answer = match request.f.as_str() {
        "ping" => Answer::ok(json!({})),
        "confirm" => {
            let deadline = deadline.unwrap_or_else(|| client.env.host.now() + CONFIRM);
            // To its end, since it may have opened a session that is to be closed.
            let confirmed = client
                .env
                .outlast(Some(deadline), confirm(client.name.clone(), lock.clone()))
                .await;
            confirmed.unwrap_or_else(|| Answer::info("timed out"))
        }
        "quiesce" => {
            let quiet = client.env.within(deadline, quiesce(client, lock.as_ref())).await;
            quiet.unwrap_or_else(|| Answer::info("timed out; background work goes on"))
        }
        "acquire" => match parse::<Named>(request) {
            Ok(Named { grant }) => acquire(lock.as_ref(), &grant, deadline).await,
            Err(answer) => answer,
        },
        "release" => match parse::<Named>(request) {
            Ok(Named { grant }) => release(lock.as_ref(), &grant, deadline).await,
            Err(answer) => answer,
        },
        "write" => match parse::<Write>(request) {
            Ok(asked) => return write(client, lock.as_ref(), &asked, deadline).await,
            Err(answer) => answer,
        },
        other => Answer::fail(format!(
            "no operation `{other}`; a lock has acquire, write and release, every client ping, confirm and quiesce"
        )),
    };
    (answer, None)
}

fn parse<T: DeserializeOwned>(request: &Request) -> Result<T, Answer> {
    serde_json::from_value(request.value.clone())
        .map_err(|error| Answer::fail(format!("the value of `{}` makes no sense: {error}", request.f)))
}

async fn acquire(lock: &dyn Lock, name: &str, deadline: Option<Duration>) -> Answer {
    if let Some(held) = lock.ledger().held() {
        return Answer::fail(format!("it holds {} already", held.grant.name));
    }
    match lock.acquire(name, deadline).await {
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

async fn release(lock: &dyn Lock, name: &str, deadline: Option<Duration>) -> Answer {
    match lock.release(name, deadline).await {
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
async fn write(
    client: &Client,
    lock: &dyn Lock,
    asked: &Write,
    deadline: Option<Duration>,
) -> (Answer, Option<Working>) {
    let Write { grant, value, work_ms } = asked;
    let Some((held, working)) = lock.ledger().work(grant) else {
        return (Answer::fail(NOT_HELD), None);
    };
    client.env.host.sleep(Duration::from_millis(*work_ms)).await;
    if !lock.guards() {
        let value = json!({"grant": grant, "value": value, "token": held.token});
        return (Answer::ok(value), Some(working));
    }
    let answer = match client.env.within(deadline, lock.write(grant, value)).await {
        Some(Ok(mzxid)) => Answer::ok(json!({"grant": grant, "value": value, "mzxid": mzxid})),
        Some(Err(ended)) => Answer::from(ended).with(json!({"grant": grant, "value": value})),
        None => Answer::info("timed out").with(json!({"grant": grant, "value": value})),
    };
    (answer, Some(working))
}

/// A quorum write in the session that the client has now, and only then a look at its belief.
async fn confirm(client: Arc<str>, lock: Arc<dyn Lock>) -> Answer {
    let seat = lock.session().await;
    let written = touch(seat.zk.as_ref(), &format!("{SCRATCH}/{client}")).await;
    let held = lock.ledger().held();
    if seat.temporary {
        seat.zk.close().await;
    }
    let zxid = match written {
        Ok(zxid) => zxid,
        Err(error) => return Answer::info(format!("its quorum write failed: {error}")),
    };
    match held {
        None => Answer::ok(json!({"holds": false, "zxid": zxid})),
        Some(held) if held.grant.session == seat.zk.session() => {
            Answer::ok(json!({"holds": true, "grant": held.grant.name, "zxid": zxid}))
        }
        // The write says nothing about the session that the grant rests on.
        Some(_) => Answer::info("the session changed meanwhile"),
    }
}

/// Writes a znode of its own, and answers the transaction.
async fn touch(zk: &dyn Zk, path: &str) -> Result<i64, Error> {
    match zk.set(path, b"", None).await {
        Ok(stat) => return Ok(stat.mzxid),
        Err(Error::NoNode) => {}
        Err(error) => return Err(error),
    }
    match zk.create(path, b"", CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(zk.set(path, b"", None).await?.mzxid),
        Err(error) => Err(error),
    }
}

async fn quiesce(client: &Client, lock: &dyn Lock) -> Answer {
    lock.ledger().idle().await;
    let znodes: Vec<Owned> = lock.znodes().await;
    let znodes: Vec<_> = znodes
        .iter()
        .map(|own| json!({"path": own.path, "czxid": own.czxid}))
        .collect();
    let sessions = client
        .env
        .sessions
        .with(|sessions| sessions.iter().copied().map(session_hex).collect::<Vec<_>>());
    Answer::ok(json!({"sessions": sessions, "znodes": znodes}))
}
