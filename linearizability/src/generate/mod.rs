//! Histories of simulated objects: linearizable by construction, or with one violation planted in them.
//!
//! Clients run concurrently against one object, each with one operation in flight. An operation takes effect at one moment
//! between its invocation and its completion; one of unknown outcome before its `info`, at some later time, or never, and its
//! client goes on as a new process, as in Jepsen. The same options give the same history.
//!
//! The violation is certain by what is in the history, whatever the operations of unknown outcome did. A register has a value
//! that is written once, and a process reads it, then another one, then it again, while its write is in flight. A mutex, a
//! semaphore or a read-write lock is granted and released within holds that exclude it, whose releases succeed; a mutex with
//! tokens gives out the same token twice. Of a FIFO queue two items come out in the wrong order, of an unordered one an item
//! comes out twice, of a total one something that was not put in. A set is read without what was added before, a counter
//! with less than before, and an id is given out twice. A barrier lets in one member alone, and of a transaction that nobody
//! begins one site is told commit and another abort.

mod barrier;
mod clients;
mod commit;
mod event;
mod growing;
mod ids;
mod mutex;
mod permits;
mod queue;
mod register;

use barrier::Barrier;
use clients::{Clients, Simulated};
use commit::Commits;
pub use event::{Event, EventType};
use fastrand::Rng;
use growing::{Counter, Set};
use ids::Ids;
use mutex::Mutex;
use permits::{Permits, Style};
use queue::{Order, Queue};
use register::Register;
use std::fmt;
use std::str::FromStr;

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A register that is read and written.
    Register,
    /// A register with compare-and-set as well.
    CasRegister,
    /// A mutex that is acquired and released by its holder. An acquire waits until nobody holds it.
    Mutex,
    /// The same, whose grants are answered with tokens that grow.
    FencedMutex,
    /// The same, which its holder may acquire again.
    ReentrantMutex,
    /// The same for so many holders at once.
    Semaphore(u32),
    /// A lock of many readers or one writer.
    RwLock,
    /// A queue, first in, first out.
    FifoQueue,
    /// A queue without an order.
    UnorderedQueue,
    /// The same, which is drained at the end.
    TotalQueue,
    /// A set to which elements are added; few of its operations are reads, as each reads all.
    Set,
    /// A counter. With unique values each add adds one, else up to so much.
    Counter,
    /// A generator of unique ids.
    IdGenerator,
    /// A double barrier of so many members, two at least, in rounds.
    Barrier(u32),
    /// Transactions that all of three sites commit, or none.
    AtomicCommit,
}

impl Object {
    /// All of them, by name; a semaphore of three, and a barrier of three.
    pub const ALL: [(&str, Self); 15] = [
        ("register", Self::Register),
        ("cas-register", Self::CasRegister),
        ("mutex", Self::Mutex),
        ("fenced-mutex", Self::FencedMutex),
        ("reentrant-mutex", Self::ReentrantMutex),
        ("semaphore:3", Self::Semaphore(3)),
        ("rwlock", Self::RwLock),
        ("fifo-queue", Self::FifoQueue),
        ("unordered-queue", Self::UnorderedQueue),
        ("total-queue", Self::TotalQueue),
        ("set", Self::Set),
        ("counter", Self::Counter),
        ("id-generator", Self::IdGenerator),
        ("barrier:3", Self::Barrier(3)),
        ("atomic-commit", Self::AtomicCommit),
    ];

    /// How many clients it needs, also for a violation.
    fn clients(self, violation: bool) -> usize {
        match self {
            Self::Barrier(members) => members as usize,
            Self::Semaphore(permits) if violation => permits as usize + 1,
            _ => 1 + usize::from(violation),
        }
    }
}

impl FromStr for Object {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let number = |of: &str| name.strip_prefix(of).and_then(|number| number.parse().ok());
        if let Some(permits) = number("semaphore:").filter(|&permits| permits > 0) {
            return Ok(Self::Semaphore(permits));
        }
        if let Some(members) = number("barrier:").filter(|&members| members > 1) {
            return Ok(Self::Barrier(members));
        }
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|&(_, object)| object).ok_or_else(|| {
            let known = Self::ALL.map(|(name, _)| name).join(", ");
            format!("there is no model `{name}` to generate; there are {known} (or another number)")
        })
    }
}

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
struct Drawn {
    values: Values,
    next: u64,
}

impl Drawn {
    /// None is used yet.
    fn new(values: Values) -> Self {
        Self { values, next: 0 }
    }

    /// A value as the history's options have it.
    fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(count) => rng.u64(0..count),
        }
    }

    /// A value that is drawn nowhere else.
    fn unique(&mut self) -> u64 {
        self.next += 1;
        match self.values {
            Values::Unique => self.next - 1,
            Values::Of(count) => count + self.next - 1,
        }
    }

    /// A value that may be drawn, and is not this one.
    fn other(&mut self, value: u64) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(_) => u64::from(value == 0),
        }
    }
}

/// What a history is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The object.
    pub object: Object,
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, so the most operations in flight beside those of unknown outcome; at least 1.
    pub clients: usize,
    /// The share of operations that end with unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written, put in or added; of no meaning for what has holders or members, for ids and for transactions.
    pub values: Values,
    /// Decides whatever is drawn.
    pub seed: u64,
    /// Whether a violation is planted, after about half of the operations.
    pub violation: bool,
}

/// The history, with bare values (`3`, `[3 4]`) as Jepsen writes them.
///
/// # Errors
/// If the share is no share, there are too few clients, or a violation is asked for with fewer than ten operations.
pub fn generate(options: &Options) -> Result<Vec<Event>, String> {
    if !(0.0..=1.0).contains(&options.unknown) {
        return Err(format!("{} is no share from 0 to 1", options.unknown));
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
    let permits = |style| made(options, Permits::new(style, options.clients));
    let queue = |order| made(options, Queue::new(order, options));
    Ok(match options.object {
        Object::Register | Object::CasRegister => made(options, Register::new(options)),
        Object::Mutex => made(options, Mutex::new(options.clients, false)),
        Object::FencedMutex => made(options, Mutex::new(options.clients, true)),
        Object::ReentrantMutex => permits(Style::Reentrant),
        Object::Semaphore(number) => permits(Style::Semaphore(u64::from(number))),
        Object::RwLock => permits(Style::ReadWrite),
        Object::FifoQueue => queue(Order::Fifo),
        Object::UnorderedQueue => queue(Order::None),
        Object::TotalQueue => queue(Order::Drained),
        Object::Set => made(options, Set::new(options)),
        Object::Counter => made(options, Counter::new(options)),
        Object::IdGenerator => made(options, Ids::default()),
        Object::Barrier(members) => made(options, Barrier::new(members, options.clients)),
        Object::AtomicCommit => made(options, Commits::default()),
    })
}

fn made<S: Simulated>(options: &Options, object: S) -> Vec<Event> {
    Clients::new(options, object).run()
}
