//! The trial of the family `commit`.

use super::exchanges::expect;
use super::family::FamilyTrial;
use super::holder::ok;
use super::{PATIENT, SentenceResult, Trial};
use futures_util::FutureExt;
use serde_json::json;
use zooquake_history::operation::commit::{self, f};

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &commit::FAMILY,
    course: |trial| trial.exchange().boxed(),
    once: |trial, _| trial.commit().boxed(),
    nonsense: Some(f::BEGIN),
};

impl Trial {
    /// The first client coordinates a transaction of which the second one is the only site: one that commits, and one
    /// that aborts.
    async fn commit(&mut self) -> SentenceResult {
        let mut shown = Vec::new();
        for (vote, decision) in [("yes", "commit"), ("no", "abort")] {
            let tx = format!("t{}", self.number());
            let transaction = json!({ "tx": tx, "sites": ["c2"], "payload": vote });
            self.asked(0, f::BEGIN, transaction.clone()).await?;
            let voting = self.clients[1].send(f::VOTE, json!({ "tx": tx, "vote": vote, "work_ms": 10 }), None);
            let deciding = self.clients[0].send(f::DECIDE, transaction, None);
            let voted = ok(self.clients[1].reply(voting, PATIENT).await)?;
            expect(&voted, "voted", &json!(vote), "the vote that was asked for")?;
            let decided = ok(self.clients[0].reply(deciding, PATIENT).await)?;
            expect(
                &decided,
                "decision",
                &json!(decision),
                "the decision that the vote demands",
            )?;
            let told = self.asked(1, f::DECIDED, json!({ "tx": tx })).await?;
            expect(&told, "decision", &json!(decision), "the coordinator's decision")?;
            shown.push(told.to_string());
        }
        Ok(shown.join(", then "))
    }
}
