//! Registers by configurations, just in time: one set of them is swept along the events, and an operation is done only
//! when its completion, or another one's, needs it (Lowe, "Testing for linearizability", 2017). It takes exponential
//! time at worst, in the operations that are in flight together, and in those of unknown outcome.
//!
//! What keeps the set small loses no order:
//! - A read is done as soon as the register has its value, and so is a write of the value that it has.
//! - When something is written, all other writes in flight may have been done right before, and count as done; they can
//!   be done later all the same, as long as they are in flight.
//! - Of writes of the same value that one is done which ends first; so, too, of the same compare-and-sets that must be
//!   done. Those of unknown outcome come last, for they never end.
//! - A write is done only if something in flight needs its value, or when it ends and something later may find it.
//! - Between two operations that must be done no value need be written twice. Where as many operations of unknown
//!   outcome that do the same were invoked as there are operations that must be done, none of these is ever missed.
//! - A configuration is dropped if another one has the same value, at least as much done, and at most as much used up.
//!
//! In the relaxed form operations of unknown outcome are never used up, so that few configurations differ, but for
//! those that are alone in writing some value. What has no order then has none.

use crate::model::Op;
use crate::models::register::in_flight::{Configuration, EndedOperation, InFlight, NumberedAccess, prune};
use crate::models::register::operation::{FirstValue, RegisterOp};
use crate::search::{Budget, Limit, SearchDecision, SearchOutcome, within};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// What a sweep decides; `None` if too much is in flight together. In the relaxed form `Linearizable` proves nothing,
/// and perhaps no order gets even to the operation that is stuck.
pub fn sweep<V: Eq + Hash>(
    ops: &[Op<RegisterOp<V>>],
    first: &FirstValue<'_, V>,
    relaxed: bool,
    budget: &mut Budget<'_>,
) -> Option<SearchDecision> {
    let history = AccessHistory::new(ops, first);
    Sweep::new(ops, &history, relaxed)
        .run(&history.events, budget)
        .unwrap_or_else(|limit| Some(SearchDecision::GaveUp(limit)))
}

/// Decides a history whose values do not determine its order by whatever is done first: depth-first search and sweeps
/// over configurations take turns, each time with more steps. The former finds the order of most histories at once; the
/// latter finds out sooner that there is none. `search` is the depth-first search of the history.
pub fn take_turns<V: Eq + Hash>(
    ops: &[Op<RegisterOp<V>>],
    first: &FirstValue<'_, V>,
    mut search: impl FnMut(&mut Budget<'_>) -> SearchOutcome,
    budget: &mut Budget<'_>,
) -> SearchDecision {
    /// How many times as many steps each turn has as the one before.
    const MORE: u64 = 4;
    let mut turn = 20 * ops.len() as u64 + 10_000;
    // Whether the relaxed form may still find something.
    let mut relaxed = true;
    loop {
        let mut limits = Vec::new();
        match within(budget, turn, &mut search) {
            SearchOutcome::GaveUp(limit) => limits.push(limit),
            decided => return decided.into(),
        }
        if relaxed {
            match within(budget, turn, |budget| sweep(ops, first, true, budget)) {
                Some(SearchDecision::GaveUp(limit)) => limits.push(limit),
                Some(SearchDecision::Linearizable) | None => relaxed = false,
                Some(stuck) => return stuck,
            }
        }
        match within(budget, turn, |budget| sweep(ops, first, false, budget)) {
            Some(SearchDecision::GaveUp(limit)) => limits.push(limit),
            Some(decided) => return decided,
            None => {}
        }
        // What takes too much memory will do so again.
        let over = |limit| limits.contains(&limit);
        if over(Limit::Time) {
            return SearchDecision::GaveUp(Limit::Time);
        }
        if budget.steps == 0 || !over(Limit::Steps) {
            return SearchDecision::GaveUp(limits[0]);
        }
        turn = turn.saturating_mul(MORE);
    }
}

/// For each value whether what writes it and is of unknown outcome is used up. In the relaxed form these are the values
/// that have one such write, if they are few.
fn limited<V>(ops: &[Op<RegisterOp<V>>], history: &AccessHistory, relaxed: bool) -> Vec<bool> {
    const FEW: usize = 4;
    let mut writes = vec![0_usize; history.values];
    for (op, access) in ops.iter().zip(&history.accesses) {
        match access {
            Some(access) if access.written().is_some() && op.complete.is_none() => writes[access.value() as usize] += 1,
            _ => {}
        }
    }
    let once = |&count: &usize| count == 1;
    let few = writes.iter().filter(|count| once(count)).count() <= FEW;
    writes.iter().map(|count| !relaxed || few && once(count)).collect()
}

/// A sweep under way.
struct Sweep<'h> {
    accesses: &'h [Option<NumberedAccess>],
    ends: Vec<Option<usize>>,
    required: Vec<bool>,
    /// For each value until when it may be found.
    found_until: Vec<Option<usize>>,
    /// The bit of each operation in flight.
    bits: Vec<u128>,
    in_flight: InFlight,
    configurations: Vec<Configuration>,
    /// How many there were when they were last held against each other.
    pruned: usize,
}

