//! Counters: `add` of a number, and `read`.

use super::{Claim, HistoryModel, decide, unable, unordered};
use crate::search::models::counter::{Counter, CounterOp};
use crate::search::reading::Reading;
use crate::{EventType, Value};

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
                let (f, at) = (call.f(), call.invoke.index);
                let number = value.as_i64();
                number.ok_or_else(|| format!("the {f} of event {at} has no whole number, but {value}"))
            };
            match call.f() {
                "add" => reading.add(call, CounterOp::Add(number(call.asked)?)),
                "read" if call.outcome() != EventType::Ok || call.answered.is_null() => {}
                "read" => reading.add(call, CounterOp::Read(number(call.answered)?)),
                _ => return Err(unable(model, &call)),
            }
        }
        Ok(decide(&UNORDERED, &Counter, reading, budget))
    },
};
