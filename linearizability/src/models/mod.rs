//! The types of objects that are there, a file or a folder each: what it states of itself ([`ModelEntry`]) and how its
//! operations are read, its sequential type with what is decided without a search, and a generator of its histories.
//!
//! [`registry`] names them all: a type more costs a file, and its line there. Help texts, lists, inference, benchmarks
//! and inputs for fuzzing take what they need from there. `presence` computes when a queue or a barrier held something
//! with certainty.

pub mod barrier;
pub mod commit;
pub mod counter;
pub mod fenced_mutex;
pub mod id_generator;
pub mod kv;
pub mod mutex;
pub mod permits;
mod presence;
pub mod queue;
pub mod register;
pub mod registry;
pub mod set;

use crate::call::{Call, Conventions, InputError};
use crate::generate::Simulation;
use crate::judgement::{Inquiry, Judgement};
use crate::value::Value;

/// What a model of histories of others states of itself, once, in its own file: its name, and how its operations are
/// read, judged, recognised and generated. No field has a default.
pub struct ModelEntry {
    /// Its names, its own first.
    names: &'static [&'static str],
    /// Its line in help texts: its operations, then what is peculiar to it; at most 92 characters, no full stop.
    summary: &'static str,
    /// The operations that it has, as histories name them.
    operations: &'static [&'static str],
    /// The number that it takes.
    size: ModelSize,
    /// How its objects begin, as the end of a sentence; `None` if that is not known unless somebody states it.
    begins: Option<&'static str>,
    /// Whether a history's operations are those of this model.
    fits: fn(&HistoryOperations<'_>) -> ModelFit,
    judge: Judge,
    /// How its histories are generated, if they are: by one of its names each.
    simulations: &'static [Simulation],
}

impl ModelEntry {
    /// An operation that the model lacks, in words.
    fn unable(&self, call: &Call<'_>) -> InputError {
        let (name, operations) = (self.names[0], self.operations.join(", "));
        let (f, at) = (call.f, call.invoke);
        InputError::Unable(format!("a {name} has no operation {f} (event {at}), but {operations}"))
    }
}

/// Judges the operations of one object, or orders them; with the number that the model takes, else 0.
///
/// # Errors
/// What it cannot do, and values that cannot be judged.
type Judge = for<'a> fn(
    &ModelEntry,
    &[&'a Call<'a>],
    Conventions<'a>,
    u32,
    &mut Inquiry<'_, '_>,
) -> Result<Judgement<'a>, InputError>;

/// The number that a model takes after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSize {
    /// None.
    Fixed,
    /// A number from 1 (`semaphore:3`).
    Number {
        /// The number of examples: in messages, tests, benchmarks, and inputs for fuzzing.
        tried: u32,
        /// The least number of which histories are generated, at most `tried`.
        least: u32,
    },
}

impl ModelSize {
    /// The number of examples; 0 if the model takes none.
    pub const fn tried(self) -> u32 {
        match self {
            Self::Fixed => 0,
            Self::Number { tried, .. } => tried,
        }
    }

    /// Whether histories of this number can be generated; of 0 if the model takes none.
    pub const fn generates(self, size: u32) -> bool {
        match self {
            Self::Fixed => size == 0,
            Self::Number { least, .. } => size > 0 && size >= least,
        }
    }

    /// A model's name with an `N` for the number.
    pub fn named(self, name: &str) -> String {
        match self {
            Self::Fixed => name.to_owned(),
            Self::Number { .. } => format!("{name}:N"),
        }
    }
}

/// Whether a history's operations are those of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFit {
    /// The model's own operations or answers occur. A model that takes a number is never inferred.
    Shown,
    /// Operations occur that other models have, too: the history is of this model if none is shown.
    Possible,
    /// The operations are of something else, or do not show what is promised.
    Not,
}

impl ModelFit {
    /// `Shown` under a condition, else `Not`.
    pub const fn shown_if(condition: bool) -> Self {
        if condition { Self::Shown } else { Self::Not }
    }
}

/// The names of a history's operations, what its requests for grants were sent with, and its reads answered with.
pub struct HistoryOperations<'a> {
    has: &'a dyn Fn(&str) -> bool,
    acquires: &'a dyn Fn(fn(&Value) -> bool) -> bool,
    reads: &'a dyn Fn(fn(&Value) -> bool) -> bool,
}

impl HistoryOperations<'_> {
    /// Whether there is an operation of one of these names.
    pub fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| (self.has)(name))
    }

    /// Whether some `acquire` was sent with such a value.
    pub fn acquires(&self, like: fn(&Value) -> bool) -> bool {
        (self.acquires)(like)
    }

    /// Whether some read was answered with such a value.
    pub fn reads(&self, like: fn(&Value) -> bool) -> bool {
        (self.reads)(like)
    }
}
