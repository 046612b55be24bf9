//! The longest order that a search reaches, also where no order holds all operations.

use super::list::fixed;
use super::walk::Walk;
use crate::{Budget, Limit, Model, Op, SearchOutcome};
use std::collections::HashSet;

/// Why an order ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderEnd {
    /// It holds every operation that certainly took effect.
    Whole,
    /// No order that fits holds more of these.
    Longest,
    /// The budget ran out: longer ones may fit.
    GaveUp(Limit),
}

/// An order that fits the model and the intervals, as a beginning of one that holds all: what was completed before an
/// operation in it was invoked is in it, if it certainly took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongestOrder<S> {
    /// The operations, by their place in the list given. The last one certainly took effect.
    pub order: Vec<usize>,
    /// The state after each of them.
    pub states: Vec<S>,
    /// The operations that certainly took effect, may be next by their intervals, and are impossible in the last state:
    /// by their completions, of which the first is the one that no order of this beginning gets past. Of an order that
    /// is the longest one these are all that may be next.
    pub refused: Vec<usize>,
    /// Why it ends there.
    pub end: OrderEnd,
}

/// The order with the most operations that certainly took effect, of all that fit; the same for the same operations and
/// the same number of steps.
///
/// Where the budget runs out it is the longest one that was reached. A search takes exponential time at worst, so that
/// long histories which have no order need a budget of few steps.
pub fn longest_order<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> LongestOrder<M::State> {
    let kept = ops.len() * size_of::<(usize, bool)>();
    let (reached, end) = match fixed::<M>(ops) + kept > budget.bytes {
        true => (Vec::new(), OrderEnd::GaveUp(Limit::Memory)),
        false => {
            let bytes = budget.bytes;
            budget.bytes -= kept;
            let found = reach(model, ops, budget);
            budget.bytes = bytes;
            found
        }
    };
    let last = reached.iter().rposition(|&op| ops[op].must());
    let order = reached[..last.map_or(0, |last| last + 1)].to_vec();
    let mut states: Vec<M::State> = Vec::with_capacity(order.len());
    for &op in &order {
        let before = states.last().cloned().unwrap_or_else(|| model.initial());
        states.extend(model.step(&before, &ops[op].input));
    }
    let state = states.last().cloned().unwrap_or_else(|| model.initial());
    let refused = next(ops, &order)
        .into_iter()
        .filter(|&op| model.step(&state, &ops[op].input).is_none());
    LongestOrder {
        refused: refused.collect(),
        order,
        states,
        end,
    }
}

fn reach<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> (Vec<usize>, OrderEnd) {
    let mut walk = Walk::new(model, ops);
    walk.record();
    match walk.run(budget) {
        SearchOutcome::Linearizable { order } => (order, OrderEnd::Whole),
        SearchOutcome::Not { .. } => (walk.longest(), OrderEnd::Longest),
        SearchOutcome::GaveUp(limit) => (walk.longest(), OrderEnd::GaveUp(limit)),
    }
}

/// The operations that certainly took effect and may follow an order by their intervals, by their completions.
fn next<I>(ops: &[Op<I>], order: &[usize]) -> Vec<usize> {
    let done: HashSet<usize> = order.iter().copied().collect();
    let left = || (0..ops.len()).filter(|op| ops[*op].must() && !done.contains(op));
    let wall = left().filter_map(|op| ops[op].complete).min();
    let mut next: Vec<usize> = left().filter(|&op| Some(ops[op].invoke) < wall).collect();
    next.sort_unstable_by_key(|&op| ops[op].complete);
    next
}

/// The way of a search to where most of what must be done was done.
#[derive(Debug, Default)]
pub struct FarthestPath {
    /// How many of the operations that must be done are on it.
    done: usize,
    /// What was taken out of the list, with whether it was done.
    taken: Vec<(usize, bool)>,
    /// How much of it is still on the way that the search is on.
    shared: usize,
}

impl FarthestPath {
    /// The way that the search is on, which goes on with these after so many, if it is the farthest.
    pub fn extend(&mut self, done: usize, after: impl FnOnce(usize) -> Vec<(usize, bool)>) {
        if done > self.done {
            self.done = done;
            self.taken.truncate(self.shared);
            self.taken.extend(after(self.shared));
            self.shared = self.taken.len();
        }
    }

    /// The search went back to its first so many.
    pub fn back_to(&mut self, length: usize) {
        self.shared = self.shared.min(length);
    }

    /// What was done, in order.
    pub fn order(&self) -> Vec<usize> {
        self.taken.iter().filter(|(_, done)| *done).map(|&(op, _)| op).collect()
    }
}
