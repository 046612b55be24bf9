//! Clients that are granted something (locks, elections, semaphores), and those that wait for it meanwhile.

use super::common::refused_as;
use super::conversation::TimedReply;
use super::family::FamilyTrial;
use super::sentences::{
    BESIDE, BUSY, CONFIRM, EPHEMERAL, HAND_OVER, NOT_HELD, NOTHING_LEFT, OPERATES, QUIESCE, RELEASE, SESSION, TIMEOUT,
    TOKEN, WAITING, WOKEN, WORKS,
};
use super::znodes::is_session;
use super::{CLIENTS, PATIENT, SOON, SentenceResult, Trial};
use anyhow::Result;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::fault::Wire;
use zooquake_history::operation::grant::f;
use zooquake_history::operation::{Family, GrantOps, control};
use zooquake_history::plan::LeaseTerm;
use zooquake_history::protocol::Outcome;

/// Milliseconds that a holder works.
const WORK_MS: u64 = 500;

/// How long after a lease was refused it is asked for again.
const LEASE_AGAIN: Duration = Duration::from_millis(200);

/// The value of a reply that is `ok`.
pub(super) fn ok(reply: Result<TimedReply, String>) -> Result<Value, String> {
    let reply = reply?;
    match reply.outcome {
        Outcome::Ok => Ok(reply.value),
        _ => Err(reply.unlike("`ok`")),
    }
}

/// A family that grants, and its trial.
pub(super) const fn granting(spec: &'static Family) -> FamilyTrial {
    FamilyTrial {
        spec,
        course: |trial| trial.holder().boxed(),
        once: |trial, _| trial.hold_once().boxed(),
        nonsense: Some(spec.grant_ops().takes),
    }
}

impl Trial {
    /// A client is granted something, and gives it back.
    async fn hold_once(&mut self) -> SentenceResult {
        let grant = self.hold(0).await?;
        self.leave(0, &grant).await.map(|_| grant.to_string())
    }

    /// Asks a client to hold; its grant's value.
    pub(super) async fn hold(&mut self, client: usize) -> Result<Value, String> {
        if !self.family.spec.grants {
            return Err("nothing is granted".to_string());
        }
        let (ask, grant) = (self.family.spec.grant_ops().takes, self.grant());
        let over = self.plan.workload.lease_term().map_or(Duration::ZERO, LeaseTerm::most);
        let patience = self.clock.now() + over;
        let value = loop {
            let answer = ok(self.clients[client].ask(ask, json!({ "grant": grant }), PATIENT).await);
            // A lease that lasts for a time is refused until it is over.
            if answer.is_ok() || self.clock.now() >= patience {
                break answer?;
            }
            self.clock.sleep(LEASE_AGAIN).await;
        };
        if value["grant"] != json!(grant) {
            return Err(format!("{value} does not repeat the grant {grant}"));
        }
        self.has_fields(ask, &value)?;
        if self.names_session() && !value["session"].as_str().is_some_and(is_session) {
            return Err(format!("{value} has no session such as \"0x100a1b2c3d40001\""));
        }
        Ok(value)
    }

    /// Whether a grant names the session that it lives with.
    pub(super) fn names_session(&self) -> bool {
        self.can("session") && self.plan.workload.lease_term().is_none()
    }

    /// Whether others wait while one client holds.
    pub(super) fn waits_for_one(&self) -> bool {
        let workload = &self.plan.workload;
        workload.capabilities().capacity.get() == 1 && workload.lease_term().is_none()
    }

    /// Gives a grant back.
    pub(super) async fn leave(&mut self, client: usize, grant: &Value) -> Result<Value, String> {
        let leave = self.family.spec.grant_ops().gives;
        ok(self.clients[client]
            .ask(leave, json!({ "grant": grant["grant"] }), PATIENT)
            .await)
    }

    /// That to give a grant back removes its znode.
    pub(super) async fn gives_back(&mut self, client: usize, grant: &Value) -> Result<()> {
        let left = self.leave(client, grant).await;
        self.note(RELEASE, self.removed(grant, left).await?);
        Ok(())
    }

    async fn holder(&mut self) -> Result<()> {
        let granted = self.hold(0).await;
        let seen = granted.as_ref().map(ToString::to_string).map_err(Clone::clone);
        self.note(OPERATES, seen);
        let Ok(grant) = granted else { return Ok(()) };
        self.note(TOKEN, self.token(&grant));
        self.note(SESSION, self.connected(&grant));
        self.note(EPHEMERAL, self.ephemeral(&grant).await?);
        let seen = self.confirms(Some(&grant)).await?;
        self.note(CONFIRM, seen);
        let Some(grant) = self.held(grant).await? else {
            return Ok(());
        };
        let seen = self.quiet(0, Some(&grant)).await?;
        self.note(QUIESCE, seen);
        let Some(grant) = self.held(grant).await? else {
            return Ok(());
        };
        self.works(&grant).await?;
        self.not_held().await;
        let Some(grant) = self.held(grant).await? else {
            return Ok(());
        };
        if self.waits_for_one() {
            self.waits(&grant).await?;
            self.awake().await?;
            self.waits_through_a_cut().await?;
        } else {
            self.gives_back(0, &grant).await?;
        }
        if self.family.spec.grant_ops().reads.is_some() {
            let seen = self.shared().await;
            self.note(OPERATES, seen);
        }
        Ok(())
    }

