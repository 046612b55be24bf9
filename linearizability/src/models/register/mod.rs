//! Registers with compare-and-set.

mod accesses;
mod configuration;
mod generator;
mod in_flight;
mod operation;
pub(crate) mod portfolio;
pub(crate) mod relevance;
mod sequential;
mod sweep;
mod unexplained_reads;
mod zones;

pub(crate) use accesses::FirstValue;
pub use operation::RegisterOp;
pub use sequential::{Content, Register, UnsetRegister};

use crate::call::{Call, CallOutcome, Conventions, InputError, Reading};
use crate::equality::{ValueNumbers, answered_so, compared};
use crate::generate::{GeneratedLoad, Simulation, Values, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, Op, unordered};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;

const UNORDERED: BrokenClaim = unordered("no order of the register's operations fits");

/// Values that are written once are decided by zones; such as come back are swept and searched for.
const CAS_LOADS: &[GeneratedLoad] = &[
    GeneratedLoad::new(100_000, 10, 0.0, Values::Unique),
    GeneratedLoad::new(100_000, 10, 0.01, Values::Unique),
    GeneratedLoad::new(100_000, 10, 0.05, Values::Unique),
    GeneratedLoad::new(100_000, 30, 0.0, Values::Unique),
    GeneratedLoad::new(100_000, 30, 0.01, Values::Unique),
    GeneratedLoad::new(100_000, 30, 0.05, Values::Unique),
    GeneratedLoad::new(10_000, 20, 0.0, Values::Of(5)),
    GeneratedLoad::new(10_000, 20, 0.01, Values::Of(5)),
    GeneratedLoad::new(10_000, 30, 0.0, Values::Of(5)),
    GeneratedLoad::new(10_000, 30, 0.01, Values::Of(5)),
];

/// Registers; with what they begin is known of our histories, and where it was stated. A write that failed does not
/// show that they began with another value: it is no evidence of what was there before it.
pub static REGISTERS: ModelEntry = ModelEntry {
    names: &["register", "cas-register"],
    summary: "read, write and cas",
    operations: &["read", "write", "cas"],
    size: ModelSize::Fixed,
    begins: None,
    fits: |operations| {
        // Under a lock values are written too, and texts under keys are swapped; reads alone may be of anything.
        let texts = operations.any(&["get", "put", "append"]);
        let changed = operations.any(&["write"]) || operations.any(&["cas"]) && !texts;
        ModelFit::shown_if(changed && !operations.any(&["acquire", "release"]))
    },
    simulations: &[
        Simulation {
            name: "register",
            clients: one_client,
            // A register with compare-and-set is the harder one.
            loads: &[],
            run: |options, _| simulate(options, generator::RegisterObject::new(options, false)),
        },
        Simulation {
            name: "cas-register",
            clients: one_client,
            loads: CAS_LOADS,
            run: |options, _| simulate(options, generator::RegisterObject::new(options, true)),
        },
    ],
    judge: |_, calls, conventions, _, inquiry| {
        let mut values = ValueNumbers::default();
        let accesses = read(calls, conventions, &mut values)?;
        Ok(match accesses.initial {
            Some(initial) => {
                let words = |value: &u32, names: &StateNames<'_, '_>| (names.text)(values.value(*value));
                decide(UNORDERED, &Register { initial }, accesses.reading, &words, inquiry)
            }
            None => {
                let words = |content: &Content<u32>, names: &StateNames<'_, '_>| content_words(content, &values, names);
                decide(UNORDERED, &UnsetRegister::default(), accesses.reading, &words, inquiry)
            }
        })
    },
};

/// What is known of the value of a register that began with an unknown one.
fn content_words(content: &Content<u32>, values: &ValueNumbers, names: &StateNames<'_, '_>) -> String {
    match content {
        Content::Value(value) => (names.text)(values.value(*value)),
        Content::First(none) if none.is_empty() => "the first value, which is not known".to_owned(),
        Content::First(none) => {
            let none = names.list(none.iter().map(|&value| values.value(value)));
            format!("the first value, which is not known, but none of {none}")
        }
    }
}

/// The operations on a register.
#[derive(Debug)]
struct Accesses<'a> {
    reading: Reading<'a, RegisterOp<u32>>,
    /// The number of its first value; `None` if that is not known.
    initial: Option<u32>,
}

/// The operations on a register, with its values as numbers.
///
/// # Errors
///
/// What no register can do, and a value that cannot be compared.
fn read<'a>(
    calls: &[&'a Call<'a>],
    conventions: Conventions<'a>,
    values: &mut ValueNumbers,
) -> Result<Accesses<'a>, InputError> {
    let in_fields = calls.iter().all(|call| in_fields(call));
    let initial = conventions.initial.or(in_fields.then_some(&Value::Nil));
    let initial = initial.map(|value| values.number(value, || "the initial value".to_owned()));
    let initial = initial.transpose()?;
    let mut reading = Reading::new();
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
                    reading.add(call, RegisterOp::Read(number(value)?));
                }
            }
            "write" => {
                reading.add(call, RegisterOp::Write(number(field(&call.asked, "value"))?));
            }
            "cas" => {
                let [from, to] = wanted(call, in_fields)?;
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
    Ok(Accesses { reading, initial })
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
///
/// # Errors
/// As [`compared`] has them, or [`answered_so`].
fn wanted<'c>(call: &'c Call<'_>, in_fields: bool) -> Result<[&'c Value; 2], InputError> {
    match (call.asked.field("from"), call.asked.field("to")) {
        (Some(from), Some(to)) if in_fields => answered_so(call, [from, to]),
        _ => compared(call),
    }
}

/// Whether a compare-and-set failed because it found another value: its answer names no other reason.
fn mismatched(call: &Call<'_>) -> bool {
    const SIGNS: [&str; 5] = ["mismatch", "not-match", "not match", "no-match", "precondition-failed"];
    let error = call.error.map(str::to_lowercase);
    let same = call.answered.is_nil() || call.answered.pair() == call.asked.pair();
    let mismatch = error.is_none_or(|error| SIGNS.iter().any(|sign| error.contains(sign)));
    call.outcome == CallOutcome::Fail && same && mismatch
}
