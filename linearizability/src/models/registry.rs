//! All models by their names, each of which is described in its own file, and all that is generated.

use crate::call::{Call, Conventions, InputError};
use crate::generate::{Object, Simulation};
use crate::judgement::{CallOrder, Inquiry, Judgement, OrderTerms};
use crate::models::{HistoryOperations, ModelEntry, ModelFit, ModelSize};
use crate::models::{barrier, commit, counter, fenced_mutex, id_generator, kv, mutex, permits, queue, register, set};
use crate::search::Budget;
use crate::value::Value;
use std::fmt;
use std::str::FromStr;

/// All models, in the order in which they are named, and asked whether a history is theirs.
static REGISTRY: &[&ModelEntry] = &[
    &register::REGISTERS,
    &mutex::LEASES,
    &mutex::TEXTBOOK,
    &fenced_mutex::FENCED,
    &permits::REENTRANT,
    &permits::SEMAPHORE,
    &permits::READ_WRITE,
    &queue::FIFO_QUEUE,
    &queue::UNORDERED_QUEUE,
    &queue::TOTAL_QUEUE,
    &set::SETS,
    &counter::COUNTERS,
    &id_generator::GENERATORS,
    &barrier::BARRIER,
    &commit::ATOMIC_COMMIT,
    &kv::TEXTS,
];

/// A model under one of its names, as lists have it; written as `--model` takes it, with the number of its examples.
#[derive(Debug, Clone, Copy)]
pub struct ListedModel {
    /// The name, without the number.
    pub name: &'static str,
    /// The number of the model's examples; `None` if it takes none.
    pub size: Option<u32>,
    /// Whether histories are generated under this name.
    pub generated: bool,
    /// The model's operations and what is peculiar to it, in one line.
    pub summary: &'static str,
}

impl fmt::Display for ListedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_named(f, self.name, self.size.unwrap_or(0))
    }
}

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

    /// All models with their names, as `--model` takes them (`semaphore:N`), and each with a line of what it is.
    pub fn described() -> impl Iterator<Item = (String, &'static str)> {
        REGISTRY.iter().map(|model| {
            let names: Vec<String> = model.names.iter().map(|name| model.size.named(name)).collect();
            (names.join(", "), model.summary)
        })
    }

    /// What `--model` takes.
    pub fn names() -> String {
        Self::described().map(|(names, _)| names).collect::<Vec<_>>().join(", ")
    }

    /// All models, once for each of their names.
    pub fn listed() -> impl Iterator<Item = ListedModel> {
        let under = |model: &'static ModelEntry, name: &'static str| ListedModel {
            name,
            size: Some(model.size.tried()).filter(|&size| size > 0),
            generated: model.simulations.iter().any(|simulation| simulation.name == name),
            summary: model.summary,
        };
        REGISTRY
            .iter()
            .flat_map(move |&model| model.names.iter().map(move |name| under(model, name)))
    }

    /// What the operations of a history are of, by their names and answers; `None` if they are of nothing that is
    /// judged, or of more than one thing. `has`: whether there is an operation of a name. `acquires`: whether an
    /// `acquire` was sent with such a value. `reads`: whether a read was answered with such a value.
    pub fn infer(
        has: impl Fn(&str) -> bool,
        acquires: impl Fn(fn(&Value) -> bool) -> bool,
        reads: impl Fn(fn(&Value) -> bool) -> bool,
    ) -> Option<Self> {
        let operations = HistoryOperations {
            has: &has,
            acquires: &acquires,
            reads: &reads,
        };
        let first = |wanted| REGISTRY.iter().find(|model| (model.fits)(&operations) == wanted);
        Some(Self::new(first(ModelFit::Shown).or_else(|| first(ModelFit::Possible))?))
    }

    /// The names of its operations.
    pub fn operations(self) -> &'static [&'static str] {
        self.model.operations
    }

    /// How its objects begin, as the end of a sentence; `None` if that is not known unless somebody
    /// [states it](Conventions::initial).
    pub fn beginning(self) -> Option<&'static str> {
        self.model.begins
    }

    /// Judges the operations of one object.
    ///
    /// # Errors
    /// What it cannot do, and values that cannot be judged.
    pub fn judge<'a>(
        self,
        calls: &'a [Call<'a>],
        conventions: Conventions<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Judgement<'a>, InputError> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        let inquiry = &mut Inquiry::Verdict(budget);
        (self.model.judge)(self.model, &calls, conventions, self.size, inquiry)
    }

    /// The longest order that is found within the budget of the operations of one object, or of those that its terms
    /// ask for, with the state after each step. `None` if the model is judged without one order of all: `total-queue`,
    /// `barrier`, `atomic-commit`.
    ///
    /// # Errors
    /// What it cannot do, and values that cannot be judged.
    pub fn order<'a>(
        self,
        calls: &'a [Call<'a>],
        conventions: Conventions<'a>,
        terms: OrderTerms<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<CallOrder<'a>>, InputError> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        let inquiry = &mut Inquiry::Order(budget, terms);
        Ok((self.model.judge)(self.model, &calls, conventions, self.size, inquiry)?.order)
    }
}

