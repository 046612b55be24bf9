//! Histories of simulated objects: linearizable by construction, or with one violation planted in them.
//!
//! Clients run concurrently against one object, each with one operation in flight. An operation takes effect at one
//! moment between its invocation and its completion; one of unknown outcome before its `info`, at some later time, or
//! never, and its client goes on as a new process, as in Jepsen. The same options give the same history.
//!
//! The violation is certain by what is in the history, whatever the operations of unknown outcome did. A register has a
//! value that is written once, and a process reads it, then another one, then it again, while its write is in flight. A
//! mutex, a semaphore or a read-write lock is granted and released within holds that exclude it, whose releases
//! succeed; a mutex with tokens gives out the same token twice. Of a FIFO queue two items come out in the wrong order,
//! of an unordered one an item comes out twice, of a total one something that was not put in. A set is read without
//! what was added before, a counter with less than before, and an id is given out twice. A barrier lets in one member
//! alone, and of a transaction that nobody begins one site gets the decision commit and another abort.

pub(crate) mod clients;
mod event;
mod load;
mod object;

use clients::{GeneratedClients, SimulatedObject};
use fastrand::Rng;
use std::fmt;
use std::str::FromStr;

pub use event::{EventType, GeneratedEvent};
pub use load::GeneratedLoad;
pub use object::Object;

/// The values that are written to a register, put into a queue, or added to a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Each is another one; a counter counts by one.
    Unique,
    /// Each is drawn from so many; a planted violation has others, once each. A counter counts by one to so much.
    Of(u64),
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("unique", _) => Ok(Self::Unique),
            (_, Ok(count)) if count > 0 => Ok(Self::Of(count)),
            _ => Err(format!("`{text}` is neither `unique` nor a number from 1")),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unique => f.write_str("unique"),
            Self::Of(count) => count.fmt(f),
        }
    }
}

/// The values of a history, some of them used already.
#[derive(Debug)]
pub(crate) struct DrawnValues {
    values: Values,
    next: u64,
}

impl DrawnValues {
    /// None is used yet.
    pub fn new(values: Values) -> Self {
        Self { values, next: 0 }
    }

    /// A value as the history's options have it.
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(count) => rng.u64(0..count),
        }
    }

    /// A value that is drawn nowhere else.
    pub fn unique(&mut self) -> u64 {
        self.next += 1;
        match self.values {
            Values::Unique => self.next - 1,
            Values::Of(count) => count + self.next - 1,
        }
    }

    /// A value that may be drawn, and is not this one.
    pub fn other(&mut self, value: u64) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(_) => u64::from(value == 0),
        }
    }
}

/// What a history is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The object whose operations are simulated.
    pub object: Object,
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, so the most operations in flight beside those of unknown outcome; at least 1.
    pub clients: usize,
    /// The share of operations that end with unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written, put in or added; of no meaning for what has holders or members, for ids and for transactions.
    pub values: Values,
    /// The seed of the random numbers: equal options generate equal histories.
    pub seed: u64,
    /// Whether a violation is planted, after about half of the operations.
    pub violation: bool,
}

/// The history, with bare values (`3`, `[3 4]`) as Jepsen writes them.
///
/// # Errors
/// If the share is no share, there are too few clients, or a violation is asked for with fewer than ten operations.
pub fn generate(options: &Options) -> Result<Vec<GeneratedEvent>, String> {
    if !(0.0..=1.0).contains(&options.unknown) {
        return Err(format!("{} is not a share from 0 to 1", options.unknown));
    }
    let needed = options.object.clients(options.violation);
    if options.clients < needed || options.violation && options.ops < 10 {
        let (what, ops) = match options.violation {
            true => ("violation", " and ten operations"),
            false => ("history", ""),
        };
        let plural = if needed == 1 { "" } else { "s" };
        return Err(format!("such a {what} needs {needed} client{plural}{ops} at least"));
    }
    Ok(options.object.generate(options))
}

/// A history of clients that run concurrently against a simulated object.
pub(crate) fn simulate<S: SimulatedObject>(options: &Options, object: S) -> Vec<GeneratedEvent> {
    GeneratedClients::new(options, object).run()
}
