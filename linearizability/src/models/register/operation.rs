//! Operations on a register, and what of a history of them matters to those that must have happened. Where few have to,
//! as in a witness of which something is left out, that is little of it, however long it is.
//!
//! - Accesses that need not have happened and change nothing do not matter.
//! - Nor does what had ended before the first access was invoked that must have happened, but for the value that it
//!   left: one chain of accesses that leads to each value suffices.
//! - Between two accesses that must have happened no value need be written twice. So of the same access of unknown
//!   outcome as many suffice as there are accesses that must have happened, the earliest ones.

use crate::model::Op;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

/// An operation on the register, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterOp<V> {
    /// It was read to have this value.
    Read(V),
    /// It was given this value.
    Write(V),
    /// It had the first value and was given the second.
    Cas(V, V),
    /// A compare-and-set found another value than this one.
    Mismatch(V),
}

impl<V> RegisterOp<V> {
    /// What the register holds after it; `None` if that may be more than one value.
    pub fn left(&self) -> Option<&V> {
        match self {
            Self::Read(value) | Self::Write(value) | Self::Cas(_, value) => Some(value),
            Self::Mismatch(_) => None,
        }
    }

    /// The value that it found.
    pub(super) fn observed(&self) -> Option<&V> {
        match self {
            Self::Read(value) | Self::Cas(value, _) => Some(value),
            Self::Write(_) | Self::Mismatch(_) => None,
        }
    }

    /// The value that it wrote.
    pub(super) fn written(&self) -> Option<&V> {
        match self {
            Self::Write(value) | Self::Cas(_, value) => Some(value),
            Self::Read(_) | Self::Mismatch(_) => None,
        }
    }
}

/// The value with which a register begins.
#[derive(Debug)]
pub enum FirstValue<'m, V> {
    /// This value.
    With(&'m V),
    /// Nothing is known of it.
    Unknown,
}

impl<V: Eq> FirstValue<'_, V> {
    /// Whether the register may have begun with a value.
    pub fn may_be(&self, value: &V) -> bool {
        match self {
            Self::With(first) => value == *first,
            Self::Unknown => true,
        }
    }
}

/// The accesses that matter, by their places, ascending: the history has an order exactly if these have. `None` if all
/// matter, or that is not known. In time O(n log n).
pub fn relevant<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Option<Vec<usize>> {
    let must: Vec<&Op<RegisterOp<V>>> = ops.iter().filter(|op| op.must()).collect();
    let from = must.iter().map(|op| op.invoke).min()?;
    if must.len() == ops.len() {
        return None;
    }
    let (mut early, mut kept, mut endless) = (Vec::new(), Vec::new(), Vec::new());
    for (place, op) in ops.iter().enumerate() {
        match op.complete {
            _ if op.must() => kept.push(place),
            _ if link(&op.input).is_none() => {}
            None => endless.push(place),
            Some(complete) if complete < from => early.push(place),
            Some(_) => kept.push(place),
        }
    }
    endless.sort_unstable_by_key(|&op| ops[op].invoke);
    let late = kept.iter().chain(&endless).filter(|&&op| ops[op].invoke < from);
    let in_flight: Vec<usize> = late.copied().collect();
    let left = ReachableValues::by(ops, &early, first);
    if left.lacks(ops, &early, &in_flight, first) {
        return None;
    }
    kept.extend(left.by.into_values().filter_map(|(_, op)| op));
    let mut same: HashMap<&RegisterOp<V>, usize> = HashMap::new();
    kept.extend(endless.into_iter().filter(|&op| {
        let count = same.entry(&ops[op].input).or_default();
        *count += 1;
        *count <= must.len()
    }));
    kept.sort_unstable();
    (kept.len() < ops.len()).then_some(kept)
}

/// What an access needs, if that is a value, and what it leaves; `None` if it changes nothing.
fn link<V: Eq>(input: &RegisterOp<V>) -> Option<(Option<&V>, &V)> {
    match input {
        RegisterOp::Write(to) => Some((None, to)),
        RegisterOp::Cas(from, to) if from != to => Some((Some(from), to)),
        RegisterOp::Cas(..) | RegisterOp::Read(_) | RegisterOp::Mismatch(_) => None,
    }
}

/// The values that a register may have had by some accesses, none of which must have happened.
struct ReachableValues<'o, V> {
    /// For each the earliest position at which it may have had it, and the last access of a chain that leads there;
    /// `None` if it began with it.
    by: HashMap<&'o V, (usize, Option<usize>)>,
}

impl<'o, V: Eq + Hash> ReachableValues<'o, V> {
    /// The values that these accesses may have left.
    fn by(ops: &'o [Op<RegisterOp<V>>], places: &[usize], first: &FirstValue<'_, V>) -> Self {
        let mut by: HashMap<&V, (usize, Option<usize>)> = HashMap::new();
        let mut sets: HashMap<&V, Vec<usize>> = HashMap::new();
        let mut reach = |value, next: (usize, Option<usize>)| {
            let known = by.entry(value).or_insert(next);
            *known = (*known).min(next);
        };
        for &place in places {
            match link(&ops[place].input) {
                Some((None, to)) => reach(to, (ops[place].invoke, Some(place))),
                Some((Some(from), _)) => {
                    sets.entry(from).or_default().push(place);
                    if first.may_be(from) {
                        reach(from, (0, None));
                    }
                }
                None => {}
            }
        }
        // The earliest first, as Dijkstra's algorithm has it.
        let mut next: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
        let mut values: Vec<&V> = by.keys().copied().collect();
        next.extend(values.iter().enumerate().map(|(at, value)| Reverse((by[value].0, at))));
        while let Some(Reverse((time, at))) = next.pop() {
            let from = values[at];
            if by[from].0 != time {
                continue;
            }
            for set in sets.remove(from).into_iter().flatten() {
                let Some((_, to)) = link(&ops[set].input) else { continue };
                let then = time.max(ops[set].invoke);
                let in_time = ops[set].complete.is_none_or(|complete| time < complete);
                if in_time && by.get(to).is_none_or(|&(known, _)| then < known) {
                    by.insert(to, (then, Some(set)));
                    next.push(Reverse((then, values.len())));
                    values.push(to);
                }
            }
        }
        Self { by }
    }

    /// Whether accesses in flight might have helped to leave a value that is not among these.
    fn lacks(
        &self,
        ops: &'o [Op<RegisterOp<V>>],
        early: &[usize],
        in_flight: &[usize],
        first: &FirstValue<'_, V>,
    ) -> bool {
        let mut missing = early
            .iter()
            .filter_map(|&place| link(&ops[place].input).map(|(_, to)| to))
            .filter(|to| !self.by.contains_key(to) && !first.may_be(to));
        if missing.clone().next().is_none() {
            return false;
        }
        let all: Vec<usize> = early.iter().chain(in_flight).copied().collect();
        let helped = Self::by(ops, &all, first);
        missing.any(|to| helped.by.contains_key(to))
    }
}
