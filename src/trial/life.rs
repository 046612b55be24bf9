//! What a client does that is cut off, killed, or left alone.

use super::sentences::{AWAY, CUT_OFF, END_OF_STDIN, KILLED, OVER, RECOVERS};
use super::{CLIENTS, PATIENT, SERVER, SOON, SentenceResult, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_backend::Directions;
use zooquake_history::operation::barrier;
use zooquake_history::operation::control::f;
use zooquake_history::protocol::Outcome;

const BOTH: Directions = Directions {
    inbound: true,
    outbound: true,
};

/// `timeout_ms` of a control request whose write cannot succeed.
const CONFIRM_MS: u64 = 1_000;

/// What is seen of a client that ends when its session is lost.
const MAY_END: &str = "the process ended, as it may";

impl Trial {
    pub(super) async fn life(&mut self) -> Result<()> {
        self.awake().await?;
        self.cut_off().await?;
        self.awake().await?;
        self.killed().await?;
        self.awake().await?;
        self.left_alone().await
    }

    /// The first client's session is over while it holds, if there is something to hold.
    async fn cut_off(&mut self) -> Result<()> {
        let grant = self.hold(0).await.ok();
        let (timing, begun) = (self.plan.cluster.timing, self.clock.now());
        let peers = [SERVER.clone()];
        let before = self.clients[0].sessions();
        let (told, connected) = (
            before.len(),
            before.last().is_some_and(|(_, state)| state == "connected"),
        );
        self.cluster.partition(&CLIENTS[0], &peers, BOTH).await?;
        for writes in [f::CONFIRM].into_iter().chain(self.shows_views().then_some(f::VIEW)) {
            let seen = self.cannot_write(writes).await;
            self.note(CUT_OFF, seen);
        }
        let over = Duration::from_millis(timing.session_ms * 5 / 2 + timing.tick_ms);
        self.clock.sleep((begun + over).saturating_sub(self.clock.now())).await;
        self.cluster.heal_partition(&CLIENTS[0], &peers).await?;
        if !self.clients[0].ended() {
            if connected {
                self.note(AWAY, self.away(told).await);
            }
            if let Some(grant) = &grant {
                let seen = self.unconfirmed(grant).await;
                self.note(OVER, seen);
                // Whatever it answers: this clears away what is left of the grant.
                let _ = self.leave(0, grant).await;
            }
        }
        let seen = self.works_again(true).await?;
        self.note(RECOVERS, seen);
        Ok(())
    }

    /// That a control request whose write cannot succeed is answered `info`.
    async fn cannot_write(&mut self, f: &'static str) -> SentenceResult {
        let asked = self.clients[0].send(f, json!({}), Some(CONFIRM_MS));
        let limit = Duration::from_millis(CONFIRM_MS) + SOON;
        match self.clients[0].reply(asked, limit).await {
            Ok(reply) if reply.outcome == Outcome::Info => Ok(reply.shown()),
            Ok(reply) => Err(format!("{}, while it was cut off", reply.shown())),
            Err(_) if self.clients[0].ended() => Ok(MAY_END.to_string()),
            Err(why) => Err(why),
        }
    }

    async fn away(&self, told: usize) -> SentenceResult {
        let away = |(_, state): &(String, String)| state == "disconnected" || state == "expired";
        let until = self.clock.now() + SOON;
        loop {
            if self.clients[0].ended() {
                return Ok(MAY_END.to_string());
            }
            let later = self.clients[0].sessions().split_off(told);
            if later.iter().any(away) {
                return Ok(format!("reported: {later:?}"));
            }
            if self.clock.now() >= until {
                return Err(format!("cut off for longer than its session, it reported {later:?}"));
            }
            self.clock.sleep(Duration::from_millis(50)).await;
        }
    }

    /// That no `confirm` confirms the grant whose session is over. One in that session, which the recipe has not
    /// replaced, fails.
    async fn unconfirmed(&mut self, grant: &Value) -> SentenceResult {
        let until = self.clock.now() + SOON;
        loop {
            let reply = match self.clients[0].ask(f::CONFIRM, json!({}), PATIENT).await {
                Err(_) if self.clients[0].ended() => return Ok(MAY_END.to_string()),
                reply => reply?,
            };
            match reply.outcome {
                Outcome::Ok if reply.value["holds"] == json!(true) => {
                    return Err(format!(
                        "{}, though the session of {} is over",
                        reply.shown(),
                        grant["grant"]
                    ));
                }
                Outcome::Ok => return Ok(reply.shown()),
                _ if self.clock.now() >= until => return Ok(reply.shown()),
                _ => self.clock.sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// An operation that can succeed does; one that the way back has broken off may be tried again. A process whose
    /// session is over may end, and is then started again.
    async fn works_again(&mut self, may_end: bool) -> Result<SentenceResult> {
        let until = self.clock.now() + PATIENT;
        loop {
            let ended = self.clients[0].ended();
            if ended && may_end {
                self.start(0).await?;
            }
            let done = (self.family.once)(self, true).await;
            match done {
                Err(why) if self.clock.now() >= until || (ended && !may_end) => return Ok(Err(why)),
                Err(_) => self.clock.sleep(Duration::from_millis(100)).await,
                done => return Ok(done),
            }
        }
    }

    async fn killed(&mut self) -> Result<()> {
        // If it is granted nothing that there is to hold, `recovers` has reported so.
        let _ = self.hold(0).await;
        self.cluster.kill(&CLIENTS[0]).await?;
        if !self.clients[0].end(SOON).await {
            anyhow::bail!("c1 was killed, and its stream did not end");
        }
        self.start(0).await?;
        let seen = self.works_again(false).await?;
        self.note(KILLED, seen);
        Ok(())
    }

    async fn left_alone(&mut self) -> Result<()> {
        let grant = self.hold(0).await.ok();
        if grant.is_some() && self.waits_for_one() {
            self.waits_in_vain().await?;
        }
        if self.family.spec.name == barrier::FAMILY.name {
            self.alone().await;
        }
        self.clients[0].close();
        let ended = self.clients[0].end(SOON).await;
        let tree = self.tree().await?;
        let seen = match (ended, grant) {
            (false, _) => Err(format!("it still ran {} ms later", SOON.as_millis())),
            (true, Some(grant))
                if grant["path"].is_string() && !tree.iter().any(|znode| grant["path"] == json!(znode.path)) =>
            {
                Err(format!("it ended, but {} was gone with it", grant["path"]))
            }
            (true, Some(grant)) => Ok(format!("it ended, and {} stayed", grant["path"])),
            (true, None) => Ok("it ended".to_string()),
        };
        self.note(END_OF_STDIN, seen);
        Ok(())
    }
}
