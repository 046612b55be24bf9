//! What of a history proves that it is not linearizable.

use super::{Budget, Model, Op, Outcome, search};

/// The operations recorded before the completion of `stuck`, in an order that fits; `None` if the budget runs out.
///
/// Whatever was in flight then, `stuck` itself among it, may have taken effect or not.
pub fn prefix<M: Model>(model: &M, ops: &[Op<M::Input>], stuck: usize, budget: &mut Budget<'_>) -> Option<Vec<usize>>
where
    M::Input: Clone,
{
    let before = ops[stuck].complete?;
    let (kept, known) = cut(ops, |position| position < before);
    match search(model, &known, budget) {
        Outcome::Linearizable { order } => Some(order.into_iter().map(|op| kept[op]).collect()),
        Outcome::Not { .. } | Outcome::GaveUp(_) => None,
    }
}

/// Operations that prove that the history is not linearizable, `stuck` among them: it is not, even if of every other
/// operation nobody knew whether it took effect between its invocation and its completion.
///
/// None of them can be left out, unless the budget ran out; then there are more than needed.
pub fn shrink<M: Model>(model: &M, ops: &[Op<M::Input>], stuck: usize, budget: &mut Budget<'_>) -> Vec<usize>
where
    M::Input: Clone,
{
    let end = ops[stuck].complete.unwrap_or(usize::MAX);
    let (kept, mut known) = cut(ops, |position| position <= end);
    let mut needed: Vec<usize> = (0..known.len()).filter(|&op| known[op].must()).collect();
    let mut size = needed.len().div_ceil(2);
    loop {
        let mut from = 0;
        let mut fewer = false;
        while from < needed.len() {
            let chunk = from..(from + size).min(needed.len());
            needed[chunk.clone()].iter().for_each(|&op| known[op].required = false);
            match search(model, &known, budget) {
                Outcome::Not { .. } => {
                    needed.drain(chunk);
                    fewer = true;
                }
                Outcome::Linearizable { .. } => {
                    needed[chunk.clone()].iter().for_each(|&op| known[op].required = true);
                    from = chunk.end;
                }
                Outcome::GaveUp(_) => return needed.into_iter().map(|op| kept[op]).collect(),
            }
        }
        // One by one until nothing changes: that one cannot be left out is known only for the others as they are.
        if size <= 1 && !fewer {
            return needed.into_iter().map(|op| kept[op]).collect();
        }
        size = size.div_ceil(2);
    }
}

/// The operations as they were known at some moment, and which ones of `ops` they are.
fn cut<I: Clone>(ops: &[Op<I>], known: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<Op<I>>) {
    let kept: Vec<usize> = (0..ops.len()).filter(|&op| known(ops[op].invoke)).collect();
    let cut = |&op: &usize| {
        let complete = ops[op].complete.filter(|&position| known(position));
        Op {
            complete,
            required: ops[op].required && complete.is_some(),
            ..ops[op].clone()
        }
    };
    let cut = kept.iter().map(cut).collect();
    (kept, cut)
}
