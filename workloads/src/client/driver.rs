//! One client: takes requests, does one operation of the recipe at a time, and answers control requests beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::select;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::control::{ControlAnswer as Answered, f};

use super::Output;
use crate::protocol::{Message, Request};
use crate::recipes::{Env, HolderState, SCRATCH, WorkGuard, touch};
use crate::service::{Answer, Recipe, Service, SessionHandle, WatchedGroup};
use crate::zk::{SharedValue, session_hex};

/// How long a piece of work counts as going on after its reply was sent, unless the next operation is asked for: the
/// resource is written when the orchestrator reads the reply, which takes a moment.
const ARRIVAL: Duration = Duration::from_millis(200);

/// How long `confirm` and `view` try if their request names no timeout.
const CONFIRM: Duration = Duration::from_secs(10);

/// What a client is sent.
#[derive(Debug, Clone)]
pub enum DriverInput {
    /// A line of text, which may be no request.
    Line(String),
    /// A request, from the same process.
    Request(Request),
}

impl From<String> for DriverInput {
    fn from(line: String) -> Self {
        Self::Line(line)
    }
}

/// A client program's state: it reads requests, runs its recipe, and writes replies and notices. Clones share it.
#[derive(Clone)]
pub struct RecipeClient {
    name: Arc<str>,
    env: Env,
    recipe: Recipe,
    output: Output,
    in_operation: Arc<AtomicBool>,
    operations: SharedValue<u64>,
}

impl RecipeClient {
    /// The client of this name.
    pub fn new(name: &str, env: Env, recipe: Recipe, output: Output) -> Self {
        let (in_operation, operations) = (Arc::new(AtomicBool::new(false)), SharedValue::new(0));
        Self {
            name: name.into(),
            env,
            recipe,
            output,
            in_operation,
            operations,
        }
    }

    /// Takes requests, one a line, until there are no more.
    pub async fn serve<T: Into<DriverInput>>(self, mut lines: UnboundedReceiver<T>) {
        while let Some(asked) = lines.recv().await {
            match asked.into() {
                DriverInput::Request(request) => self.take(request),
                DriverInput::Line(line) => match serde_json::from_str(&line) {
                    Ok(request) => self.take(request),
                    Err(error) => self.reject(&line, &error),
                },
            }
        }
    }

    fn take(&self, request: Request) {
        let control = self.is_control(&request.f);
        if !control && self.in_operation.swap(true, Ordering::SeqCst) {
            let why = format!("busy: `{}` was asked for while another operation runs", request.f);
            return self.reply(request.id, Answer::fail(why));
        }
        if !control {
            self.operations.update(|operations| *operations += 1);
        }
        let client = self.clone();
        let task = async move {
            let id = request.id;
            let (answer, working) = answer(&client, request).await;
            let seen = client.operations.with(|operations| *operations);
            if !control {
                client.in_operation.store(false, Ordering::SeqCst);
            }
            client.reply(id, answer);
            if let Some(working) = working {
                client.await_arrival(working, seen).await;
            }
        };
        self.env.host.spawn(task.boxed());
    }

    /// Whether a request is answered beside the operations. `view` is, where there is a group to view.
    fn is_control(&self, f: &str) -> bool {
        f::ALL.contains(&f) || f == f::VIEW && self.recipe.has_group()
    }

    /// Waits until the reply has arrived: the orchestrator sends the next operation only after it has read that; at
    /// most [`ARRIVAL`].
    async fn await_arrival(&self, working: WorkGuard, seen: u64) {
        let next = self.operations.until(|operations| (*operations != seen).then_some(()));
        select(std::pin::pin!(next), self.env.host.sleep(ARRIVAL)).await;
        drop(working);
    }

    fn reply(&self, id: u64, answer: Answer) {
        let Answer { outcome, value, error } = answer;
        self.output.send(Message::Reply {
            id,
            outcome,
            value,
            error,
        });
    }

    /// A line that is no request gets a reply if it has at least a number.
    fn reject(&self, line: &str, error: &serde_json::Error) {
        eprintln!("not a request ({error}): {line}");
        let id = serde_json::from_str::<Value>(line)
            .ok()
            .and_then(|value| value.get("id")?.as_u64());
        if let Some(id) = id {
            self.reply(id, Answer::fail(format!("not a request: {error}")));
        }
    }
}

