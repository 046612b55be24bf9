//! Generators of ids: `generate`, answered with one.

mod generator;
mod sequential;

pub use sequential::{Generated, IdGenerator};

use crate::CallOutcome;
use crate::equality::ValueNumbers;
use crate::generate::simulate;
use crate::models::registry::{ModelEntry, Simulation};
use crate::models::support::{decide, unable};
use crate::reading::Reading;
use sequential::DUPLICATE;

/// Generators each of whose ids is given out once.
pub static GENERATORS: ModelEntry = ModelEntry {
    names: &["id-generator", "unique-ids"],
    operations: &["generate"],
    sized: false,
    simulations: &[Simulation::new("id-generator", |options, _| {
        simulate(options, generator::Ids::default())
    })],
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
