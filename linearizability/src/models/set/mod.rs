//! Sets: `add` of an element, and `read`, answered with all of them.

mod generator;
mod sequential;

pub use sequential::{GrowSet, SetOp};

use crate::BrokenClaim;
use crate::equality::ValueNumbers;
use crate::generate::simulate;
use crate::models::registry::{ModelEntry, Simulation};
use crate::models::support::{decide, unable, unordered};
use crate::reading::Reading;
use crate::{CallOutcome, InputError, Value};

const UNORDERED: BrokenClaim = unordered("no order of the set's operations fits");

/// Sets that are empty at the beginning.
pub static SETS: ModelEntry = ModelEntry {
    names: &["set"],
    operations: &["add", "read"],
    sized: false,
    simulations: &[Simulation::new("set", |options, _| {
        simulate(options, generator::Set::new(options))
    })],
    judge: |model, calls, conventions, _, budget| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            let (f, at) = (call.f, call.invoke);
            let mut number = |value: &Value| values.number(value, || format!("an element of the {f} of event {at}"));
            match f {
                "add" => {
                    let element = number(&call.asked)?;
                    reading.add(call, SetOp::Add(element));
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
        Ok(decide(UNORDERED, &GrowSet, reading, budget))
    },
};
