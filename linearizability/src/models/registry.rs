//! All models by their names, each with how its operations are read, decided and generated.

use crate::generate::{GeneratedEvent, Options};
use crate::models::queue::total_queue;
use crate::models::{barrier, commit, counter, fenced_mutex, id_generator, kv, mutex, permits, queue, register, set};
use crate::{Budget, Call, Conventions, InputError, Judgement, Value};
use std::fmt;
use std::str::FromStr;

/// Judges the operations of one object; with the number that the model takes, else 0.
///
/// # Errors
/// What it cannot do, and values that cannot be judged.
type Judge =
    for<'a> fn(&ModelEntry, &[&'a Call<'a>], Conventions, u32, &mut Budget<'_>) -> Result<Judgement<'a>, InputError>;

/// A model of histories of others: its name, and how its operations are read and judged.
pub struct ModelEntry {
    /// Its names, its own first.
    pub(super) names: &'static [&'static str],
    /// The operations that it has, as histories name them.
    pub(super) operations: &'static [&'static str],
    /// Whether it takes a number (`semaphore:3`).
    pub(super) sized: bool,
    pub(super) judge: Judge,
    /// How its histories are generated, if they are: by one of its names each.
    pub(super) simulations: &'static [Simulation],
}

/// How histories of an object are generated.
pub struct Simulation {
    /// The object's name.
    pub name: &'static str,
    /// The least number that it takes (`semaphore:1`); 0 if it takes none.
    pub least: u32,
    /// How many clients it needs, with that number; also for a violation.
    pub clients: fn(u32, bool) -> usize,
    /// Generates a history, with that number.
    pub run: fn(&Options, u32) -> Vec<GeneratedEvent>,
}

impl Simulation {
    /// That of an object that takes no number.
    pub const fn new(name: &'static str, run: fn(&Options, u32) -> Vec<GeneratedEvent>) -> Self {
        Self {
            name,
            least: 0,
            clients: |_, violation| 1 + usize::from(violation),
            run,
        }
    }
}

/// All simulations, in the order of their models.
pub fn simulations() -> impl Iterator<Item = &'static Simulation> {
    REGISTRY.iter().flat_map(|model| model.simulations)
}

/// All of them, in the order in which they are named.
static REGISTRY: [&ModelEntry; 16] = [
    &register::REGISTERS,
    &mutex::LEASES,
    &mutex::TEXTBOOK,
    &fenced_mutex::FENCED,
    &permits::REENTRANT,
    &permits::SEMAPHORE,
    &permits::READ_WRITE,
    &queue::FIFO_QUEUE,
    &queue::UNORDERED_QUEUE,
    &total_queue::TOTAL_QUEUE,
    &set::SETS,
    &counter::COUNTERS,
    &id_generator::GENERATORS,
    &barrier::BARRIER,
    &commit::ATOMIC_COMMIT,
    &kv::TEXTS,
];

/// What a history is judged as.
#[derive(Clone, Copy)]
pub struct ModelKind {
    model: &'static ModelEntry,
    size: u32,
}

impl ModelKind {
    /// A register with read, write and compare-and-set.
    pub const REGISTER: Self = Self::new(&register::REGISTERS);
    /// A mutex that rests on a lease, which may be lost.
    pub const MUTEX: Self = Self::new(&mutex::LEASES);
    /// A textbook mutex, held until a release succeeds.
    pub const MUTEX_STRICT: Self = Self::new(&mutex::TEXTBOOK);
    /// Texts under keys, as porcupine's histories have them.
    pub const KV: Self = Self::new(&kv::TEXTS);

    const fn new(model: &'static ModelEntry) -> Self {
        Self { model, size: 0 }
    }

    /// What `--model` takes.
    pub fn names() -> String {
        let name = |model: &&ModelEntry| {
            let number = if model.sized { ":N" } else { "" };
            format!("{}{number}", model.names.join(", "))
        };
        REGISTRY.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// What the operations of a history are of, by their names and answers; `None` if they are of nothing that is
    /// judged, or of more than one thing. `has` states whether there is an operation of a name, and `reads` whether a
    /// read was answered with such a value.
    pub fn infer(has: impl Fn(&str) -> bool, reads: impl Fn(fn(&Value) -> bool) -> bool) -> Option<Self> {
        let any = |names: &[&str]| names.iter().any(|name| has(name));
        // Under a lock things are written too.
        if any(&["acquire", "release"]) {
            Some(Self::MUTEX)
        } else if any(&["write", "cas"]) {
            Some(Self::REGISTER)
        } else if any(&["add"]) {
            let of_numbers = reads(|value| value.as_i64().is_some()).then_some(Self::new(&counter::COUNTERS));
            let of_sets = || reads(|value| !value.is_nil() && value.elements().is_some());
            of_numbers.or_else(|| of_sets().then_some(Self::new(&set::SETS)))
        } else if any(&["generate"]) {
            Some(Self::new(&id_generator::GENERATORS))
        } else if any(&["vote", "decided"]) {
            Some(Self::new(&commit::ATOMIC_COMMIT))
        } else if any(&["read"]) {
            Some(Self::REGISTER)
        } else {
            any(&["get", "put", "append"]).then_some(Self::KV)
        }
    }

    /// The names of its operations.
    pub fn operations(self) -> &'static [&'static str] {
        self.model.operations
    }

    /// Judges the operations of one object.
    ///
    /// # Errors
    /// What it cannot do, and values that cannot be judged.
    pub fn judge<'a>(
        self,
        calls: &'a [Call<'a>],
        conventions: Conventions,
        budget: &mut Budget<'_>,
    ) -> Result<Judgement<'a>, InputError> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        (self.model.judge)(self.model, &calls, conventions, self.size, budget)
    }
}

impl FromStr for ModelKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let Some(&model) = REGISTRY.iter().find(|model| model.names.contains(&name)) else {
            return Err(format!("there is no model `{name}`; there are {}", Self::names()));
        };
        match (model.sized, number) {
            (false, None) => Ok(Self::new(model)),
            (false, Some(_)) => Err(format!("`{name}` takes no number")),
            (true, None) => Err(format!("`{name}` needs a number: `{name}:3`")),
            (true, Some(number)) => match number.parse() {
                Ok(size) if size > 0 => Ok(Self { model, size }),
                _ => Err(format!("`{number}` is not a number from 1, as `{name}:3` has it")),
            },
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model.names[0])?;
        if self.model.sized {
            write!(f, ":{}", self.size)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for ModelKind {
    fn eq(&self, other: &Self) -> bool {
        self.model.names == other.model.names && self.size == other.size
    }
}

impl Eq for ModelKind {}
