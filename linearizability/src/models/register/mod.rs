//! Registers with compare-and-set.

mod in_flight;
mod operation;
mod sequential;
mod sweep;
mod zones;

pub use operation::RegisterOp;
pub(super) use operation::{FirstValue, relevant};
pub use sequential::{Content, Register, UnsetRegister};
pub(super) use sweep::take_turns;

use crate::call::{Call, CallOutcome, Conventions, InputError, Reading};
use crate::equality::{ValueNumbers, answered_so, compared};
use crate::generate::{
    ClientStage, Completion, DrawnValues, GeneratedClients, GeneratedLoad, Options, SimulatedObject, Simulation,
    Values, one_client, simulate,
};
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, Op, unordered};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;

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
            run: |options, _| simulate(options, RegisterObject::new(options, false)),
        },
        Simulation {
            name: "cas-register",
            clients: one_client,
            loads: CAS_LOADS,
            run: |options, _| simulate(options, RegisterObject::new(options, true)),
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

/// A simulated register, empty at first.
#[derive(Debug)]
struct RegisterObject {
    value: Option<u64>,
    values: DrawnValues,
    with_cas: bool,
    /// The value of the planted violation, with the client that writes it and the one that reads it.
    planted: Option<(u64, usize, usize)>,
}

/// An operation on a simulated register, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegisterCall {
    /// A read, which has no argument.
    Read,
    /// A write of this value.
    Write(u64),
    /// It is written if it has the first value.
    Cas(u64, u64),
}

impl RegisterObject {
    /// An empty one.
    fn new(options: &Options, with_cas: bool) -> Self {
        Self {
            value: None,
            values: DrawnValues::new(options.values),
            with_cas,
            planted: None,
        }
    }
}

impl SimulatedObject for RegisterObject {
    type Op = RegisterCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> RegisterCall {
        match (rng.u8(0..if self.with_cas { 3 } else { 2 }), self.value) {
            (0, _) => RegisterCall::Read,
            (2, Some(value)) => RegisterCall::Cas(value, self.values.draw(rng)),
            _ => RegisterCall::Write(self.values.draw(rng)),
        }
    }

    fn request(op: &RegisterCall) -> (&'static str, Value) {
        match *op {
            RegisterCall::Read => ("read", Value::Nil),
            RegisterCall::Write(to) => ("write", Value::from(to)),
            RegisterCall::Cas(from, to) => ("cas", [from, to].into_iter().map(Value::from).collect()),
        }
    }

    fn apply(&mut self, _: usize, op: &RegisterCall) -> Option<Completion> {
        let (_, asked) = Self::request(op);
        Some(match *op {
            RegisterCall::Read => Completion::Ok(Value::from(self.value)),
            RegisterCall::Cas(from, _) if self.value != Some(from) => Completion::Fail("mismatch"),
            RegisterCall::Write(to) | RegisterCall::Cas(_, to) => {
                self.value = Some(to);
                Completion::Ok(asked)
            }
        })
    }

    fn may_be_late(&self, op: &RegisterCall) -> bool {
        *op != RegisterCall::Read
    }

    fn plant(clients: &mut GeneratedClients<Self>, last: bool) -> bool {
        let Some((value, writer, reader)) = clients.object.planted else {
            if let [writer, reader] = clients.idle().take(2).collect::<Vec<_>>()[..] {
                begin(clients, writer, reader);
            }
            return false;
        };
        if !matches!(clients.stages[reader], ClientStage::Idle) {
            return false;
        }
        if clients.object.value == Some(value) && last {
            let write = RegisterCall::Write(clients.object.values.other(value));
            clients.try_at_once(reader, &write);
        }
        let found = clients.object.value;
        if found == Some(value) {
            return false;
        }
        for found in [found, Some(value)] {
            clients.at_once(reader, &RegisterCall::Read, &Completion::Ok(Value::from(found)));
        }
        clients.stages[writer] = ClientStage::Done(RegisterCall::Write(value), Completion::Ok(Value::from(value)));
        true
    }
}

/// Has one client write a value that no other client writes, and another one read it.
fn begin(clients: &mut GeneratedClients<RegisterObject>, writer: usize, reader: usize) {
    let value = clients.object.values.unique();
    let write = RegisterCall::Write(value);
    clients.invoke(writer, &write);
    let Some(written) = clients.object.apply(writer, &write) else {
        return;
    };
    clients.stages[writer] = ClientStage::Kept;
    clients.at_once(reader, &RegisterCall::Read, &written);
    clients.object.planted = Some((value, writer, reader));
}
