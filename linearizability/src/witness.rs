//! What of a history proves that it is not linearizable.

use crate::budget::within;
use crate::{Budget, Limit, Model, Op, SearchDecision, SearchOutcome, search};
use std::collections::HashSet;

/// The operations recorded before the completion of `stuck`, in an order that fits; `None` if the budget runs out.
///
/// Whatever was in flight then, `stuck` itself among it, may have taken effect or not.
pub fn prefix<M: Model>(model: &M, ops: &[Op<M::Input>], stuck: usize, budget: &mut Budget<'_>) -> Option<Vec<usize>> {
    let before = ops[stuck].complete?;
    let (kept, known) = cut(ops, |position| position < before);
    match search(model, &known, budget) {
        SearchOutcome::Linearizable { order } => Some(order.into_iter().map(|op| kept[op]).collect()),
        SearchOutcome::Not { .. } | SearchOutcome::GaveUp(_) => None,
    }
}

/// Operations that prove that a history is not linearizable: it is not, even if of every other operation nobody knew
/// whether it took effect between its invocation and its completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The operations, by their place in the list given, ascending.
    pub ops: Vec<usize>,
    /// Whether none of them can be left out. `false`: the budget ran out before that was known.
    pub least: bool,
}

/// A witness, `stuck` among it, of a history that no order gets past the completion of `stuck`.
pub fn shrink<M: Model>(model: &M, ops: &[Op<M::Input>], stuck: usize, budget: &mut Budget<'_>) -> Witness {
    let end = ops[stuck].complete.unwrap_or(usize::MAX);
    let all = || (0..ops.len()).filter(|&op| ops[op].must() && ops[op].complete <= Some(end));
    let witness = near(model, ops, end, budget).unwrap_or_else(|| all().collect());
    reduce(model, ops, stuck, &witness, budget)
}

/// What is needed of a witness that ends with the completion of `stuck`.
pub fn reduce<M: Model>(
    model: &M,
    ops: &[Op<M::Input>],
    stuck: usize,
    witness: &[usize],
    budget: &mut Budget<'_>,
) -> Witness {
    let end = ops[stuck].complete.unwrap_or(usize::MAX);
    let (mut kept, mut known) = cut(ops, |position| position <= end);
    let witness: HashSet<&usize> = witness.iter().collect();
    for (op, place) in known.iter_mut().zip(&kept) {
        op.required = op.must() && witness.contains(place);
    }
    // What does not matter to all of these does not matter to some of them.
    if let Some(relevant) = model.relevant(&known) {
        known = relevant.iter().map(|&op| known[op].clone()).collect();
        kept = relevant.into_iter().map(|op| kept[op]).collect();
    }
    let mut decide = |ops: &[Op<M::Input>], budget: &mut Budget<'_>| model.decide(ops, budget);
    let (needed, least) = needed(&mut decide, &mut known, budget);
    Witness {
        ops: needed.into_iter().map(|op| kept[op]).collect(),
        least,
    }
}

/// A witness among the last operations that were invoked by `end`: twice as many each time, until no order fits them
/// from whatever state they begin in. `None` if it takes more than half of all, or the budget runs out.
///
/// What was invoked before them may have left any state. What of it was still in flight may take effect among them or
/// not, and the rest is left out: of an order of all operations, what comes after the last one that had ended before
/// the first of these was invoked is an order of these.
fn near<M: Model>(model: &M, ops: &[Op<M::Input>], end: usize, budget: &mut Budget<'_>) -> Option<Vec<usize>> {
    // What is not decided soon is not worth it: the next ones may be. In steps, for each operation and for all.
    const EACH: u64 = 200;
    const LEAST: u64 = 100_000;
    let (kept, known) = cut(ops, |position| position <= end);
    let mut invokes: Vec<usize> = known.iter().map(|op| op.invoke).collect();
    invokes.sort_unstable();
    let mut decide = |ops: &[Op<M::Input>], budget: &mut Budget<'_>| model.decide_anywhere(ops, budget);
    let mut size = 2;
    while size <= known.len() / 2 {
        let from = invokes[known.len() - size];
        let places: Vec<usize> = (0..known.len())
            .filter(|&op| known[op].complete.is_none_or(|complete| complete > from))
            .collect();
        let late = |&op: &usize| Op {
            required: known[op].must() && known[op].invoke >= from,
            ..known[op].clone()
        };
        let mut last: Vec<Op<M::Input>> = places.iter().map(late).collect();
        let soon = EACH * last.len() as u64 + LEAST;
        let decision = share(last.len(), budget, |budget| {
            within(budget, soon, |budget| decide(&last, budget))
        });
        if let SearchDecision::Not { .. } = decision {
            let (needed, _) = needed(&mut decide, &mut last, budget);
            return Some(needed.into_iter().map(|op| kept[places[op]]).collect());
        }
        if (budget.expired)() {
            return None;
        }
        size *= 2;
    }
    None
}

