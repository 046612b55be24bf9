//! A counter that begins at 0, to which numbers are added, and that is read.
//!
//! If each add adds one, reads show how many adds came before each, and a history is a `schedule`, decided in time O(n
//! log n).
//!
//! Where other numbers are added that is a problem of subset sums, and only bounds are checked, as Jepsen's `counter`
//! does: a read is at least what was certainly added before, and at most what may have been, and where nothing is
//! subtracted it does not go back. What these leave open takes a search.

use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, contradiction, earliest};
use crate::models::counter::schedule::AddSchedule;
use std::cmp::Reverse;

pub(super) const TOO_SMALL: BrokenClaim = BrokenClaim {
    kind: "lost-increment",
    property: "nothing is lost",
    says: "the counter was read with less than what had been added",
};
pub(super) const TOO_LARGE: BrokenClaim = BrokenClaim {
    kind: "phantom-increment",
    property: "nothing is made up",
    says: "the counter was read with more than what had been added",
};

/// The counter. Its state is its value.
#[derive(Debug, Clone, Copy)]
pub struct Counter;

/// An operation on the counter, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// So much was added.
    Add(i64),
    /// It had this value.
    Read(i64),
}

impl Model for Counter {
    type State = i64;
    type Input = CounterOp;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, value: &i64, input: &CounterOp) -> Option<i64> {
        match *input {
            CounterOp::Add(more) => value.checked_add(more),
            CounterOp::Read(found) => (found == *value).then_some(found),
        }
    }

    fn is_read(&self, input: &CounterOp) -> bool {
        matches!(input, CounterOp::Read(_))
    }

    fn after(&self, input: &CounterOp) -> Option<i64> {
        match *input {
            CounterOp::Add(_) => None,
            CounterOp::Read(found) => Some(found),
        }
    }

    fn near(&self, ops: &[Op<CounterOp>]) -> NearLinearDecision {
        let ones = ops
            .iter()
            .all(|op| matches!(op.input, CounterOp::Add(1) | CounterOp::Read(_)));
        match ones {
            true => AddSchedule::new(ops).judge(),
            false => {
                let grows = ops
                    .iter()
                    .all(|op| !matches!(op.input, CounterOp::Add(more) if more < 0));
                let mut back = AddSchedule::new(ops).back().filter(|_| grows);
                // One of the two may be impossible by itself, as no adds sum up to it.
                if let Some(back) = &mut back {
                    back.witness.least = back.witness.ops.iter().all(|&read| reachable(ops, read));
                }
                earliest(ops, bounds(ops).into_iter().chain(back))
                    .map_or(NearLinearDecision::Undecided, NearLinearDecision::Not)
            }
        }
    }
}

/// Whether some adds that were sent before a read was over sum up to what it found, tried with the largest first;
/// `false` proves nothing.
fn reachable(ops: &[Op<CounterOp>], read: usize) -> bool {
    let CounterOp::Read(mut left) = ops[read].input else {
        return false;
    };
    let sent = ops.iter().filter(|op| Some(op.invoke) < ops[read].complete);
    let mut adds: Vec<i64> = sent
        .filter_map(|op| match op.input {
            CounterOp::Add(more) => Some(more),
            CounterOp::Read(_) => None,
        })
        .collect();
    adds.sort_unstable_by_key(|&more| Reverse(more));
    adds.into_iter()
        .for_each(|more| left -= if more <= left { more } else { 0 });
    left == 0
}

/// Reads outside of what is certain, one by one; what is needed of the adds is not tried.
fn bounds(ops: &[Op<CounterOp>]) -> Option<Contradiction> {
    let (mut ended, mut sent) = (Vec::new(), Vec::new());
    for op in ops {
        if let CounterOp::Add(more) = op.input {
            sent.push((op.invoke, i128::from(more)));
            ended.extend(op.complete.filter(|_| op.required).map(|end| (end, i128::from(more))));
        }
    }
    // For each position up to where sums of what is positive and of what is negative go.
    let sums = |mut adds: Vec<(usize, i128)>| {
        adds.sort_unstable();
        let (mut up, mut down) = (0, 0);
        let sum = |(at, more): (usize, i128)| {
            *(if more > 0 { &mut up } else { &mut down }) += more;
            (at, up, down)
        };
        adds.into_iter().map(sum).collect::<Vec<_>>()
    };
    let (ended, sent) = (sums(ended), sums(sent));
    let before = |sums: &[(usize, i128, i128)], end: usize| {
        let at = sums.partition_point(|&(at, _, _)| at < end).checked_sub(1);
        at.map_or((0, 0), |at| (sums[at].1, sums[at].2))
    };
    let mut reads: Vec<usize> = (0..ops.len())
        .filter(|&op| matches!(ops[op].input, CounterOp::Read(_)) && ops[op].must())
        .collect();
    reads.sort_unstable_by_key(|&op| ops[op].complete);
    reads.into_iter().find_map(|read| {
        let CounterOp::Read(found) = ops[read].input else {
            return None;
        };
        let found = i128::from(found);
        let (certain, possible) = (before(&ended, ops[read].invoke), before(&sent, ops[read].complete?));
        let small = found < certain.0 + possible.1;
        let claim = match (small, found > possible.0 + certain.1) {
            (true, _) => &TOO_SMALL,
            (_, true) => &TOO_LARGE,
            _ => return None,
        };
        let needed = |&op: &usize| match ops[op].input {
            CounterOp::Add(more) => (more > 0) == small && ops[op].must() && ops[op].complete < Some(ops[read].invoke),
            CounterOp::Read(_) => false,
        };
        let mut found = contradiction(ops, (0..ops.len()).filter(needed).chain([read]).collect(), claim);
        found.witness.least = found.witness.ops.len() == 1;
        Some(found)
    })
}