/// Answers a request: a control request by itself, an operation through the recipe's [`Service`]. With the work that
/// goes on until the reply has arrived, if there is any.
async fn answer(client: &RecipeClient, request: Request) -> (Answer, Option<WorkGuard>) {
    let deadline = request
        .timeout_ms
        .map(|timeout| client.env.host.now() + Duration::from_millis(timeout));
    let operations = client.recipe.operations();
    let answer = match request.f.as_str() {
        f::PING => Answer::ok(json!({})),
        f::CONFIRM => after_write(client, deadline, confirm(client.clone())).await,
        f::VIEW if client.recipe.has_group() => after_write(client, deadline, view(client.clone())).await,
        f::QUIESCE => {
            let quiet = client
                .env
                .within(deadline, quiesce(client, client.recipe.as_ref()))
                .await;
            quiet.unwrap_or_else(|| Answer::info("timed out; background work goes on"))
        }
        f if operations.contains(&f) => {
            let served = client.recipe.serve(&request, deadline).await;
            return served.unwrap_or_else(|answer| (answer, None));
        }
        other => Answer::fail(format!(
            "no operation `{other}`; this recipe has {}, every client ping, confirm and quiesce",
            operations.join(", ")
        )),
    };
    (answer, None)
}

/// The answer to a request that begins with a quorum write; unknown if there is none by `deadline`, or by
/// [`CONFIRM`] without one.
async fn after_write(
    client: &RecipeClient,
    deadline: Option<Duration>,
    answering: impl Future<Output = Answer> + Send + 'static,
) -> Answer {
    let deadline = deadline.unwrap_or_else(|| client.env.host.now() + CONFIRM);
    // To its end, since it may have opened a session that is to be closed.
    let answered = client.env.outlast(Some(deadline), answering).await;
    answered.unwrap_or_else(|| Answer::info("timed out"))
}

/// A quorum write of the client's own scratch znode: its transaction, or the answer that confirms nothing.
async fn write(client: &str, session: &SessionHandle) -> Result<i64, Answer> {
    let written = touch(session.zk.as_ref(), &format!("{SCRATCH}/{client}")).await;
    written.map_err(|error| Answer::info(format!("its quorum write failed: {error}")))
}

/// A quorum write in the session that the client has now, and only then what it shows of its group.
async fn view(client: RecipeClient) -> Answer {
    let session_handle = client.recipe.session().await;
    let written = write(&client.name, &session_handle).await;
    let watched = if written.is_ok() {
        client.recipe.worked_off().await
    } else {
        None
    };
    if session_handle.temporary {
        session_handle.zk.close().await;
    }
    match (written, watched) {
        (Err(unconfirmed), _) => unconfirmed,
        // The write is no evidence about the events of another session.
        (Ok(zxid), Some(watched)) if watched.view.session == session_hex(session_handle.zk.session()) => {
            let WatchedGroup { view, registered } = watched;
            Answer::ok(Answered::Group { zxid, view, registered })
        }
        (Ok(_), _) => Answer::info("the session changed meanwhile"),
    }
}

/// A quorum write in the session that the client has now, and only then a look at its belief.
async fn confirm(client: RecipeClient) -> Answer {
    let session_handle = client.recipe.session().await;
    let written = write(&client.name, &session_handle).await;
    let held = client.recipe.holder().and_then(HolderState::held);
    let held = held.filter(|held| held.grant.outlasts(client.env.host.now()));
    if session_handle.temporary {
        session_handle.zk.close().await;
    }
    let zxid = match written {
        Ok(zxid) => zxid,
        Err(unconfirmed) => return unconfirmed,
    };
    match held {
        None => Answer::ok(Answered::HoldsNothing { holds: false, zxid }),
        Some(held) if held.grant.rests_on(session_handle.zk.session()) => {
            let grant = held.grant.name;
            Answer::ok(Answered::Holds {
                holds: true,
                grant,
                zxid,
            })
        }
        // The write is no evidence about the session that the grant rests on.
        Some(_) => Answer::info("the session changed meanwhile"),
    }
}

async fn quiesce(client: &RecipeClient, recipe: &dyn Service) -> Answer {
    recipe.idle().await;
    let znodes = recipe.znodes().await.iter().map(ZnodeName::from).collect();
    let sessions = client
        .env
        .sessions
        .with(|sessions| sessions.iter().copied().map(session_hex).collect::<Vec<_>>());
    let counters = &client.env.counters;
    Answer::ok(Answered::Quiet {
        sessions,
        znodes,
        counts: counters.is_whole().then(|| counters.read()),
    })
}
