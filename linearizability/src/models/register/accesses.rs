//! Accesses to a register as the sweep over configurations wants them: values as numbers, events in order.

use crate::model::Op;
use crate::models::register::operation::RegisterOp;
use std::collections::HashMap;
use std::hash::Hash;

/// What an access does, by numbers of values.
pub type NumberedAccess = RegisterOp<u32>;

impl NumberedAccess {
    /// The value that there is after it; of a compare-and-set that failed the one that is not there.
    pub(super) fn value(self) -> u32 {
        match self {
            Self::Write(to) | Self::Cas(_, to) | Self::Read(to) | Self::Mismatch(to) => to,
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

/// An event of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessEvent {
    /// An operation is invoked.
    Call(usize),
    /// An operation is completed.
    Return(usize),
}

#[derive(Debug)]
pub struct AccessHistory {
    /// By the places of operations; `None` for what proves nothing: a read that need not have happened.
    pub accesses: Vec<Option<NumberedAccess>>,
    /// The events of the accesses that are not `None`, in order.
    pub events: Vec<AccessEvent>,
    /// The values with which it may begin.
    pub first: Vec<u32>,
    /// How many values there are.
    pub values: usize,
}

impl AccessHistory {
    /// The accesses of some operations.
    pub fn new<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Self {
        let mut numbers: HashMap<&V, u32> = HashMap::new();
        let mut number = |value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        };
        let mut accesses = Vec::with_capacity(ops.len());
        let mut events: Vec<(usize, AccessEvent)> = Vec::with_capacity(2 * ops.len());
        for (place, op) in ops.iter().enumerate() {
            let access = match &op.input {
                RegisterOp::Read(value) => NumberedAccess::Read(number(value)),
                RegisterOp::Write(to) => NumberedAccess::Write(number(to)),
                // It leaves what it finds.
                RegisterOp::Cas(from, to) if from == to => NumberedAccess::Read(number(to)),
                RegisterOp::Cas(from, to) => NumberedAccess::Cas(number(from), number(to)),
                RegisterOp::Mismatch(value) => NumberedAccess::Mismatch(number(value)),
            };
            let says = op.must() || access.written().is_some();
            accesses.push(says.then_some(access));
            if says {
                events.push((op.invoke, AccessEvent::Call(place)));
                events.extend(op.complete.map(|complete| (complete, AccessEvent::Return(place))));
            }
        }
        events.sort_unstable_by_key(|&(position, _)| position);
        let other = numbers.len() as u32;
        let first = match first {
            FirstValue::With(value) => vec![numbers.get(value).copied().unwrap_or(other)],
            // With a value that nothing finds it may begin whatever it is found not to be.
            FirstValue::Unknown => found_at_first(ops, |value| numbers[value])
                .into_iter()
                .chain([other])
                .collect(),
        };
        Self {
            accesses,
            events: events.into_iter().map(|(_, event)| event).collect(),
            first,
            values: numbers.len() + 1,
        }
    }
}

/// The values that may have been found before the first write: by what was invoked before one was over.
fn found_at_first<V: Eq>(ops: &[Op<RegisterOp<V>>], number: impl Fn(&V) -> u32) -> Vec<u32> {
    let over = ops
        .iter()
        .filter(|op| op.must() && op.input.written().is_some())
        .filter_map(|op| op.complete)
        .min()
        .unwrap_or(usize::MAX);
    let mut found: Vec<u32> = ops
        .iter()
        .filter(|op| op.invoke < over)
        .filter_map(|op| op.input.observed().map(&number))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
