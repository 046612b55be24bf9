//! What the operations of a history mean to each model.

use super::lease::LeaseOp;
use super::mutex::MutexOp;
use super::register::RegisterOp;
use crate::equality::ValueNumbers;
use crate::{Call, CallOutcome, Conventions, InputError, Op, Remark, Value};
use std::collections::{HashMap, HashSet};

/// Operations for a model, each with the call that it is of, and remarks for the reader of the verdict.
#[derive(Debug)]
pub struct Reading<'a, I> {
    /// The operations.
    pub ops: Vec<Op<I>>,
    /// The call of each.
    pub calls: Vec<&'a Call<'a>>,
    /// For an operation the later one that reveals what it was, and what it would be without that one, by their places in
    /// `ops`.
    pub revealed_by: HashMap<usize, (usize, I)>,
    /// Remarks.
    pub notes: Vec<Remark<'a>>,
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
    pub fn add(&mut self, call: &'a Call<'a>, input: I) {
        let invoke = call.from();
        let op = match (call.outcome, call.complete) {
            (CallOutcome::Ok, Some(end)) => Op::done(input, invoke, end),
            (CallOutcome::Fail, _) => return,
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
pub fn register<'a>(calls: &[&'a Call<'a>], conventions: Conventions) -> Result<Accesses<'a>, InputError> {
    let in_fields = calls.iter().all(|call| in_fields(call));
    let mut values = ValueNumbers::default();
    let initial = in_fields.then(|| values.number(&Value::Nil, String::new)).transpose()?;
    let (mut reading, mut never) = (Reading::new(), HashSet::new());
    let field = |value: &'a Value, name: &str| match value {
        Value::Map(_) if in_fields => value.field(name).unwrap_or(&Value::Nil),
        value => value,
    };
    for &call in calls {
        let at = call.invoke;
        let mut number = |value: &Value| values.number(value, || format!("the value of the {} of event {at}", call.f));
        match call.f {
            "read" => {
                let value = field(&call.answered, "value");
                let unknown = value.is_nil() && !in_fields && conventions.nil_is_unknown;
                if call.outcome == CallOutcome::Ok && !unknown {
                    let value = number(value)?;
                    reading.add(call, RegisterOp::Read(value));
                }
            }
            "write" => {
                let value = number(field(&call.asked, "value"))?;
                never.extend((call.outcome == CallOutcome::Fail).then_some(value));
                reading.add(call, RegisterOp::Write(value));
            }
            "cas" => {
                let Some([from, to]) = wanted(&call.asked, in_fields) else {
                    return Err(InputError::Unexpected {
                        what: format!("the cas of event {at} has no pair of values"),
                        found: call.asked.clone(),
                    });
                };
                let (from, to) = (number(from)?, number(to)?);
                match call
                    .complete
                    .filter(|_| conventions.failed_cas_is_mismatch && mismatched(call))
                {
                    Some(end) => {
                        reading.ops.push(Op::done(RegisterOp::Mismatch(from), at, end));
                        reading.calls.push(call);
                    }
                    None => reading.add(call, RegisterOp::Cas(from, to)),
                }
            }
            other => return Err(InputError::Unable(format!("no register can {other} (event {at})"))),
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

/// Whether an operation has its values in fields: `{:value 17}`, `{:from 17, :to 18}`.
fn in_fields(call: &Call<'_>) -> bool {
    match call.f {
        _ if !call.asked.is_map() => false,
        "write" => call.asked.field("value").is_some(),
        "cas" => call.asked.field("from").is_some() && call.asked.field("to").is_some(),
        _ => true,
    }
}

/// The value that a compare-and-set wants, and the one that it writes.
fn wanted(value: &Value, in_fields: bool) -> Option<[&Value; 2]> {
    match value {
        Value::Map(_) if in_fields => Some([value.field("from")?, value.field("to")?]),
        value => value.pair(),
    }
}

/// Whether a compare-and-set failed because it found another value: its answer tells that of no other reason.
fn mismatched(call: &Call<'_>) -> bool {
    const SIGNS: [&str; 5] = ["mismatch", "not-match", "not match", "no-match", "precondition-failed"];
    let error = call.error.map(str::to_lowercase);
    let same = call.answered.is_nil() || call.answered.pair() == call.asked.pair();
    let mismatch = error.is_none_or(|error| SIGNS.iter().any(|sign| error.contains(sign)));
    call.outcome == CallOutcome::Fail && same && mismatch
}

/// The operations on a textbook mutex: what failed did not happen, and so a hold lasts until a release that did.
///
/// # Errors
///
/// What no mutex can do.
pub fn mutex<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, MutexOp>, InputError> {
    let mut reading = Reading::new();
    for &call in calls {
        match call.f {
            "acquire" => reading.add(call, MutexOp::Acquire),
            "release" => reading.add(call, MutexOp::Release),
            _ => return Err(not_a_mutex(call)),
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
pub fn lease<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, LeaseOp>, InputError> {
    let mut reading = Reading::new();
    // The grant of each process that it has not tried to give back, as a place in `reading`.
    let mut held: HashMap<u64, usize> = HashMap::new();
    for &call in calls {
        match (call.f, call.outcome) {
            ("acquire", CallOutcome::Ok) => {
                held.insert(call.process, reading.ops.len());
                reading.add(call, LeaseOp::Glimpse);
            }
            ("acquire", _) => {}
            ("release", outcome) => {
                let Some(hold) = held.remove(&call.process) else {
                    continue;
                };
                // An answer may be `ok` because nothing was left to remove.
                let removed = call.answered.field("removed");
                match outcome {
                    CallOutcome::Ok if removed.is_none_or(|removed| !removed.is_nil()) => {
                        reading.ops[hold].input = LeaseOp::Grant(hold);
                        let release = reading.ops.len();
                        reading.revealed_by.insert(hold, (release, LeaseOp::Glimpse));
                        reading.add(call, LeaseOp::Release(hold));
                    }
                    CallOutcome::Fail if lost(call) => reading.notes.push(Remark::LeaseLost {
                        grant: reading.calls[hold],
                        release: call,
                    }),
                    CallOutcome::Ok | CallOutcome::Fail | CallOutcome::Info => {}
                }
            }
            _ => return Err(not_a_mutex(call)),
        }
    }
    Ok(reading)
}

fn not_a_mutex(call: &Call<'_>) -> InputError {
    InputError::Unable(format!("no mutex can {} (event {})", call.f, call.invoke))
}

/// Whether a release failed because the hold had ended before, by its error.
fn lost(release: &Call<'_>) -> bool {
    const SIGNS: [&str; 6] = ["lease", "not-held", "not-found", "not found", "expired", "no-node"];
    let error = release.error.map(str::to_lowercase);
    error.is_some_and(|error| SIGNS.iter().any(|sign| error.contains(sign)))
}
