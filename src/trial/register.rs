//! The trial of the family `register`.

use super::exchanges::expect;
use super::family::FamilyTrial;
use super::{PATIENT, SentenceResult, Trial};
use futures_util::FutureExt;
use serde_json::json;
use zooquake_history::operation::register::{self, f};
use zooquake_history::protocol::Outcome;

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &register::FAMILY,
    course: |trial| trial.exchange().boxed(),
    once: |trial, _| trial.register().boxed(),
    nonsense: Some(f::WRITE),
};

impl Trial {
    /// What one client writes the other one reads, through the only server; a compare-and-set of another value is a
    /// mismatch.
    async fn register(&mut self) -> SentenceResult {
        let (first, second, never) = (self.number(), self.number(), self.number());
        self.asked(0, f::WRITE, json!({ "value": first })).await?;
        let read = self.asked(1, f::READ, json!({})).await?;
        expect(&read, "value", &json!(first), "what was written last")?;
        self.asked(0, f::CAS, json!({ "from": first, "to": second })).await?;
        let mismatch = json!({ "from": first, "to": never });
        let refused = self.clients[1].ask(f::CAS, mismatch, PATIENT).await?;
        if refused.outcome != Outcome::Fail {
            return Err(refused.unlike("`fail`, since the register held another value"));
        }
        let read = self.asked(1, f::READ, json!({})).await?;
        expect(&read, "value", &json!(second), "what was set last")?;
        Ok(format!("{}, then {read}", refused.shown()))
    }
}
