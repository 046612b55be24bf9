//! Generators of ids: `generate`, answered with one.

use super::{HistoryModel, decide, unable};
use crate::history::EventType;
use crate::search::models::ids::{DUPLICATE, Generated, IdGenerator};
use crate::search::reading::Reading;
use crate::search::values::Values;

/// Generators each of whose ids is given out once.
pub static GENERATORS: HistoryModel = HistoryModel {
    names: &["id-generator", "unique-ids"],
    operations: &["generate"],
    sized: false,
    judge: |model, calls, _, _, budget| {
        let (mut reading, mut values) = (Reading::new(), Values::default());
        for &call in calls {
            if call.f() != "generate" {
                return Err(unable(model, &call));
            }
            if call.outcome() == EventType::Ok && !call.answered.is_null() {
                let id = values
                    .number(call.answered)
                    .map_err(|what| format!("the id of event {} cannot be compared: {what}", call.invoke.index))?;
                reading.add(call, Generated(id));
            }
        }
        Ok(decide(&DUPLICATE, &IdGenerator, reading, budget))
    },
};
