//! The trial of the family `barrier`: of a double barrier, and of the tutorial's.

use super::common::refused_as;
use super::family::FamilyTrial;
use super::holder::ok;
use super::sentences::{BESIDE, BUSY, EPHEMERAL, QUIESCE, TIMEOUT};
use super::{CLIENTS, PATIENT, SOON, SentenceResult, Trial};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::operation::barrier::{self, f};
use zooquake_history::protocol::Outcome;

/// How long a member of a round is listened to before the other one is.
const LOOK: Duration = Duration::from_millis(50);

/// The error with which a `join` ends that found `start` made by another member: it has joined.
const STARTED: &str = "start:";

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &barrier::FAMILY,
    course: |trial| trial.exchange().boxed(),
    once: |trial, again| match trial.enters_together() {
        true => trial.round(again).boxed(),
        false => trial.tutorial_round().boxed(),
    },
    nonsense: Some(f::JOIN),
};

impl Trial {
    /// Whether it is a double barrier.
    pub(super) fn enters_together(&self) -> bool {
        self.family.spec.name == barrier::FAMILY.name && !self.plan.workload.capabilities().members
    }

    /// The first client joins for both members; the second one is the application that waits.
    async fn tutorial_round(&mut self) -> SentenceResult {
        let round = self.number();
        let waiting = self.clients[1].send(f::ENTER, json!({ "round": round, "members": 2 }), None);
        for member in [1, 2] {
            let join = json!({ "round": round, "members": 2, "member": member });
            let joined = self.clients[0].ask(f::JOIN, join, PATIENT).await?;
            let started = |error: &String| error.starts_with(STARTED);
            if joined.outcome != Outcome::Ok && !joined.error.as_ref().is_some_and(started) {
                return Err(joined.unlike("`ok`, or an error that begins with `start:`"));
            }
        }
        let entered = ok(self.clients[1].reply(waiting, PATIENT).await)?;
        for client in [0, 1] {
            self.asked(client, f::CLOSE, json!({ "round": round })).await?;
        }
        Ok(entered.to_string())
    }

    /// One enters alone, until its timeout. It may never come back from that.
    pub(super) async fn alone(&mut self) {
        let (timeout_ms, round) = (600, self.number());
        let alone = self.clients[0].send(f::ENTER, json!({ "round": round, "members": 2 }), Some(timeout_ms));
        let second = self.clients[0].ask(f::LEAVE, json!({ "round": round }), SOON).await;
        self.note(BUSY, refused_as(second, "busy"));
        if self.can("beside") {
            let seen = self.beside().await;
            self.note(BESIDE, seen);
        }
        let reply = self.clients[0]
            .reply(alone, Duration::from_millis(timeout_ms) + SOON)
            .await;
        let seen = reply.and_then(|reply| match reply.outcome {
            Outcome::Ok => Err(format!("{}, though it was alone", reply.shown())),
            _ => Ok(reply.shown()),
        });
        self.note(TIMEOUT, seen);
    }

    /// Both enter a round and both leave it. Who does not enter at the first time may be asked again, as in a run.
    pub(super) async fn round(&mut self, again: bool) -> SentenceResult {
        let number = self.number();
        let round = json!({ "round": number });
        let mut shown = self.enter(number, again).await?;
        for (client, entered) in shown.iter().enumerate() {
            self.names_own(client).await;
            self.note(EPHEMERAL, self.ephemeral(entered).await.unwrap_or_else(unread));
        }
        let leaving = [0, 1].map(|client| self.clients[client].send(f::LEAVE, round.clone(), None));
        for (client, asked) in leaving.into_iter().enumerate() {
            shown.push(ok(self.clients[client].reply(asked, PATIENT).await)?);
        }
        Ok(shown.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
    }

    /// That `quiesce` names the znodes that a client has at the moment.
    pub(super) async fn names_own(&mut self, client: usize) {
        let seen = self.quiet(client, None).await.unwrap_or_else(unread);
        self.note(QUIESCE, seen);
    }

    /// Both enter a round: their answers.
    async fn enter(&mut self, round: u64, again: bool) -> Result<Vec<Value>, String> {
        let enter = json!({ "round": round, "members": 2 });
        let mut asked = [0, 1].map(|client| self.clients[client].send(f::ENTER, enter.clone(), None));
        let (mut entered, until) = ([None, None], self.clock.now() + PATIENT);
        while entered.iter().any(Option::is_none) {
            for client in [0, 1] {
                if entered[client].is_some() {
                    continue;
                }
                let over = self.clock.now() >= until || self.clients[client].ended();
                match self.clients[client].reply(asked[client], LOOK).await {
                    Ok(reply) if reply.outcome == Outcome::Ok => entered[client] = Some(reply.value),
                    Ok(reply) if over || !again => return Err(reply.unlike("`ok`")),
                    Ok(_) => asked[client] = self.clients[client].send(f::ENTER, enter.clone(), None),
                    Err(_) if over => return Err(format!("{} did not enter round {round}", CLIENTS[client])),
                    Err(_) => {}
                }
            }
        }
        Ok(entered.into_iter().flatten().collect())
    }
}

/// That the tree could not be read.
fn unread(error: anyhow::Error) -> SentenceResult {
    Err(format!("the znode tree could not be read: {error:#}"))
}
