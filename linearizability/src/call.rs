//! The operations of a history as they were recorded, how a model reads them, and what it cannot read.

use crate::model::Op;
use crate::search::Limit;
use crate::value::Value;
use std::collections::HashMap;
use std::fmt;

/// An operation of a process: its invocation with its completion. Positions are those of events in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a> {
    /// The process, which does one operation at a time.
    pub process: u64,
    /// The name of the operation.
    pub f: &'a str,
    /// Where it was invoked; where it was completed if it is [`unsent`](Self::unsent).
    pub invoke: usize,
    /// Where it was completed; `None` if it was not, or it is `unsent`.
    pub complete: Option<usize>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// What it was invoked with.
    pub asked: Value,
    /// What it was completed with; nil if it was not.
    pub answered: Value,
    /// The error that it was completed with.
    pub error: Option<&'a str>,
    /// Whether its invocation is missing: it may have been sent at any time, and what it was invoked with is what its
    /// completion has.
    pub unsent: bool,
}

impl<'a> Call<'a> {
    /// An operation that was answered with `ok`.
    pub fn ok(process: u64, f: &'a str, [invoke, complete]: [usize; 2], asked: Value, answered: Value) -> Self {
        Self {
            complete: Some(complete),
            outcome: CallOutcome::Ok,
            answered,
            ..Self::unknown(process, f, invoke, asked)
        }
    }

    /// An operation that was never completed.
    pub fn unknown(process: u64, f: &'a str, invoke: usize, asked: Value) -> Self {
        Self {
            process,
            f,
            invoke,
            complete: None,
            outcome: CallOutcome::Info,
            asked,
            answered: Value::Nil,
            error: None,
            unsent: false,
        }
    }

    /// Position from which it may take effect.
    pub fn from(&self) -> usize {
        if self.unsent { 0 } else { self.invoke }
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may have happened, may happen later, or never; also what was never completed.
    Info,
}

/// What answers mean where histories differ, and what is known of their beginning; by default nil is a value, a failed
/// operation proves nothing, and a register begins as its values show or with an unknown one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Conventions<'a> {
    /// Whether an answer of nil means that the value is not known, and not that it is nil.
    pub nil_is_unknown: bool,
    /// Whether a compare-and-set that failed, without an error or with one that names a mismatch, found another value;
    /// else it proves nothing.
    pub failed_cas_is_mismatch: bool,
    /// The value with which each object begins, where somebody states that. It is for models alone that
    /// [have no beginning of their own](crate::ModelKind::beginning).
    pub initial: Option<&'a Value>,
}

/// Operations for a model, each with the call that it is of, and remarks for the reader of the verdict.
#[derive(Debug)]
pub struct Reading<'a, I> {
    pub ops: Vec<Op<I>>,
    /// The call of each operation, in the order of `ops`.
    pub calls: Vec<&'a Call<'a>>,
    /// For an operation the later one that reveals what it was, and what it would be without that one, by their places
    /// in `ops`.
    pub revealed_by: HashMap<usize, (usize, I)>,
    pub notes: Vec<Remark<'a>>,
}

impl<'a, I> Reading<'a, I> {
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

/// What a verdict leaves open, or should be read with.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark<'a> {
    /// The budget ran out before an order was found or all were excluded.
    GaveUp(Limit),
    /// Some operations were not judged.
    Unjudged(InputError),
    /// So many grants have no token that is a number.
    NoTokens(usize),
    /// A drain took several items out, and their order among each other was not judged.
    DrainUnordered,
    /// Whether items were lost was not judged: no drain was sent after all deliveries were answered and after this,
    /// whose item did not come out.
    LossesUnjudged {
        /// What put the item in.
        enqueue: &'a Call<'a>,
    },
    /// So many deliveries repeated an item that had come out already, as the model allows.
    Repeated(usize),
    /// Several processes name one client, so that it is not known which of its holds a release ends: of no hold of such
    /// a client more was judged than that it was granted.
    ClientShared {
        /// The first operation of such a client.
        first: &'a Call<'a>,
        /// The first one of the same client by another process.
        other: &'a Call<'a>,
    },
    /// A hold had ended when it was to be released, as the model allows.
    LeaseLost {
        /// The acquire.
        grant: &'a Call<'a>,
        /// The release, which failed.
        release: &'a Call<'a>,
    },
}

impl Remark<'_> {
    /// Whether the history is not known to be linearizable because of it.
    pub fn leaves_open(&self) -> bool {
        !matches!(self, Self::Repeated(_) | Self::LeaseLost { .. })
    }
}

/// An operation that is none of the model's, or whose values the model cannot have.
#[derive(Debug, Clone, PartialEq)]
pub enum InputError {
    /// What is wrong, in words.
    Unable(String),
    /// A value has another form than the model's.
    Unexpected {
        /// What is lacking, as the beginning of a sentence.
        what: String,
        /// The value that was found.
        found: Value,
    },
    /// It is not known what a value equals.
    Incomparable {
        /// The value's role, as the subject of a sentence.
        what: String,
        /// The value, which has no readable form.
        value: Value,
    },
    /// A read was sent for one key and answered for another one.
    OtherKey {
        /// The name of the read.
        f: String,
        /// The position of its invocation.
        invoke: usize,
        /// What it was invoked with.
        asked: Value,
        /// The position of its answer.
        complete: usize,
        /// What it was answered with.
        answered: Value,
    },
}

impl InputError {
    /// What is wrong in words, with values written by `text`, and one without readable form by `raw`.
    pub fn words(&self, text: impl Fn(&Value) -> String, raw: impl Fn(&Value) -> String) -> String {
        match self {
            Self::Unable(what) => what.clone(),
            Self::Unexpected { what, found } => format!("{what}, but {}", text(found)),
            Self::Incomparable { what, value } => format!(
                "{what} cannot be compared: {} has no readable form, so what it equals is not known",
                raw(value)
            ),
            Self::OtherKey {
                f,
                invoke,
                asked,
                complete,
                answered,
            } => format!(
                "the {f} of event {invoke} was sent for the key of {}, and answered for another at event {complete}: {}",
                text(asked),
                text(answered)
            ),
        }
    }
}

/// In words, with values as EDN.
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Value::to_string, Value::to_string))
    }
}

impl std::error::Error for InputError {}
