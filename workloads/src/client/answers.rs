//! What a client answers to each request: control requests by itself, operations through the recipe's [`Service`].

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::control::ControlAnswer as Answered;

use super::RecipeClient;
use crate::protocol::Request;
use crate::recipes::{SCRATCH, Working, touch};
use crate::service::{Answer, Recipe, Service};
use crate::zk::session_hex;
use zooquake_history::operation::control::f;

/// How long `confirm` tries if its request names no timeout.
const CONFIRM: Duration = Duration::from_secs(10);

/// Answers a request; with the work that goes on until the reply has arrived, if there is any.
pub(super) async fn answer(client: &RecipeClient, request: Request) -> (Answer, Option<Working>) {
    let deadline = request
        .timeout_ms
        .map(|timeout| client.env.host.now() + Duration::from_millis(timeout));
    let operations = client.recipe.operations();
    let answer = match request.f.as_str() {
        f::PING => Answer::ok(json!({})),
        f::CONFIRM => {
            let deadline = deadline.unwrap_or_else(|| client.env.host.now() + CONFIRM);
            // To its end, since it may have opened a session that is to be closed.
            let confirmed = client
                .env
                .outlast(Some(deadline), confirm(client.name.clone(), client.recipe.clone()))
                .await;
            confirmed.unwrap_or_else(|| Answer::info("timed out"))
        }
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

/// A quorum write in the session that the client has now, and only then a look at its belief.
async fn confirm(client: Arc<str>, recipe: Recipe) -> Answer {
    let session_handle = recipe.session().await;
    let written = touch(session_handle.zk.as_ref(), &format!("{SCRATCH}/{client}")).await;
    let held = recipe.held();
    if session_handle.temporary {
        session_handle.zk.close().await;
    }
    let zxid = match written {
        Ok(zxid) => zxid,
        Err(error) => return Answer::info(format!("its quorum write failed: {error}")),
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
