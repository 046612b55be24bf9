//! Generators of ids: `generate`, answered with one.

mod generator;
mod sequential;

pub use sequential::{GeneratedId, IdGenerator};

use crate::call::{CallOutcome, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use sequential::DUPLICATE;
use std::rc::Rc;

/// Generators each of whose ids is given out once.
pub static GENERATORS: ModelEntry = ModelEntry {
    names: &["id-generator", "unique-ids"],
    summary: "generate, answered with an id that no other is answered with",
    operations: &["generate"],
    size: ModelSize::Fixed,
    begins: Some("no id is given out at first"),
    // What is added, only its reads show.
    fits: |operations| ModelFit::shown_if(operations.any(&["generate"]) && !operations.any(&["add"])),
    simulations: &[Simulation {
        name: "id-generator",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, generator::Ids::default()),
    }],
    judge: |model, calls, _, _, inquiry| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            if call.f != "generate" {
                return Err(unable(model, call));
            }
            if call.outcome == CallOutcome::Ok && !call.answered.is_nil() {
                let id = values.number(&call.answered, || format!("the id of event {}", call.invoke))?;
                reading.add(call, GeneratedId(id));
            }
        }
        let words = |given: &Rc<[u32]>, names: &StateNames<'_, '_>| match given.len() {
            0 => "no id given out".to_owned(),
            _ => format!("given out: {}", names.list(given.iter().map(|&id| values.value(id)))),
        };
        Ok(decide(DUPLICATE, &IdGenerator, reading, &words, inquiry))
    },
};
