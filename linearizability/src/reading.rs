//! Operations that were recorded as a model has them.

use crate::{Call, CallOutcome, Op, Remark};
use std::collections::HashMap;

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
