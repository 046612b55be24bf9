//! What the operations of a history mean to each model.

use super::Op;
use super::calls::Call;
use super::lease::LeaseOp;
use super::mutex::MutexOp;
use super::register::RegisterOp;
use super::values::{Values, pair};
use crate::{EventType, Process, Value};
use std::collections::{HashMap, HashSet};

/// How a history was written down, which decides what a register's values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Maps: ours, or Jepsen's EDN. Ours have values in fields (`{"value":17}`): the register begins as `null`. Jepsen's have
    /// bare values: with what the register begins is not known, and an answer of `nil` means that the value is unknown. A
    /// failed compare-and-set says nothing.
    Maps,
    /// Jepsen's text log: with what the register begins is not known, `nil` is a value, and a compare-and-set that failed
    /// without an error, or with one that says so, found another value.
    Log,
}

/// Operations for a model, each with the call that it is of, and remarks for the reader of the verdict.
#[derive(Debug)]
pub struct Reading<'a, I> {
    /// The operations.
    pub ops: Vec<Op<I>>,
    /// The call of each.
    pub calls: Vec<Call<'a>>,
    /// For an operation the later one that reveals what it was, and what it would be without that one, by their places in
    /// `ops`.
    pub revealed_by: HashMap<usize, (usize, I)>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl<'a, I> Reading<'a, I> {
    /// No operations.
    pub fn new() -> Self {
        Self {
            ops: Vec::new(),
            calls: Vec::new(),
            revealed_by: HashMap::new(),
            notes: Vec::new(),
        }
    }

    /// Adds an operation, unless it certainly did not happen.
    pub fn add(&mut self, call: Call<'a>, input: I) {
        let invoke = call.from();
        let op = match (call.outcome(), call.end_index()) {
            (EventType::Ok, Some(end)) => Op::done(input, invoke, end),
            (EventType::Fail, _) => return,
            _ => Op::unknown(input, invoke),
        };
        self.ops.push(op);
        self.calls.push(call);
    }
}

/// The operations on a register.
#[derive(Debug)]
pub struct Accesses<'a> {
    /// The operations.
    pub reading: Reading<'a, RegisterOp<u32>>,
    /// The number of its first value; `None` if that is not known.
    pub initial: Option<u32>,
    /// Values with which it did not begin, where its initial value is unknown: a write that failed is the only operation
    /// that was to write them.
    pub never: HashSet<u32>,
}

/// The operations on a register, with its values as numbers.
///
/// # Errors
///
/// What no register can do, and a value that cannot be compared.
pub fn register<'a>(calls: &[Call<'a>], notation: Notation) -> Result<Accesses<'a>, String> {
    let ours = calls.iter().all(in_fields);
    let mut values = Values::default();
    let initial = ours.then(|| values.number(&Value::Null)).transpose()?;
    let (mut reading, mut never) = (Reading::new(), HashSet::new());
    let field = |value: &'a Value, name: &str| match value {
        Value::Object(fields) if ours => fields.get(name).unwrap_or(&Value::Null),
        value => value,
    };
    for &call in calls {
        let at = call.invoke.index;
        let mut number = |value: &Value| {
            let number = values.number(value);
            number.map_err(|what| format!("the value of the {} of event {at} cannot be compared: {what}", call.f()))
        };
        match call.f() {
            "read" => {
                let value = field(call.answered, "value");
                let unknown = value.is_null() && !ours && notation == Notation::Maps;
                if call.outcome() == EventType::Ok && !unknown {
                    let value = number(value)?;
                    reading.add(call, RegisterOp::Read(value));
                }
            }
            "write" => {
                let value = number(field(call.asked, "value"))?;
                never.extend((call.outcome() == EventType::Fail).then_some(value));
                reading.add(call, RegisterOp::Write(value));
            }
            "cas" => {
                let Some((from, to)) = wanted(call.asked, ours) else {
                    return Err(format!(
                        "the cas of event {at} has no pair of values, but {}",
                        call.asked
                    ));
                };
                let (from, to) = (number(&from)?, number(&to)?);
                match call.end.filter(|_| notation == Notation::Log && mismatched(&call)) {
                    Some(end) => {
                        reading.ops.push(Op::done(RegisterOp::Mismatch(from), at, end.index));
                        reading.calls.push(call);
                    }
                    None => reading.add(call, RegisterOp::Cas(from, to)),
                }
            }
            other => return Err(format!("no register can {other} (event {at})")),
        }
    }
    for op in &reading.ops {
        if let RegisterOp::Write(to) | RegisterOp::Cas(_, to) = &op.input {
            never.remove(to);
        }
    }
    Ok(Accesses {
        reading,
        initial,
        never,
    })
}

/// Whether an operation is written as ours are, with its values in fields.
pub fn in_fields(call: &Call<'_>) -> bool {
    let Value::Object(fields) = call.asked else {
        return false;
    };
    match call.f() {
        "write" => fields.contains_key("value"),
        "cas" => fields.contains_key("from") && fields.contains_key("to"),
        _ => true,
    }
}

/// The value that a compare-and-set wants, and the one that it writes.
fn wanted(value: &Value, ours: bool) -> Option<(Value, Value)> {
    match value {
        Value::Object(fields) if ours => Some((fields.get("from")?.clone(), fields.get("to")?.clone())),
        value => pair(value),
    }
}

/// Whether a compare-and-set failed because it found another value: its answer tells that of no other reason.
fn mismatched(call: &Call<'_>) -> bool {
    const SIGNS: [&str; 5] = ["mismatch", "not-match", "not match", "no-match", "precondition-failed"];
    let Some(end) = call.end.filter(|end| end.kind == EventType::Fail) else {
        return false;
    };
    let said = end.error.as_deref().map(str::to_lowercase);
    let same = call.answered.is_null() || pair(call.answered) == pair(call.asked);
    same && said.is_none_or(|said| SIGNS.iter().any(|sign| said.contains(sign)))
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
                let removed = call.answered.get("removed");
                match outcome {
                    EventType::Ok if removed.is_none_or(|removed| !removed.is_null()) => {
                        reading.ops[hold].input = LeaseOp::Grant(hold);
                        let release = reading.ops.len();
                        reading.revealed_by.insert(hold, (release, LeaseOp::Glimpse));
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
