//! What of a history proves that it has no order, and which operations of a proof can be left out.

use crate::call::Reading;
use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, Witness};
use crate::search::{Budget, Limit, SearchDecision, SearchOutcome, search, within};
use std::collections::HashSet;

/// What of a history proves that it has no order. Operations are places in a reading.
#[derive(Debug)]
pub struct Proof {
    /// The operation that cannot have its answer.
    pub stuck: usize,
    /// What proves it, `stuck` among it.
    pub witness: Witness,
    /// What is broken, if that is known more closely than that no order fits.
    pub claim: Option<&'static BrokenClaim>,
    /// How many operations that were answered before it fit together; `None` if that is not known.
    pub fits: Option<usize>,
}

/// Bytes that judging an operation without a search takes, estimated.
pub const OPERATION_BYTES: usize = 512;

/// What proves that the operations have no order; `None` if they have one.
///
/// # Errors
/// What ran out before that was known.
pub fn prove<M: Model>(
    model: &M,
    reading: &Reading<'_, M::Input>,
    budget: &mut Budget<'_>,
) -> Result<Option<Proof>, Limit> {
    let ops = &reading.ops;
    if ops.len() * OPERATION_BYTES > budget.bytes {
        return Err(Limit::Memory);
    }
    let all = budget.steps;
    let (mut plain, mut fits) = (model.contradiction(ops), None);
    if plain.is_none() {
        match model.near(ops) {
            NearLinearDecision::Linearizable => return Ok(None),
            NearLinearDecision::Not(found) => plain = Some(found),
            NearLinearDecision::Undecided => {}
        }
    }
    if let Some(found) = plain {
        let (found, known) = first(model, ops, found);
        let before = |op: &&Op<M::Input>| op.complete < ops[found.stuck].complete && op.must();
        fits = known.then(|| ops.iter().filter(before).count());
        plain = Some(found);
    }
    let stuck = match &plain {
        Some(plain) => plain.stuck,
        None => match model.explore(ops, budget) {
            SearchDecision::Linearizable => return Ok(None),
            SearchDecision::Not { stuck } => stuck,
            SearchDecision::GaveUp(limit) => return Err(limit),
        },
    };
    // What explains it is worth some multiple of the search, but not all of the budget.
    let worth = 20 * (all - budget.steps) + 20 * ops.len() as u64 + 1_000_000;
    let kept = budget.steps.saturating_sub(worth);
    budget.steps -= kept;
    let searched = || share(ops.len(), budget, |budget| prefix(model, ops, stuck, budget)).map(|order| order.len());
    fits = fits.or_else(searched);
    let claim = plain.as_ref().and_then(|plain| plain.claim);
    let witness = match plain {
        Some(plain) if plain.witness.least => plain.witness,
        Some(plain) => reduce(model, ops, stuck, &plain.witness.ops, budget),
        None => shrink(model, ops, stuck, budget),
    };
    let (stuck, witness) = with_revealing(model, reading, stuck, witness, budget);
    budget.steps += kept;
    Ok(Some(Proof {
        stuck,
        witness,
        claim,
        fits,
    }))
}

/// A witness with the later operations that reveal what those in it were, where it proves nothing without them; and
/// which of them cannot have its answer. What else there is does not matter to it: nothing but such an operation ends
/// what one in it began.
fn with_revealing<M: Model>(
    model: &M,
    reading: &Reading<'_, M::Input>,
    stuck: usize,
    witness: Witness,
    budget: &mut Budget<'_>,
) -> (usize, Witness) {
    let (mut ops, mut least) = (witness.ops.clone(), witness.least);
    let revealing = |op: &usize| Some(reading.revealed_by.get(op)?.0);
    let revealing = witness.ops.iter().filter_map(revealing);
    let revealing: Vec<usize> = revealing.filter(|op| !witness.ops.contains(op)).collect();
    ops.extend(&revealing);
    for left_out in revealing {
        let less: Vec<usize> = ops.iter().copied().filter(|&op| op != left_out).collect();
        let input = |op: usize| match reading.revealed_by.get(&op) {
            Some((revealing, unrevealed)) if !less.contains(revealing) => unrevealed.clone(),
            _ => reading.ops[op].input.clone(),
        };
        let known: Vec<Op<M::Input>> = less.iter().map(|&op| reading.ops[op].with_input(input(op))).collect();
        match proves(model, &known, budget) {
            Some(true) => ops = less,
            Some(false) => {}
            None => least = false,
        }
    }
    // Where what is stuck was found by more than there is, it need not be in its proof.
    let end = |&op: &usize| reading.ops[op].complete;
    let stuck = match witness.ops.contains(&stuck) {
        true => stuck,
        false => witness.ops.iter().copied().max_by_key(end).unwrap_or(stuck),
    };
    ops.sort_unstable();
    ops.dedup();
    (stuck, Witness { ops, least })
}

/// The contradiction that ends first, of all that are found without a search in what was recorded before the one found
/// last; with it whether what was recorded before it is known to fit.
fn first<M: Model>(model: &M, ops: &[Op<M::Input>], mut found: Contradiction) -> (Contradiction, bool) {
    loop {
        let Some(end) = ops[found.stuck].complete else {
            return (found, false);
        };
        let (kept, known) = before(ops, end);
        match model.near(&known) {
            NearLinearDecision::Not(earlier) => {
                found = Contradiction {
                    stuck: kept[earlier.stuck],
                    witness: Witness {
                        ops: earlier.witness.ops.iter().map(|&op| kept[op]).collect(),
                        ..earlier.witness
                    },
                    claim: earlier.claim,
                };
            }
            other => return (found, other == NearLinearDecision::Linearizable),
        }
    }
}

/// The operations as they were known before a position, and which ones of `ops` they are.
fn before<I: Clone>(ops: &[Op<I>], end: usize) -> (Vec<usize>, Vec<Op<I>>) {
    let known = ops.iter().enumerate().filter(|(_, op)| op.invoke < end);
    let cut = |(place, op): (usize, &Op<I>)| match op.complete {
        Some(complete) if complete < end => (place, op.clone()),
        _ => (place, Op::unknown(op.input.clone(), op.invoke)),
    };
    known.map(cut).unzip()
}

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
fn proves<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> Option<bool> {
    match share(ops.len(), budget, |budget| model.decide(ops, budget)) {
        SearchDecision::Not { .. } => Some(true),
        SearchDecision::Linearizable => Some(false),
        SearchDecision::GaveUp(_) => None,
    }
}

/// Does with a share of what steps are left what may use them all, so that something is left for what comes after. What
/// it costs to begin a search is a step for each of `size` operations.
fn share<T>(size: usize, budget: &mut Budget<'_>, work: impl FnOnce(&mut Budget<'_>) -> T) -> T {
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
