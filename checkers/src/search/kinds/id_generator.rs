//! Generators of ids: `generate`, answered with one.

use super::{HistoryModel, Judgement, decide, unable};
use crate::history::EventType;
use crate::search::calls::Call;
use crate::search::models::ids::{Generated, IdGenerator};
use crate::search::reading::{Notation, Reading};
use crate::search::values::Values;
use crate::search::{Budget, Claim};

const UNORDERED: Claim = Claim {
    kind: "duplicate-id",
    property: "ids are unique",
    says: "the same id was given out twice",
};

/// Generators each of whose ids is given out once.
pub struct Generators;

impl HistoryModel for Generators {
    fn names(&self) -> &'static [&'static str] {
        &["id-generator", "unique-ids"]
    }

    fn operations(&self) -> &'static [&'static str] {
        &["generate"]
    }

    fn judge(&self, calls: &[Call<'_>], _: Notation, _: u32, budget: &mut Budget<'_>) -> Result<Judgement, String> {
        let (mut reading, mut values) = (Reading::new(), Values::default());
        for &call in calls {
            if call.f() != "generate" {
                return Err(unable(self, &call));
            }
            if call.outcome() == EventType::Ok && !call.answered.is_null() {
                let id = values
                    .number(call.answered)
                    .map_err(|what| format!("the id of event {} cannot be compared: {what}", call.invoke.index))?;
                reading.add(call, Generated(id));
            }
        }
        Ok(decide(&UNORDERED, &IdGenerator, reading, budget))
    }
}
