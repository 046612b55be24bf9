//! One client: takes requests, does one operation of the recipe at a time, and answers control requests beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::select;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::Output;
use super::answers;
use crate::protocol::{Message, Request};
use crate::recipes::{Env, WorkGuard};
use crate::service::{Answer, Recipe};
use crate::zk::SharedValue;
use zooquake_history::operation::control::f;

/// How long a piece of work counts as going on after its reply was sent, unless the next operation is asked for: the
/// resource is written when the orchestrator reads the reply, which takes a moment.
const ARRIVAL: Duration = Duration::from_millis(200);

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
    pub(super) name: Arc<str>,
    pub(super) env: Env,
    pub(super) recipe: Recipe,
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
            let (answer, working) = answers::answer(&client, request).await;
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
