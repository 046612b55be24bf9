//! What the operations of a history mean to each model.

use super::Op;
use super::calls::Call;
use super::lease::LeaseOp;
use super::mutex::MutexOp;
use super::register::RegisterOp;
use crate::history::{Event, EventType, Process};
use serde_json::Value;
use std::collections::HashMap;

/// How a history was written down, which decides what a register's values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Maps: ours, or Jepsen's EDN. Ours have values in fields (`{"value":17}`): the register begins as `null`, and a
    /// failed compare-and-set says nothing. Jepsen's have bare values: the register begins as 0, and an answer of `nil`
    /// means that the value is unknown.
    Maps,
    /// Jepsen's text log: the register begins as `nil`, and a failed compare-and-set found another value.
    Log,
}

/// Operations for a model, each with the call that it is of, and remarks for the reader of the verdict.
#[derive(Debug)]
pub struct Reading<'a, I> {
    /// The operations.
    pub ops: Vec<Op<I>>,
    /// The call of each.
    pub calls: Vec<Call<'a>>,
    /// For an operation the later one that tells what it was, by their places in `ops`.
    pub told_by: HashMap<usize, usize>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl<'a, I> Reading<'a, I> {
    fn new() -> Self {
        Self {
            ops: Vec::new(),
            calls: Vec::new(),
            told_by: HashMap::new(),
            notes: Vec::new(),
        }
    }

    /// Adds an operation, unless it certainly did not happen.
    fn add(&mut self, call: Call<'a>, input: I) {
        let invoke = call.invoke.index;
        let op = match (call.outcome(), call.end_index()) {
            (EventType::Ok, Some(end)) => Op::done(input, invoke, end),
            (EventType::Fail, _) => return,
            _ => Op::unknown(input, invoke),
        };
        self.ops.push(op);
        self.calls.push(call);
    }
}

/// A register's values as numbers.
#[derive(Debug, Default)]
struct Values {
    numbers: HashMap<String, u32>,
}

impl Values {
    fn number(&mut self, value: &Value) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(value.to_string()).or_insert(next)
    }
}

/// The operations on a register, and the number of its first value.
///
/// # Errors
///
/// What no register can do.
pub fn register<'a>(calls: &[Call<'a>], notation: Notation) -> Result<(Reading<'a, RegisterOp<u32>>, u32), String> {
    let ours = calls.iter().any(|call| call.invoke.value.is_object());
    let jepsen = notation == Notation::Maps && !ours;
    let mut values = Values::default();
    let initial = values.number(&if jepsen { 0.into() } else { Value::Null });
    let mut reading = Reading::new();
    for &call in calls {
        let invoked = &call.invoke.value;
        match call.f() {
            "read" => {
                let Some(end) = call.end.filter(|end| end.kind == EventType::Ok) else {
                    continue;
                };
                let value = field(end, "value");
                if !(jepsen && value.is_null()) {
                    let value = values.number(value);
                    reading.add(call, RegisterOp::Read(value));
                }
            }
            "write" => {
                let value = values.number(field(call.invoke, "value"));
                reading.add(call, RegisterOp::Write(value));
            }
            "cas" => {
                let (from, to) = match invoked {
                    Value::Object(fields) => (fields.get("from"), fields.get("to")),
                    value => (value.get(0), value.get(1)),
                };
                let (Some(from), Some(to)) = (from, to) else {
                    let at = call.invoke.index;
                    return Err(format!("the cas of event {at} has no pair of values, but {invoked}"));
                };
                let (from, to) = (values.number(from), values.number(to));
                match call.end.filter(|end| end.kind == EventType::Fail) {
                    Some(end) if notation == Notation::Log => {
                        reading
                            .ops
                            .push(Op::done(RegisterOp::Mismatch(from), call.invoke.index, end.index));
                        reading.calls.push(call);
                    }
                    _ => reading.add(call, RegisterOp::Cas(from, to)),
                }
            }
            other => return Err(format!("no register can {other} (event {})", call.invoke.index)),
        }
    }
    Ok((reading, initial))
}

/// A field of an event's value where values have fields, else the value.
fn field<'a>(event: &'a Event, name: &str) -> &'a Value {
    match &event.value {
        Value::Object(fields) => fields.get(name).unwrap_or(&Value::Null),
        value => value,
    }
}

/// The operations on a textbook mutex: what failed did not happen, and so a hold lasts until a release that did.
///
/// # Errors
///
/// What no mutex can do.
pub fn mutex<'a>(calls: &[Call<'a>]) -> Result<Reading<'a, MutexOp>, String> {
    let mut reading = Reading::new();
    for &call in calls {
        match call.f() {
            "acquire" => reading.add(call, MutexOp::Acquire),
            "release" => reading.add(call, MutexOp::Release),
            other => return Err(not_a_mutex(other, call)),
        }
    }
    Ok(reading)
}

/// The operations on a mutex that rests on a lease.
///
/// A release that was answered with `ok` proves that its process held until then; a hold that has none may have been lost
/// at any time. An acquire of unknown outcome proves nothing.
///
/// # Errors
///
/// What no mutex can do.
pub fn lease<'a>(calls: &[Call<'a>]) -> Result<Reading<'a, LeaseOp>, String> {
    let mut reading = Reading::new();
    // The grant of each process that it has not tried to give back, as a place in `reading`.
    let mut held: HashMap<&Process, usize> = HashMap::new();
    for &call in calls {
        let process = &call.invoke.process;
        match (call.f(), call.outcome()) {
            ("acquire", EventType::Ok) => {
                held.insert(process, reading.ops.len());
                reading.add(call, LeaseOp::Glimpse);
            }
            ("acquire", _) => {}
            ("release", outcome) => {
                let Some(hold) = held.remove(process) else { continue };
                // Ours may be answered with `ok` because nothing was left to remove.
                let removed = call.end.and_then(|end| end.value.get("removed"));
                match outcome {
                    EventType::Ok if removed.is_none_or(|removed| !removed.is_null()) => {
                        reading.ops[hold].input = LeaseOp::Grant(hold);
                        reading.told_by.insert(hold, reading.ops.len());
                        reading.add(call, LeaseOp::Release(hold));
                    }
                    EventType::Fail => reading.notes.extend(lost(&reading.calls[hold], &call)),
                    EventType::Ok | EventType::Invoke | EventType::Info => {}
                }
            }
            (other, _) => return Err(not_a_mutex(other, call)),
        }
    }
    Ok(reading)
}

fn not_a_mutex(f: &str, call: Call<'_>) -> String {
    format!("no mutex can {f} (event {})", call.invoke.index)
}

/// A remark on a hold that had ended when it was to be released, if the error says so.
fn lost(grant: &Call<'_>, release: &Call<'_>) -> Option<String> {
    const SIGNS: [&str; 6] = ["lease", "not-held", "not-found", "not found", "expired", "no-node"];
    let end = release.end?;
    let error = end.error.as_deref()?;
    let said = error.to_lowercase();
    SIGNS.iter().any(|sign| said.contains(sign)).then(|| {
        format!(
            "note: lease lost: process {} was granted at event {}, and held no more when it released at event {} ({error}); \
             nobody knows when the hold ended",
            grant.process(),
            grant.end_index().unwrap_or(grant.invoke.index),
            end.index,
        )
    })
}
