//! What proves that a history has no order.

use crate::near_linear;
use crate::reading::Reading;
use crate::witness::{Witness, proves, share};
use crate::{BrokenClaim, Budget, Limit, Model, NearLinearDecision, Op, SearchDecision, prefix, reduce, shrink};

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
pub const EACH: usize = 512;

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
    if ops.len() * EACH > budget.bytes {
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
        let (found, known) = near_linear::first(model, ops, found);
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
