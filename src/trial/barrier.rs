//! The trial of the family `barrier`: of a double barrier, of the tutorial's, and of a gate.

use super::common::refused_as;
use super::family::FamilyTrial;
use super::holder::{BEGINS, ok};
use super::sentences::{BESIDE, BUSY, EPHEMERAL, HAND_OVER, QUIESCE, TIMEOUT, WOKEN};
use super::{CLIENTS, PATIENT, SOON, SentenceResult, Trial};
use anyhow::Result;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::fault::Wire;
use zooquake_history::operation::barrier::{self, f};
use zooquake_history::plan::BarrierKind;
use zooquake_history::protocol::Outcome;

/// How long a member of a round is listened to before the other one is.
const LOOK: Duration = Duration::from_millis(50);

/// The error with which a `join` ends that found `start` made by another member: it has joined.
const STARTED: &str = "start:";

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &barrier::FAMILY,
    course: |trial| trial.barrier().boxed(),
    once: |trial, again| match trial.barrier_kind() {
        BarrierKind::Double => trial.round(again).boxed(),
        BarrierKind::Tutorial => trial.tutorial_round().boxed(),
        BarrierKind::Gate => trial.gate_round().boxed(),
    },
    nonsense: Some(f::JOIN),
};

impl Trial {
    fn barrier_kind(&self) -> BarrierKind {
        self.plan.workload.capabilities().barrier_kind()
    }

    async fn barrier(&mut self) -> Result<()> {
        self.exchange().await?;
        if self.barrier_kind() == BarrierKind::Gate {
            self.waits_at_a_gate_through_a_cut().await?;
        }
        Ok(())
    }

    /// A client waits at a gate until that is lifted.
    async fn gate_round(&mut self) -> SentenceResult {
        let round = json!({ "round": self.number() });
        self.asked(1, f::RAISE, round.clone()).await?;
        let waiting = self.clients[0].send(f::WAIT, round.clone(), None);
        let early = self.clients[0].reply(waiting, LOOK).await;
        let seen = match early {
            Ok(reply) => Err(format!("{}, while the gate stood", reply.shown())),
            Err(_) => {
                self.asked(1, f::LIFT, round).await?;
                ok(self.clients[0].reply(waiting, PATIENT).await).map(|passed| passed.to_string())
            }
        };
        self.note(HAND_OVER, seen.clone());
        seen
    }

    /// The connection of a client is cut while it waits at a gate, which is lifted then.
    async fn waits_at_a_gate_through_a_cut(&mut self) -> Result<()> {
        let round = json!({ "round": self.number() });
        if self.asked(1, f::RAISE, round.clone()).await.is_err() {
            return Ok(());
        }
        let waiting = self.clients[0].send(f::WAIT, round.clone(), None);
        self.clock.sleep(BEGINS).await;
        self.cluster.disconnect(&CLIENTS[0], Wire::Reset).await?;
        self.cluster.reconnect(&CLIENTS[0]).await?;
        let lifted = self.asked(1, f::LIFT, round).await;
        let reply = self.clients[0].reply(waiting, PATIENT).await;
        let seen = match reply {
            _ if lifted.is_err() => lifted.map(|lifted| lifted.to_string()),
            Err(_) if self.clients[0].ended() => Ok("its process ended".to_string()),
            reply => reply.map(|reply| reply.shown()),
        };
        if !self.note(WOKEN, seen) {
            // It is asked nothing more while it waits.
            self.cluster.kill(&CLIENTS[0]).await?;
            self.clients[0].end(SOON).await;
            self.start(0).await?;
        }
        Ok(())
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

    /// One enters alone, or waits at a gate that stands, until its timeout. It may never come back from that.
    pub(super) async fn alone(&mut self) {
        let (timeout_ms, round) = (600, self.number());
        let (waits, leaves) = match self.barrier_kind() {
            BarrierKind::Tutorial => return,
            BarrierKind::Double => (f::ENTER, f::LEAVE),
            BarrierKind::Gate => (f::WAIT, f::LIFT),
        };
        if waits == f::WAIT && self.asked(1, f::RAISE, json!({ "round": round })).await.is_err() {
            return;
        }
        let alone = self.clients[0].send(waits, json!({ "round": round, "members": 2 }), Some(timeout_ms));
        let second = self.clients[0].ask(leaves, json!({ "round": round }), SOON).await;
        self.note(BUSY, refused_as(second, "busy"));
        if self.can("beside") {
            let seen = self.beside().await;
            self.note(BESIDE, seen);
        }
        let reply = self.clients[0]
            .reply(alone, Duration::from_millis(timeout_ms) + SOON)
            .await;
        let seen = reply.and_then(|reply| match reply.outcome {
            Outcome::Ok => Err(format!("{}, though nobody let it in", reply.shown())),
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
