//! The trial of the family `counter`.

use super::exchanges::expect;
use super::family::FamilyTrial;
use super::{SentenceResult, Trial};
use futures_util::FutureExt;
use serde_json::json;
use zooquake_history::operation::counter::{self, f};

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &counter::FAMILY,
    course: |trial| trial.exchange().boxed(),
    once: |trial, _| trial.counter().boxed(),
    nonsense: None,
};

impl Trial {
    /// Each increment is one more than what the counter held.
    async fn counter(&mut self) -> SentenceResult {
        let before = self.asked(1, f::GET, json!({})).await?;
        let value = before["value"].as_i64();
        let value = value.ok_or_else(|| format!("`get` was answered {before}, without a number `value`"))?;
        for (client, id) in [(0, value + 1), (1, value + 2)] {
            let answer = self.asked(client, f::INCREMENT, json!({})).await?;
            expect(&answer, "id", &json!(id), "one more than the counter held")?;
        }
        let after = self.asked(0, f::GET, json!({})).await?;
        expect(&after, "value", &json!(value + 2), "the last id")?;
        Ok(format!("{before}, then {after}"))
    }
}
