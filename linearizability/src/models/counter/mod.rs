//! Counters: `add` of a number, and `read`.

mod generator;
mod schedule;
mod sequential;

pub use sequential::{Counter, CounterOp};

use crate::call::{CallOutcome, InputError, Reading};
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::decide;
use crate::model::{BrokenClaim, unordered};
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use crate::value::Value;

const UNORDERED: BrokenClaim = unordered("no order of the counter's operations fits");

/// Counters that begin at 0.
pub static COUNTERS: ModelEntry = ModelEntry {
    names: &["counter"],
    summary: "add of a whole number, and read",
    operations: &["add", "read"],
    size: ModelSize::Fixed,
    begins: Some("a counter is 0 at first"),
    fits: |operations| {
        ModelFit::shown_if(operations.any(&["add"]) && operations.reads(|value| value.as_i64().is_some()))
    },
    simulations: &[Simulation {
        name: "counter",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, generator::CounterObject::new(options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let mut reading = Reading::new();
        for &call in calls {
            let number = |value: &Value| {
                let (f, at) = (call.f, call.invoke);
                value.as_i64().ok_or_else(|| InputError::Unexpected {
                    what: format!("the {f} of event {at} has no whole number"),
                    found: value.clone(),
                })
            };
            match call.f {
                "add" => reading.add(call, CounterOp::Add(number(&call.asked)?)),
                "read" if call.outcome != CallOutcome::Ok || call.answered.is_nil() => {}
                "read" => reading.add(call, CounterOp::Read(number(&call.answered)?)),
                _ => return Err(unable(model, call)),
            }
        }
        Ok(decide(
            UNORDERED,
            &Counter,
            reading,
            &|count, _| count.to_string(),
            inquiry,
        ))
    },
};
