//! Sets: `add` of an element, and `read`, answered with all of them.

mod generator;
mod sequential;

pub use sequential::{GrowSet, SetOp};

use crate::call::{CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{GeneratedLoad, Simulation, Values, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, unordered};
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use crate::value::Value;
use std::rc::Rc;

const UNORDERED: BrokenClaim = unordered("no order of the set's operations fits");

/// Sets that are empty at the beginning.
pub static SETS: ModelEntry = ModelEntry {
    names: &["set"],
    summary: "add, and read, answered with all elements",
    operations: &["add", "read"],
    size: ModelSize::Fixed,
    begins: Some("a set is empty at first"),
    fits: |operations| {
        let sets = || operations.reads(|value| !value.is_nil() && value.elements().is_some());
        // What is read as a number is a counter.
        let numbers = || operations.reads(|value| value.as_i64().is_some());
        ModelFit::shown_if(operations.any(&["add"]) && sets() && !numbers())
    },
    simulations: &[Simulation {
        name: "set",
        clients: one_client,
        loads: &[GeneratedLoad::new(10_000, 10, 0.01, Values::Unique)],
        run: |options, _| simulate(options, generator::Set::new(options)),
    }],
    judge: |model, calls, conventions, _, inquiry| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            let (f, at) = (call.f, call.invoke);
            let mut number = |value: &Value| values.number(value, || format!("an element of the {f} of event {at}"));
            match f {
                "add" => {
                    reading.add(call, SetOp::Add(number(&call.asked)?));
                }
                "read" if call.outcome != CallOutcome::Ok => {}
                "read" if call.answered.is_nil() && conventions.nil_is_unknown => {}
                "read" => {
                    let Some(elements) = call.answered.elements() else {
                        return Err(InputError::Unexpected {
                            what: format!("the read of event {at} was answered with no set"),
                            found: call.answered.clone(),
                        });
                    };
                    let mut found: Vec<u32> = elements.iter().map(&mut number).collect::<Result<_, _>>()?;
                    found.sort_unstable();
                    found.dedup();
                    reading.add(call, SetOp::Read(found.into()));
                }
                _ => return Err(unable(model, call)),
            }
        }
        let words = |set: &Rc<[u64]>, names: &StateNames<'_, '_>| {
            let bits = (0..64 * set.len() as u32).filter(|bit| set[*bit as usize / 64] >> (bit % 64) & 1 == 1);
            let elements: Vec<&Value> = bits.map(|bit| values.value(bit)).collect();
            names.list(elements.into_iter())
        };
        Ok(decide(UNORDERED, &GrowSet, reading, &words, inquiry))
    },
};