impl<'h> Sweep<'h> {
    fn new<V>(ops: &[Op<RegisterOp<V>>], history: &'h AccessHistory, relaxed: bool) -> Self {
        let mut found_until = vec![None; history.values];
        // What finds only that a value is not there may find any other one.
        let mut other_until = None;
        for (op, access) in ops.iter().zip(&history.accesses) {
            let until = match *access {
                Some(NumberedAccess::Read(value) | NumberedAccess::Cas(value, _)) => &mut found_until[value as usize],
                Some(NumberedAccess::Mismatch(_)) => &mut other_until,
                Some(NumberedAccess::Write(_)) | None => continue,
            };
            *until = (*until).max(Some(op.complete.unwrap_or(usize::MAX)));
        }
        found_until
            .iter_mut()
            .for_each(|until| *until = (*until).max(other_until));
        Self {
            accesses: &history.accesses,
            ends: ops.iter().map(|op| op.complete).collect(),
            required: ops.iter().map(Op::must).collect(),
            found_until,
            bits: vec![0; ops.len()],
            in_flight: InFlight::new(
                limited(ops, history, relaxed),
                ops.iter().filter(|op| op.must()).count(),
            ),
            configurations: history.first.iter().map(|&value| Configuration::new(value)).collect(),
            pruned: 0,
        }
    }

    fn run(&mut self, events: &[AccessEvent], budget: &mut Budget<'_>) -> Result<Option<SearchDecision>, Limit> {
        for event in events {
            budget.spend()?;
            match *event {
                AccessEvent::Call(op) => {
                    if !self.call(op) {
                        return Ok(None);
                    }
                }
                AccessEvent::Return(op) => {
                    self.settle(op, budget)?;
                    if self.configurations.is_empty() {
                        return Ok(Some(SearchDecision::Not { stuck: op }));
                    }
                }
            }
        }
        Ok(Some(SearchDecision::Linearizable))
    }

    /// Begins an operation; `false` if too many are in flight.
    fn call(&mut self, op: usize) -> bool {
        let Some(access) = self.accesses[op] else { return true };
        if let Some(end) = self.ends[op] {
            let Some(bit) = self.in_flight.add(access, end) else {
                return false;
            };
            self.bits[op] = bit;
            let required = self.required[op];
            for one in &mut self.configurations {
                let done = match access {
                    NumberedAccess::Read(value) | NumberedAccess::Write(value) => one.value == value,
                    NumberedAccess::Mismatch(value) => one.value != value,
                    NumberedAccess::Cas(..) => false,
                };
                if done || !required {
                    one.done |= bit;
                }
            }
        } else {
            self.in_flight.add_unknown(access);
        }
        for one in &mut self.configurations {
            self.in_flight.relax(one);
        }
        true
    }

    /// Ends an operation: it is done in all configurations that are left.
    fn settle(&mut self, op: usize, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let Some(access) = self.accesses[op] else { return Ok(()) };
        let bit = self.bits[op];
        let found = self.ends[op] < self.found_until[access.value() as usize];
        let ended = EndedOperation {
            bit,
            access: Some(access).filter(|access| access.written().is_some()),
            found_later: access.written().is_some() && found && !self.in_flight.unlimited(access),
        };
        let all = std::mem::take(&mut self.configurations);
        let mut next = match all.iter().all(|one| ended.is_over(one)) {
            true => all,
            false => self.expand(all, ended, budget)?,
        };
        self.in_flight.remove(access, bit);
        for one in &mut next {
            one.done &= !bit;
            one.used &= !bit;
        }
        prune(&mut next, &mut self.pruned);
        self.configurations = next;
        Ok(())
    }

    /// Whatever these can become by as little as must be done before an operation ends: until it is done, and if it is
    /// a write that may be found later, until it is the last one, too.
    fn expand(
        &self,
        all: Vec<Configuration>,
        ended: EndedOperation,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Configuration>, Limit> {
        // Of each operation an access, its ends, its bit, and two events.
        const FIXED: usize = 120;
        // A configuration in a table that may be half empty, what it spent, and its place in a list.
        const EACH: usize = 4 * size_of::<Configuration>() + 64;
        let mut seen: HashSet<Configuration> = all.iter().cloned().collect();
        let mut found: Vec<Configuration> = all.iter().filter(|one| one.done & ended.bit != 0).cloned().collect();
        let mut left = all;
        left.retain(|one| !ended.is_over(one));
        while let Some(one) = left.pop() {
            for next in self.in_flight.moves(&one, ended) {
                budget.spend()?;
                if !seen.insert(next.clone()) {
                    continue;
                }
                // What was done before has been found already.
                if next.used & ended.bit != 0 || next.done & !one.done & ended.bit != 0 {
                    found.push(next.clone());
                }
                if !ended.is_over(&next) {
                    left.push(next);
                }
            }
            if self.accesses.len() * FIXED + (found.len() + seen.len()) * EACH > budget.bytes {
                return Err(Limit::Memory);
            }
        }
        Ok(found)
    }
}

/// An event of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessEvent {
    /// An operation is invoked.
    Call(usize),
    /// An operation is completed.
    Return(usize),
}

/// Accesses as the sweep wants them: values as numbers, events in order.
#[derive(Debug)]
struct AccessHistory {
    /// By the places of operations; `None` for what proves nothing: a read that need not have happened.
    accesses: Vec<Option<NumberedAccess>>,
    /// The events of the accesses that are not `None`, in order.
    events: Vec<AccessEvent>,
    /// The values with which it may begin.
    first: Vec<u32>,
    /// How many values there are.
    values: usize,
}

impl AccessHistory {
    /// The accesses of some operations.
    fn new<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Self {
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
