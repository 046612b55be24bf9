//! Counters: `add` of a number, and `read`.

use super::{Claim, HistoryModel, decide, unable, unordered};
use crate::models::counter::{Counter, CounterOp};
use crate::reading::Reading;
use crate::{CallOutcome, InputError, Value};

const UNORDERED: Claim = unordered("no order of the counter's operations fits");

/// Counters that begin at 0.
pub static COUNTERS: HistoryModel = HistoryModel {
    names: &["counter"],
    operations: &["add", "read"],
    sized: false,
    judge: |model, calls, _, _, budget| {
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
        Ok(decide(UNORDERED, &Counter, reading, budget))
    },
};
