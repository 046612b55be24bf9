//! A mutex with known holders, without a search: in time O(n log n), by a sweep over what is certain.
//!
//! A hold whose grant and release were answered lasted at least from the answer to the grant until the release was
//! sent; it need not have lasted longer. So an order exists exactly if these stretches are disjoint, and no other grant
//! was asked for and answered within one: between two stretches there is always a moment at which nobody need have
//! held.

use crate::model::{NearLinearDecision, Op, any_optional, contradiction};
use crate::models::mutex::HELD_TWICE;
use crate::models::mutex::lease::LeaseOp;
use std::collections::HashMap;

/// A stretch in which somebody certainly held, by positions.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    grant: usize,
}

/// Judges the holds of a mutex, if each grant of one has its only release, and all of them were answered.
pub fn judge(ops: &[Op<LeaseOp>]) -> NearLinearDecision {
    let Some(stretches) = stretches(ops) else {
        return NearLinearDecision::Undecided;
    };
    // Of two that overlap some two overlap that begin next to each other.
    if let Some(pair) = stretches.windows(2).find(|pair| pair[1].from < pair[0].to) {
        return held_twice(ops, pair[0].grant, pair[1].grant);
    }
    let held = |op: usize| {
        let before = stretches.partition_point(|stretch| Some(stretch.from) < ops[op].complete);
        let held = stretches[..before].last()?;
        let within = held.from < ops[op].invoke && ops[op].complete < Some(held.to);
        within.then_some(held.grant)
    };
    let mut glimpses: Vec<usize> = (0..ops.len())
        .filter(|&op| ops[op].input == LeaseOp::Glimpse && ops[op].must())
        .collect();
    glimpses.sort_unstable_by_key(|&op| ops[op].complete);
    match glimpses.into_iter().find_map(|op| Some((held(op)?, op))) {
        Some((grant, op)) => held_twice(ops, grant, op),
        None => NearLinearDecision::Linearizable,
    }
}

/// The stretches of all answered grants, by their beginnings; `None` if something else than unanswered ends is missing.
fn stretches(ops: &[Op<LeaseOp>]) -> Option<Vec<Stretch>> {
    if any_optional(ops) {
        return None;
    }
    let mut holds: HashMap<usize, [Option<usize>; 2]> = HashMap::new();
    for (place, op) in ops.iter().enumerate() {
        let (hold, side) = match op.input {
            LeaseOp::Grant(hold) => (hold, 0),
            LeaseOp::Release(hold) => (hold, 1),
            LeaseOp::Glimpse => continue,
        };
        if holds.entry(hold).or_default()[side].replace(place).is_some() {
            return None;
        }
    }
    let mut all = Vec::new();
    for [grant, release] in holds.into_values() {
        let answered = |op: Option<usize>| op.and_then(|op| ops[op].complete);
        let (Some(grant), Some(from)) = (grant, answered(grant)) else {
            // A grant of unknown outcome is left out, unless a release of it was answered.
            if answered(release).is_some() {
                return None;
            }
            continue;
        };
        let to = release.map_or(usize::MAX, |release| ops[release].invoke);
        if to < from {
            return None;
        }
        all.push(Stretch { from, to, grant });
    }
    all.sort_unstable_by_key(|stretch| stretch.from);
    Some(all)
}

/// Of two holds the grants suffice: either release was sent after the later of them was answered.
fn held_twice(ops: &[Op<LeaseOp>], grant: usize, other: usize) -> NearLinearDecision {
    NearLinearDecision::Not(contradiction(ops, vec![grant, other], &HELD_TWICE))
}
