//! Registers whose values do not determine their order: depth-first search and sweeps over configurations take turns,
//! each time with more steps. The former finds the order of most histories at once; the latter finds out sooner that
//! there is none.

use crate::model::Op;
use crate::models::register::accesses::FirstValue;
use crate::models::register::operation::RegisterOp;
use crate::models::register::sweep::sweep;
use crate::search::{Budget, Limit, SearchDecision, SearchOutcome, within};
use std::hash::Hash;

/// Decides a history by whatever is done first; `search` is the depth-first search of it.
pub fn decide<V: Eq + Hash>(
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
