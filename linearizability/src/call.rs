//! The operations of a history as they were recorded.

use crate::Value;

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
