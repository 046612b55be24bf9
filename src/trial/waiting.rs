//! A client that waits for a grant while another one holds.

use super::conversation::TimedReply;
use super::holder::ok;
use super::sentences::{HAND_OVER, NOTHING_LEFT, TIMEOUT, WAITING, WOKEN};
use super::{CLIENTS, PATIENT, SOON, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::fault::Wire;
use zooquake_history::protocol::Outcome;

/// `timeout_ms` of an acquire that cannot succeed.
const TIMEOUT_MS: u64 = 600;

/// Time in which a client that has made its znode reads who is before it, and sets its watch.
const BEGINS: Duration = Duration::from_millis(300);

impl Trial {
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
        self.cluster.disconnect(CLIENTS[1], Wire::Reset).await?;
        self.cluster.reconnect(CLIENTS[1]).await?;
        // Whatever it answers: this clears away what is left of the grant.
        let _ = self.leave(0, &grant).await;
        let reply = self.clients[1].reply(waiting, PATIENT).await;
        let seen = match &reply {
            Err(_) if self.clients[1].ended() => Ok("its process ended".to_string()),
            reply => reply.as_ref().map(TimedReply::shown).map_err(Clone::clone),
        };
        if !self.note(WOKEN, seen) {
            // It is asked nothing more while it waits.
            self.cluster.kill(CLIENTS[1]).await?;
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
