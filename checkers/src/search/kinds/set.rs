//! Sets: `add` of an element, and `read`, answered with all of them.

use super::{Claim, HistoryModel, decide, unable, unordered};
use crate::edn::{Edn, from_json, to_json};
use crate::search::models::set::{GrowSet, SetOp};
use crate::search::reading::{Notation, Reading};
use crate::search::values::Values;
use crate::{EventType, Value};

const UNORDERED: Claim = unordered("no order of the set's operations fits");

/// Sets that are empty at the beginning.
pub static SETS: HistoryModel = HistoryModel {
    names: &["set"],
    operations: &["add", "read"],
    sized: false,
    judge: |model, calls, notation, _, budget| {
        let (mut reading, mut values) = (Reading::new(), Values::default());
        for &call in calls {
            let (f, at) = (call.f(), call.invoke.index);
            let mut number = |value: &Value| {
                let number = values.number(value);
                number.map_err(|what| format!("an element of the {f} of event {at} cannot be compared: {what}"))
            };
            match f {
                "add" => {
                    let element = number(call.asked)?;
                    reading.add(call, SetOp::Add(element));
                }
                "read" if call.outcome() != EventType::Ok => {}
                // In maps nil means that the value is not known.
                "read" if call.answered.is_null() && notation == Notation::Maps => {}
                "read" => {
                    let Some(elements) = elements(call.answered) else {
                        return Err(format!(
                            "the read of event {at} was answered with no set, but {}",
                            call.answered
                        ));
                    };
                    let mut found: Vec<u32> = elements.iter().map(&mut number).collect::<Result<_, _>>()?;
                    found.sort_unstable();
                    found.dedup();
                    reading.add(call, SetOp::Read(found.into()));
                }
                _ => return Err(unable(model, &call)),
            }
        }
        Ok(decide(&UNORDERED, &GrowSet, reading, budget))
    },
};

/// Whether a value is a set, a list or a vector.
pub fn is_collection(value: &Value) -> bool {
    !value.is_null() && elements(value).is_some()
}

fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(elements) => Some(elements.to_vec()),
        Value::String(_) => match from_json(value) {
            Edn::Set(elements) | Edn::Vector(elements) | Edn::List(elements) => {
                Some(elements.iter().map(to_json).collect())
            }
            _ => None,
        },
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}