impl FromStr for ModelKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = named_number(text);
        let Some(&model) = REGISTRY.iter().find(|model| model.names.contains(&name)) else {
            return Err(format!("there is no model `{name}`; there are {}", Self::names()));
        };
        match (model.size, number) {
            (ModelSize::Fixed, None) => Ok(Self::new(model)),
            (ModelSize::Fixed, Some(_)) => Err(format!("`{name}` takes no number")),
            (ModelSize::Number { tried, .. }, None) => Err(format!("`{name}` needs a number: `{name}:{tried}`")),
            (ModelSize::Number { tried, .. }, Some(number)) => match number.parse() {
                Ok(size) if size > 0 => Ok(Self { model, size }),
                _ => Err(format!("`{number}` is not a number from 1, as `{name}:{tried}` has it")),
            },
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_named(f, self.model.names[0], self.size)
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

impl Object {
    /// All of them, with the numbers of their models' examples.
    pub fn all() -> impl Iterator<Item = Self> {
        simulations().map(|(model, simulation)| Self {
            simulation,
            size: model.size.tried(),
        })
    }

    /// The names of all, with an `N` where a number is (`semaphore:N`).
    pub fn names() -> impl Iterator<Item = String> {
        simulations().map(|(model, simulation)| model.size.named(simulation.name))
    }
}

impl FromStr for Object {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = named_number(text);
        let size = number.map_or(Some(0), |number| number.parse().ok().filter(|&size| size > 0));
        let named = size.and_then(|size| {
            let (_, simulation) =
                simulations().find(|(model, simulation)| simulation.name == name && model.size.generates(size))?;
            Some(Self { simulation, size })
        });
        named.ok_or_else(|| {
            let known: Vec<String> = Self::all().map(|object| object.to_string()).collect();
            format!(
                "there is no model `{text}` to generate; there are {} (or another number)",
                known.join(", ")
            )
        })
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_named(f, self.name(), self.size)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// All simulations with their models, in the order of these.
fn simulations() -> impl Iterator<Item = (&'static ModelEntry, &'static Simulation)> {
    let of_model = |&model: &&'static ModelEntry| model.simulations.iter().map(move |simulation| (model, simulation));
    REGISTRY.iter().flat_map(of_model)
}

/// A name, and the number after its colon, if there is one.
fn named_number(text: &str) -> (&str, Option<&str>) {
    text.split_once(':')
        .map_or((text, None), |(name, number)| (name, Some(number)))
}

/// Writes a name, with its number if that is not 0.
fn write_named(f: &mut fmt::Formatter<'_>, name: &str, number: u32) -> fmt::Result {
    f.write_str(name)?;
    match number {
        0 => Ok(()),
        number => write!(f, ":{number}"),
    }
}
