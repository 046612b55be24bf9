//! Generators of ids: `generate`, answered with one.

use super::{HistoryModel, decide, unable};
use crate::CallOutcome;
use crate::equality::ValueNumbers;
use crate::models::ids::{DUPLICATE, Generated, IdGenerator};
use crate::reading::Reading;

/// Generators each of whose ids is given out once.
pub static GENERATORS: HistoryModel = HistoryModel {
    names: &["id-generator", "unique-ids"],
    operations: &["generate"],
    sized: false,
    judge: |model, calls, _, _, budget| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            if call.f != "generate" {
                return Err(unable(model, call));
            }
            if call.outcome == CallOutcome::Ok && !call.answered.is_nil() {
                let id = values.number(&call.answered, || format!("the id of event {}", call.invoke))?;
                reading.add(call, Generated(id));
            }
        }
        Ok(decide(DUPLICATE, &IdGenerator, reading, budget))
    },
};
