//! Clients that hold nothing: queues and double barriers.

use super::common::refused_as;
use super::holder::ok;
use super::sentences::{BESIDE, BUSY, EPHEMERAL, OPERATES, QUIESCE, TAKING, TIMEOUT};
use super::talk::TimedLine;
use super::{CLIENTS, PATIENT, SOON, SentenceResult, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::plan::Delivery;
use zooquake_history::protocol::{Message, Outcome};

/// How long a member of a round is listened to before the other one is.
const LOOK: Duration = Duration::from_millis(50);

impl Trial {
    /// An item goes in and comes out.
    pub(super) async fn queue(&mut self) -> Result<()> {
        let seen = self.item().await;
        self.note(OPERATES, seen);
        if self.can("taking") {
            let seen = named(&self.clients[1].lines());
            self.note(TAKING, seen);
        }
        let seen = self.quiet(0, None).await?;
        self.note(QUIESCE, seen);
        Ok(())
    }

    /// One item goes in at the first client and comes out at the second, and nothing after it.
    pub(super) async fn item(&mut self) -> SentenceResult {
        let item = self.number();
        let put = ok(self.clients[0].ask("enqueue", json!({ "item": item }), SOON).await)?;
        let taken = ok(self.clients[1].ask("dequeue", json!({}), SOON).await)?;
        if taken["item"] != json!(item) {
            return Err(format!("{put} was put in, and {taken} came out"));
        }
        if self.plan.workload.capabilities().delivery == Delivery::AtLeastOnce {
            self.names_own(1).await;
            ok(self.clients[1].ask("acknowledge", json!({ "item": item }), SOON).await)?;
        }
        let empty = ok(self.clients[1].ask("dequeue", json!({}), SOON).await)?;
        match empty["item"].is_null() {
            true => Ok(format!("{put}, then {taken}, then {empty}")),
            false => Err(format!("{empty} came out of an empty queue")),
        }
    }

    /// Both enter and both leave; the first one has to wait.
    pub(super) async fn barrier(&mut self) -> Result<()> {
        let seen = self.round(false).await;
        self.note(OPERATES, seen);
        let seen = self.quiet(0, None).await?;
        self.note(QUIESCE, seen);
        Ok(())
    }

    /// One enters alone, until its timeout. It may never come back from that.
    pub(super) async fn alone(&mut self) {
        let (timeout_ms, round) = (600, self.number());
        let alone = self.clients[0].send("enter", json!({ "round": round, "members": 2 }), Some(timeout_ms));
        let second = self.clients[0].ask("leave", json!({ "round": round }), SOON).await;
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
            let seen = self.ephemeral(entered).await.unwrap_or_else(unread);
            self.note(EPHEMERAL, seen);
        }
        let leaving = [0, 1].map(|client| self.clients[client].send("leave", round.clone(), None));
        for (client, asked) in leaving.into_iter().enumerate() {
            shown.push(ok(self.clients[client].reply(asked, PATIENT).await)?);
        }
        Ok(shown.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
    }

    /// That `quiesce` names the znodes that a client has at the moment.
    async fn names_own(&mut self, client: usize) {
        let seen = self.quiet(client, None).await.unwrap_or_else(unread);
        self.note(QUIESCE, seen);
    }

    /// Both enter a round: their answers.
    async fn enter(&mut self, round: u64, again: bool) -> Result<Vec<Value>, String> {
        let enter = json!({ "round": round, "members": 2 });
        let mut asked = [0, 1].map(|client| self.clients[client].send("enter", enter.clone(), None));
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
                    Ok(_) => asked[client] = self.clients[client].send("enter", enter.clone(), None),
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

/// That each item that was given out had been named before.
fn named(lines: &[TimedLine]) -> SentenceResult {
    let item = |heard: &TimedLine, of: &str| match &heard.message {
        Some(Message::Notice { notice, value }) if notice == of => value["item"].as_i64(),
        Some(Message::Reply { value, .. }) if of == "reply" => value["item"].as_i64(),
        _ => None,
    };
    for (place, heard) in lines.iter().enumerate() {
        let Some(given) = item(heard, "reply") else { continue };
        if !lines[..place]
            .iter()
            .any(|before| item(before, "taking") == Some(given))
        {
            return Err(format!("no notice named the item {given} before the reply"));
        }
    }
    Ok("each item that came out was named before".to_string())
}
