//! A mutex as textbooks have it: held from an acquire to a release, by any process.

use crate::model::{Model, Op, UnknownStart, narrowed};
use crate::models::register::relevance::relevant;
use crate::models::register::{FirstValue, RegisterOp, portfolio};
use crate::search::{Budget, SearchDecision, search};

/// The mutex, free at the beginning. Its state is whether it is held.
#[derive(Debug, Clone, Copy)]
pub struct Mutex;

/// An operation on the mutex that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutexOp {
    /// It was free and is held.
    Acquire,
    /// It was held and is free.
    Release,
}

impl Model for Mutex {
    type State = bool;
    type Input = MutexOp;

    fn initial(&self) -> bool {
        false
    }

    fn step(&self, held: &bool, input: &MutexOp) -> Option<bool> {
        match (input, held) {
            (MutexOp::Acquire, false) => Some(true),
            (MutexOp::Release, true) => Some(false),
            _ => None,
        }
    }

    fn after(&self, input: &MutexOp) -> Option<bool> {
        Some(*input == MutexOp::Acquire)
    }

    fn relevant(&self, ops: &[Op<MutexOp>]) -> Option<Vec<usize>> {
        relevant(&sets(ops), &FirstValue::With(&false))
    }

    fn explore(&self, ops: &[Op<MutexOp>], budget: &mut Budget<'_>) -> SearchDecision {
        let first = FirstValue::With(&false);
        portfolio::decide(&sets(ops), &first, |budget| search(self, ops, budget), budget)
    }

    fn decide_anywhere(&self, ops: &[Op<MutexOp>], budget: &mut Budget<'_>) -> SearchDecision {
        let (model, first) = (UnknownStart(self), FirstValue::Unknown);
        narrowed(ops, relevant(&sets(ops), &first), |ops| {
            portfolio::decide(&sets(ops), &first, |budget| search(&model, ops, budget), budget)
        })
    }
}

/// The operations as compare-and-sets of whether it is held. Of these at most two are possible next, so that a sweep
/// over configurations is over in time nearly linear.
fn sets(ops: &[Op<MutexOp>]) -> Vec<Op<RegisterOp<bool>>> {
    let set = |op: &Op<MutexOp>| match op.input {
        MutexOp::Acquire => op.with_input(RegisterOp::Cas(false, true)),
        MutexOp::Release => op.with_input(RegisterOp::Cas(true, false)),
    };
    ops.iter().map(set).collect()
}