/// Which of the required operations, of which no order fits, have to be required, and whether it is known that none of
/// these can be left out; `ops` requires only these then.
fn needed<I>(
    decide: &mut dyn FnMut(&[Op<I>], &mut Budget<'_>) -> SearchDecision,
    ops: &mut [Op<I>],
    budget: &mut Budget<'_>,
) -> (Vec<usize>, bool) {
    let mut needed: Vec<usize> = (0..ops.len()).filter(|&op| ops[op].must()).collect();
    let mut size = needed.len().div_ceil(2);
    loop {
        let mut from = 0;
        let (mut fewer, mut sure) = (false, true);
        while from < needed.len() {
            if (budget.expired)() {
                return (needed, false);
            }
            let chunk = from..(from + size).min(needed.len());
            needed[chunk.clone()].iter().for_each(|&op| ops[op].required = false);
            match share(ops.len(), budget, |budget| decide(ops, budget)) {
                SearchDecision::Not { .. } => {
                    needed.drain(chunk);
                    fewer = true;
                    continue;
                }
                SearchDecision::GaveUp(limit) if limit == Limit::Time || budget.steps == 0 => return (needed, false),
                SearchDecision::GaveUp(_) => sure = false,
                SearchDecision::Linearizable => {}
            }
            needed[chunk.clone()].iter().for_each(|&op| ops[op].required = true);
            from = chunk.end;
        }
        // What cannot be left out of many cannot be left out of some of them. Only what was not decided may be decided
        // with fewer.
        if size <= 1 && (sure || !fewer) {
            return (needed, sure);
        }
        size = size.div_ceil(2);
    }
}

/// Whether some operations alone contradict each other; `None` if the budget runs out.
pub fn proves<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> Option<bool> {
    match share(ops.len(), budget, |budget| model.decide(ops, budget)) {
        SearchDecision::Not { .. } => Some(true),
        SearchDecision::Linearizable => Some(false),
        SearchDecision::GaveUp(_) => None,
    }
}

/// Does with a share of what steps are left what may use them all, so that something is left for what comes after. What
/// it costs to begin a search is a step for each of `size` operations.
pub fn share<T>(size: usize, budget: &mut Budget<'_>, work: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    const SHARES: u64 = 16;
    budget.steps = budget.steps.saturating_sub(size as u64);
    let given = budget.steps.div_ceil(SHARES);
    let kept = budget.steps - given;
    budget.steps = given;
    let done = work(budget);
    budget.steps += kept;
    done
}

/// The operations as they were known at some moment, and which ones of `ops` they are. Those in flight then need not
/// have happened; they keep their ends, after which nothing has to.
fn cut<I: Clone>(ops: &[Op<I>], known: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<Op<I>>) {
    let kept: Vec<usize> = (0..ops.len()).filter(|&op| known(ops[op].invoke)).collect();
    let cut = |&op: &usize| Op {
        required: ops[op].required && ops[op].complete.is_some_and(&known),
        ..ops[op].clone()
    };
    let cut = kept.iter().map(cut).collect();
    (kept, cut)
}
