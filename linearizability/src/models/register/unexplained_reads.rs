//! Reads that no write explains: what they found was never written, or had certainly been overwritten.
//!
//! A read of a value needs a write of it that was sent before the read was answered, and after whose end no other value
//! was certainly written before the read was sent. Where that is missing no search is needed, however many orders there
//! are.

use crate::model::{Contradiction, Op, Witness};
use crate::models::register::accesses::FirstValue;
use crate::models::register::operation::RegisterOp;
use std::collections::HashMap;
use std::hash::Hash;

/// The writes that may have given a register a value, by where they were sent.
#[derive(Debug)]
struct Sources {
    sent: Vec<usize>,
    /// Of those up to each the latest end, and whether one is a write without a condition.
    latest: Vec<(usize, bool)>,
}

/// What is certainly written by some position.
#[derive(Debug, Clone, Copy)]
struct CertainWrite {
    /// The write that was sent last.
    best: usize,
    /// The one that was sent last of those that write another value than `best`.
    other: Option<usize>,
}

/// The first read in the order of answers that no write explains: alone, or after the write that had overwritten what
/// it found.
pub fn unexplained<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Option<Contradiction> {
    let sources = sources(ops);
    let (ends, latest) = certain(ops);
    let mut reads: Vec<(usize, usize)> = (0..ops.len())
        .filter(|&op| ops[op].must() && ops[op].input.observed().is_some())
        .filter_map(|op| Some((ops[op].complete?, op)))
        .collect();
    reads.sort_unstable();
    reads.into_iter().find_map(|(end, read)| {
        let value = ops[read].input.observed()?;
        // An operation that writes what it found would have to be distinguished from its own sources.
        if ops[read].input.written() == Some(value) {
            return None;
        }
        let source = sources.get(value).and_then(|sources| sources.before(end));
        let began = first.may_be(value);
        if source.is_none() && !began {
            return Some(contradiction(vec![read], read, true));
        }
        let last = latest.get(ends.partition_point(|&end| end < ops[read].invoke).checked_sub(1)?)?;
        let over = match ops[last.best].input.written() == Some(value) {
            true => last.other?,
            false => last.best,
        };
        let overwritten = source.is_none_or(|(end, _)| end < ops[over].invoke);
        // Each of the two is possible without the other, if no chain of other operations has to lead to it.
        let least =
            matches!(ops[over].input, RegisterOp::Write(_)) && (began || source.is_some_and(|(_, plain)| plain));
        overwritten.then(|| contradiction(vec![over, read], read, least))
    })
}

/// The first read of a value that nobody had written, so that the register began with it, after a compare-and-set that
/// had found another value. It is of registers that began with an unknown value.
pub fn denied<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>]) -> Option<Contradiction> {
    let mut mismatches: HashMap<&V, (usize, usize)> = HashMap::new();
    for (place, op) in ops.iter().enumerate() {
        if let (RegisterOp::Mismatch(value), Some(end), true) = (&op.input, op.complete, op.required) {
            let first = mismatches.entry(value).or_insert((end, place));
            *first = (end, place).min(*first);
        }
    }
    if mismatches.is_empty() {
        return None;
    }
    let sources = sources(ops);
    let denied = |read: usize| {
        let (value, end) = (ops[read].input.observed()?, ops[read].complete?);
        let written =
            ops[read].input.written() == Some(value) || sources.get(value).and_then(|all| all.before(end)).is_some();
        let &(mismatched, mismatch) = mismatches.get(value).filter(|_| !written)?;
        let late = ops[read].must() && mismatched < ops[read].invoke;
        late.then(|| (end, contradiction(vec![mismatch, read], read, true)))
    };
    let found = (0..ops.len()).filter_map(denied).min_by_key(|&(end, _)| end);
    found.map(|(_, found)| found)
}

fn contradiction(mut ops: Vec<usize>, stuck: usize, least: bool) -> Contradiction {
    ops.sort_unstable();
    Contradiction {
        stuck,
        witness: Witness { ops, least },
        claim: None,
    }
}

fn sources<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>]) -> HashMap<&V, Sources> {
    let mut order: Vec<usize> = (0..ops.len()).collect();
    order.sort_unstable_by_key(|&op| ops[op].invoke);
    let mut all: HashMap<&V, Sources> = HashMap::new();
    for op in order {
        let Some(value) = ops[op].input.written() else { continue };
        let of = all.entry(value).or_insert_with(|| Sources {
            sent: Vec::new(),
            latest: Vec::new(),
        });
        let (end, plain) = of.latest.last().copied().unwrap_or((0, false));
        let own = ops[op].complete.unwrap_or(usize::MAX);
        of.latest
            .push((end.max(own), plain || matches!(ops[op].input, RegisterOp::Write(_))));
        of.sent.push(ops[op].invoke);
    }
    all
}

impl Sources {
    /// Of those sent before a position the latest end, and whether one is a plain write; `None` if there are none.
    fn before(&self, position: usize) -> Option<(usize, bool)> {
        let count = self.sent.partition_point(|&sent| sent < position);
        self.latest.get(count.checked_sub(1)?).copied()
    }
}

/// The ends of the writes that certainly took effect, ascending, and what is certain at each.
fn certain<V: Eq>(ops: &[Op<RegisterOp<V>>]) -> (Vec<usize>, Vec<CertainWrite>) {
    let mut writes: Vec<(usize, usize)> = (0..ops.len())
        .filter(|&op| ops[op].must() && ops[op].input.written().is_some())
        .filter_map(|op| Some((ops[op].complete?, op)))
        .collect();
    writes.sort_unstable();
    let value = |op: usize| ops[op].input.written();
    let later = |a: usize, b: usize| if ops[a].invoke > ops[b].invoke { a } else { b };
    let mut latest: Vec<CertainWrite> = Vec::with_capacity(writes.len());
    for &(_, op) in &writes {
        let next = match latest.last() {
            None => CertainWrite { best: op, other: None },
            Some(&CertainWrite { best, other }) if value(op) == value(best) => CertainWrite {
                best: later(op, best),
                other,
            },
            Some(&CertainWrite { best, .. }) if later(op, best) == op => CertainWrite {
                best: op,
                other: Some(best),
            },
            Some(&CertainWrite { best, other }) => CertainWrite {
                best,
                other: Some(other.map_or(op, |other| later(op, other))),
            },
        };
        latest.push(next);
    }
    (writes.iter().map(|&(end, _)| end).collect(), latest)
}
