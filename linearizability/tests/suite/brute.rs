//! Linearizability by its definition: try every order of every choice of operations.

use zooquake_linearizability::models::register::{Register, RegisterOp};
use zooquake_linearizability::{Model, Op};

/// Whether any order fits.
pub fn linearizable<M: Model>(model: &M, ops: &[Op<M::Input>]) -> bool {
    let optional: Vec<usize> = (0..ops.len()).filter(|&op| !ops[op].required).collect();
    (0..1usize << optional.len()).any(|choice| {
        let left_out = |op: &usize| {
            let bit = optional.iter().position(|other| other == op);
            bit.is_some_and(|bit| choice >> bit & 1 == 0)
        };
        let mut chosen: Vec<usize> = (0..ops.len()).filter(|op| !left_out(op)).collect();
        some_permutation(&mut chosen, 0, &|order| fits(model, ops, order))
    })
}

/// Whether an order respects the intervals and the model.
pub fn fits<M: Model>(model: &M, ops: &[Op<M::Input>], order: &[usize]) -> bool {
    let before = |a: usize, b: usize| ops[a].complete.is_some_and(|complete| complete < ops[b].invoke);
    let in_time = |(at, &op): (usize, &usize)| order[at + 1..].iter().all(|&later| !before(later, op));
    let step = |state, &op: &usize| model.step(&state, &ops[op].input);
    order.iter().enumerate().all(in_time) && order.iter().try_fold(model.initial(), step).is_some()
}

fn some_permutation(items: &mut [usize], from: usize, good: &impl Fn(&[usize]) -> bool) -> bool {
    if from == items.len() {
        return good(items);
    }
    (from..items.len()).any(|other| {
        items.swap(from, other);
        let found = some_permutation(items, from + 1, good);
        items.swap(from, other);
        found
    })
}

/// Whether some first value fits that none of these operations has, or one of these that they have.
pub fn fits_some(ops: &[Op<RegisterOp<u8>>]) -> bool {
    [0, 1, 2, 3, 9]
        .into_iter()
        .any(|initial| linearizable(&Register { initial }, ops))
}