    /// Both clients hold shared at a time, read, and give back.
    async fn shared(&mut self) -> SentenceResult {
        let mut grants = Vec::new();
        for client in [0, 1] {
            let grant = json!({ "grant": self.grant(), "mode": "shared" });
            grants.push(ok(self.clients[client].ask(f::ACQUIRE, grant, PATIENT).await)?["grant"].clone());
        }
        let mut shown = Vec::new();
        for f in [f::READ, f::RELEASE] {
            for (client, grant) in grants.iter().enumerate() {
                shown.push(ok(self.clients[client].ask(f, json!({ "grant": grant }), PATIENT).await)?.to_string());
            }
        }
        Ok(shown.join(", "))
    }

    /// The grant that the first client holds: this one, or another if the process that held it has ended.
    async fn held(&mut self, grant: Value) -> Result<Option<Value>> {
        let ended = self.clients[0].ended();
        self.awake().await?;
        Ok(if ended { self.hold(0).await.ok() } else { Some(grant) })
    }

    /// That an answer has a token where the recipe promises one, and nowhere else.
    fn token(&self, answer: &Value) -> SentenceResult {
        match (self.plan.workload.fenced, answer["token"].is_i64()) {
            (true, false) => Err(format!("{answer} has no token, though the recipe is fenced")),
            (false, true) => Err(format!(
                "{answer} has a token, though the manifest does not promise one (`fenced = true`): nothing checks it"
            )),
            _ => Ok(answer.to_string()),
        }
    }

    /// That the session of a grant was reported as connected.
    pub(super) fn connected(&self, grant: &Value) -> SentenceResult {
        let told = self.clients[0].sessions();
        let shown = format!("the notices of sessions were {told:?}");
        let of = |(session, state): &(String, String)| {
            state == "connected" && (!self.names_session() || grant["session"] == json!(session))
        };
        match told.iter().any(of) {
            true => Ok(shown),
            false => Err(format!("{shown}; expected: one of {}, `connected`", grant["session"])),
        }
    }

    /// That `confirm` reports that it holds this grant, or none, after a write.
    pub(super) async fn confirms(&mut self, grant: Option<&Value>) -> Result<SentenceResult> {
        let reply = self.clients[0].ask(control::f::CONFIRM, json!({}), PATIENT).await;
        // A write in one session confirms no grant that rests on another one, which the client cannot name.
        if grant.is_some()
            && !self.can("session")
            && let Ok(reply) = &reply
            && reply.outcome == Outcome::Info
        {
            return Ok(Ok(reply.shown()));
        }
        let reply = ok(reply);
        let tree = self.tree().await?;
        Ok(reply.and_then(|value| {
            let held = grant.map_or(Value::Null, |grant| grant["grant"].clone());
            if value["holds"] != json!(grant.is_some()) || value["grant"] != held {
                return Err(format!("{value}, while it holds {held}"));
            }
            let scratch = tree.iter().find(|znode| znode.path == "/zooquake/scratch/c1");
            let scratch = scratch.ok_or("there is no /zooquake/scratch/c1")?;
            match value["zxid"].as_i64() == Some(scratch.mzxid) {
                true => Ok(value.to_string()),
                false => Err(format!(
                    "{value}, but the scratch znode was written by {}",
                    scratch.mzxid
                )),
            }
        }))
    }

    /// A holder that works, and what is asked beside that.
    async fn works(&mut self, grant: &Value) -> Result<()> {
        let GrantOps {
            takes: ask,
            works: work,
            ..
        } = self.family.spec.grant_ops();
        let mut value = json!({ "grant": grant["grant"], "work_ms": WORK_MS });
        if work == f::WRITE {
            value["value"] = json!(31);
        }
        let working = self.clients[0].send(work, value, None);
        let name = self.grant();
        let second = self.clients[0].ask(ask, json!({ "grant": name }), SOON).await;
        self.note(BUSY, refused_as(second, "busy"));
        if self.can("beside") {
            let seen = self.beside().await;
            self.note(BESIDE, seen);
        }
        let reply = self.clients[0].reply(working, SOON).await;
        let enough = Duration::from_millis(WORK_MS - 5);
        if let (f::WRITE, Ok(reply)) = (work, &reply) {
            let seen = self
                .token(&reply.value)
                .and_then(|seen| match reply.value["token"] == grant["token"] {
                    true => Ok(seen),
                    false => Err(reply.unlike(&format!("the token of the grant, {}", grant["token"]))),
                });
            self.note(TOKEN, seen);
        }
        let seen = reply.and_then(|reply| {
            let repeats =
                reply.value["grant"] == grant["grant"] && (work != f::WRITE || reply.value["value"] == json!(31));
            let lacks = [
                (reply.outcome == Outcome::Ok, "`ok`".to_string()),
                (repeats, format!("what was asked is repeated: {}, 31", grant["grant"])),
                (reply.took >= enough, format!("after {WORK_MS} ms of work")),
            ];
            match lacks.into_iter().find(|(holds, _)| !holds) {
                None => Ok(reply.shown()),
                Some((_, expected)) => Err(reply.unlike(&expected)),
            }
        });
        self.note(WORKS, seen);
        Ok(())
    }

