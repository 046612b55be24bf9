//! What a client answers to each request: control requests by itself, operations through the recipe's [`Service`].

use std::time::Duration;

use serde_json::json;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::control::ControlAnswer as Answered;

use super::RecipeClient;
use crate::protocol::Request;
use crate::recipes::{HolderState, SCRATCH, WorkGuard, touch};
use crate::service::{Answer, Service, SessionHandle, WatchedGroup};
use crate::zk::session_hex;
use zooquake_history::operation::control::f;

/// How long `confirm` and `view` try if their request names no timeout.
const CONFIRM: Duration = Duration::from_secs(10);

/// Answers a request; with the work that goes on until the reply has arrived, if there is any.
pub(super) async fn answer(client: &RecipeClient, request: Request) -> (Answer, Option<WorkGuard>) {
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
    if session_handle.temporary {
        session_handle.zk.close().await;
    }
    let zxid = match written {
        Ok(zxid) => zxid,
        Err(unconfirmed) => return unconfirmed,
    };
    match held {
        None => Answer::ok(Answered::HoldsNothing { holds: false, zxid }),
        Some(held) if held.grant.session == session_handle.zk.session() => {
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
