//! Exchanges of both clients in which every operation of a family succeeds: registers, counters, two-phase commits, the
//! tutorial's barrier.

use super::holder::ok;
use super::sentences::{OPERATES, QUIESCE};
use super::{PATIENT, SentenceResult, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use zooquake_history::protocol::Outcome;

/// The error with which a `join` ends that found `start` made by another member: it has joined.
const STARTED: &str = "start:";

impl Trial {
    /// Does once what the family is for, and asks for what that leaves behind.
    pub(super) async fn exchange(&mut self) -> Result<()> {
        let seen = self.exchange_once().await;
        self.note(OPERATES, seen);
        let seen = self.quiet(0, None).await?;
        self.note(QUIESCE, seen);
        Ok(())
    }

    /// One exchange of a family that neither grants nor queues nor is a double barrier.
    pub(super) async fn exchange_once(&mut self) -> SentenceResult {
        match self.plan.workload.family.as_str() {
            "register" => self.register().await,
            "counter" => self.counter().await,
            "commit" => self.commit().await,
            "barrier" => self.tutorial_round().await,
            other => Err(format!("no operation of the family {other} is tried")),
        }
    }

    async fn asked(&mut self, client: usize, f: &'static str, value: Value) -> Result<Value, String> {
        ok(self.clients[client].ask(f, value, PATIENT).await)
    }

    /// What one client writes the other one reads, through the only server; a compare-and-set of another value is a
    /// mismatch.
    async fn register(&mut self) -> SentenceResult {
        let (first, second, never) = (self.number(), self.number(), self.number());
        self.asked(0, "write", json!({ "value": first })).await?;
        let read = self.asked(1, "read", json!({})).await?;
        expect(&read, "value", &json!(first), "what was written last")?;
        self.asked(0, "cas", json!({ "from": first, "to": second })).await?;
        let mismatch = json!({ "from": first, "to": never });
        let refused = self.clients[1].ask("cas", mismatch, PATIENT).await?;
        if refused.outcome != Outcome::Fail {
            return Err(refused.unlike("`fail`, since the register held another value"));
        }
        let read = self.asked(1, "read", json!({})).await?;
        expect(&read, "value", &json!(second), "what was set last")?;
        Ok(format!("{}, then {read}", refused.shown()))
    }

    /// Each increment is one more than what the counter held.
    async fn counter(&mut self) -> SentenceResult {
        let before = self.asked(1, "get", json!({})).await?;
        let value = before["value"].as_i64();
        let value = value.ok_or_else(|| format!("`get` was answered {before}, without a number `value`"))?;
        for (client, id) in [(0, value + 1), (1, value + 2)] {
            let answer = self.asked(client, "increment", json!({})).await?;
            expect(&answer, "id", &json!(id), "one more than the counter held")?;
        }
        let after = self.asked(0, "get", json!({})).await?;
        expect(&after, "value", &json!(value + 2), "the last id")?;
        Ok(format!("{before}, then {after}"))
    }

    /// The first client coordinates a transaction of which the second one is the only site: one that commits, and one
    /// that aborts.
    async fn commit(&mut self) -> SentenceResult {
        let mut shown = Vec::new();
        for (vote, decision) in [("yes", "commit"), ("no", "abort")] {
            let tx = format!("t{}", self.number());
            let transaction = json!({ "tx": tx, "sites": ["c2"], "payload": vote });
            self.asked(0, "begin", transaction.clone()).await?;
            let voting = self.clients[1].send("vote", json!({ "tx": tx, "vote": vote, "work_ms": 10 }), None);
            let deciding = self.clients[0].send("decide", transaction, None);
            let voted = ok(self.clients[1].reply(voting, PATIENT).await)?;
            expect(&voted, "voted", &json!(vote), "the vote that was asked for")?;
            let decided = ok(self.clients[0].reply(deciding, PATIENT).await)?;
            expect(
                &decided,
                "decision",
                &json!(decision),
                "the decision that the vote demands",
            )?;
            let told = self.asked(1, "decided", json!({ "tx": tx })).await?;
            expect(&told, "decision", &json!(decision), "the coordinator's decision")?;
            shown.push(told.to_string());
        }
        Ok(shown.join(", then "))
    }

    /// The first client joins for both members; the second one is the application that waits.
    async fn tutorial_round(&mut self) -> SentenceResult {
        let round = self.number();
        let waiting = self.clients[1].send("enter", json!({ "round": round, "members": 2 }), None);
        for member in [1, 2] {
            let join = json!({ "round": round, "members": 2, "member": member });
            let joined = self.clients[0].ask("join", join, PATIENT).await?;
            let started = |error: &String| error.starts_with(STARTED);
            if joined.outcome != Outcome::Ok && !joined.error.as_ref().is_some_and(started) {
                return Err(joined.unlike("`ok`, or an error that begins with `start:`"));
            }
        }
        let entered = ok(self.clients[1].reply(waiting, PATIENT).await)?;
        for client in [0, 1] {
            self.asked(client, "close", json!({ "round": round })).await?;
        }
        Ok(entered.to_string())
    }
}

/// That a field of an answer is what it has to be.
fn expect(answer: &Value, field: &str, wanted: &Value, what: &str) -> Result<(), String> {
    match answer[field] == *wanted {
        true => Ok(()),
        false => Err(format!("{answer}, where `{field}` has to be {wanted}: {what}")),
    }
}