    /// That control requests are answered while an operation is pending.
    pub(super) async fn beside(&mut self) -> SentenceResult {
        for control in control::f::ALL {
            self.clients[0]
                .ask(control, json!({}), Duration::from_millis(WORK_MS - 50))
                .await
                .map_err(|why| format!("{control}: {why}, while an operation was pending"))?;
        }
        Ok("all three were answered".to_string())
    }

    async fn not_held(&mut self) {
        let ops = self.family.spec.grant_ops();
        for f in [ops.works, ops.gives] {
            let value = json!({ "grant": "g-of-nobody", "value": 1 });
            let seen = refused_as(self.clients[1].ask(f, value, SOON).await, "not-held");
            self.note(NOT_HELD, seen.map_err(|why| format!("{f}: {why}")));
        }
    }

    /// A second client waits while the first holds, and is handed over to.
    pub(super) async fn waits(&mut self, grant: &Value) -> Result<()> {
        let ask = self.family.spec.grant_ops().takes;
        let name = self.grant();
        let waiting = self.clients[1].send(ask, json!({ "grant": name }), None);
        if self.can("beside") {
            let seen = self.names_waiting().await?;
            self.note(WAITING, seen);
        }
        self.gives_back(0, grant).await?;
        let handed = ok(self.clients[1].reply(waiting, PATIENT).await);
        self.note(
            HAND_OVER,
            handed.as_ref().map(ToString::to_string).map_err(Clone::clone),
        );
        if let Ok(grant) = handed {
            self.gives_back(1, &grant).await?;
        }
        Ok(())
    }

    /// The connection of a second client is cut while it waits, and the first gives back. A watch that a client thinks
    /// it has set may be gone with the connection.
    pub(super) async fn waits_through_a_cut(&mut self) -> Result<()> {
        let Ok(grant) = self.hold(0).await else { return Ok(()) };
        let ask = self.family.spec.grant_ops().takes;
        let name = self.grant();
        let waiting = self.clients[1].send(ask, json!({ "grant": name }), None);
        self.contends(1).await?;
        self.cluster.disconnect(&CLIENTS[1], Wire::Reset).await?;
        self.cluster.reconnect(&CLIENTS[1]).await?;
        // Whatever it answers: this clears away what is left of the grant.
        let _ = self.leave(0, &grant).await;
        let reply = self.clients[1].reply(waiting, PATIENT).await;
        let seen = match &reply {
            Err(_) if self.clients[1].ended() => Ok("its process ended".to_string()),
            reply => reply.as_ref().map(TimedReply::shown).map_err(Clone::clone),
        };
        if !self.note(WOKEN, seen) {
            // It is asked nothing more while it waits.
            self.cluster.kill(&CLIENTS[1]).await?;
            self.clients[1].end(SOON).await;
            self.start(1).await?;
        }
        if let Ok(grant) = ok(reply) {
            self.gives_back(1, &grant).await?;
        }
        Ok(())
    }

    /// Waits until a client has made what it contends with, if that can be seen, and for a moment more, in which it
    /// begins to wait.
    async fn contends(&mut self, client: usize) -> Result<()> {
        let by = self.clock.now() + SOON;
        while self.clock.now() < by && !self.tree().await?.iter().any(|znode| self.is_own(client, znode)) {
            self.clock.sleep(BEGINS).await;
        }
        self.clock.sleep(BEGINS).await;
        Ok(())
    }

    /// A second client waits until its timeout while the first holds. It may leave something behind that is in
    /// everybody's way.
    pub(super) async fn waits_in_vain(&mut self) -> Result<()> {
        let ask = self.family.spec.grant_ops().takes;
        let name = self.grant();
        let asked = self.clients[1].send(ask, json!({ "grant": name }), Some(TIMEOUT_MS));
        let late = Duration::from_millis(TIMEOUT_MS) + SOON;
        let reply = self.clients[1].reply(asked, late).await;
        let seen = reply
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|reply| match reply.outcome {
                Outcome::Ok => Err(format!("{}, while another client held", reply.shown())),
                _ => Ok(reply.shown()),
            });
        self.note(TIMEOUT, seen);
        if let Ok(TimedReply {
            outcome: Outcome::Fail, ..
        }) = reply
        {
            let left = self.tree().await?.into_iter().find(|znode| self.is_own(1, znode));
            let seen = left.map_or(Ok("no znode of its sessions".to_string()), |znode| {
                Err(format!("{} is left", znode.path))
            });
            self.note(NOTHING_LEFT, seen);
        }
        Ok(())
    }
}

/// `timeout_ms` of an acquire that cannot succeed.
const TIMEOUT_MS: u64 = 600;

/// Time in which a client that has made its znode reads who is before it, and sets its watch.
pub(super) const BEGINS: Duration = Duration::from_millis(300);
