//! Random small histories: the search agrees with the definition, and its witnesses are what they claim to be.

use super::brute::fits_some;
use super::decided::DecisionCounts;
use super::drawn::{access, history};
use super::{brute, histories, search, with_budget};
use fastrand::Rng;
use zooquake_linearizability::models::mutex::{LeaseMutex, LeaseOp, Mutex, MutexOp};
use zooquake_linearizability::models::register::{Register, RegisterOp, UnsetRegister};
use zooquake_linearizability::{Model, Op, SearchOutcome, prefix, shrink};

#[test]
fn registers() {
    let draw = |rng: &mut Rng| {
        let mut value = || rng.u8(0..3);
        let (a, b) = (value(), value());
        match rng.u8(0..8) {
            0..3 => RegisterOp::Read(a),
            3..5 => RegisterOp::Write(a),
            5..7 => RegisterOp::Cas(a, b),
            _ => RegisterOp::Mismatch(a),
        }
    };
    agree(&Register { initial: 0 }, draw, 1);
}

#[test]
fn registers_that_began_with_an_unknown_value() {
    let unset = UnsetRegister::default();
    agree(&unset, |rng| access(rng, 4), 4);
    agree(&unset, |rng| tried(rng, 4), 6);
    // By the definition of an unknown value: some value fits with which it may have begun.
    let mut rng = Rng::with_seed(5);
    for number in 0..histories() {
        let draw = if number % 2 == 0 { access } else { tried };
        let ops = history(&mut rng, &|rng: &mut Rng| draw(rng, 4));
        let fits = matches!(search(&unset, &ops), SearchOutcome::Linearizable { .. });
        assert_eq!(fits, fits_some(&ops), "{ops:?}");
    }
}

/// The same, or a compare-and-set that failed.
pub fn tried(rng: &mut Rng, values: u8) -> RegisterOp<u8> {
    match rng.u8(0..3) {
        0 => RegisterOp::Mismatch(rng.u8(0..values)),
        _ => access(rng, values),
    }
}

#[test]
fn mutexes() {
    let draw = |rng: &mut Rng| if rng.bool() { MutexOp::Acquire } else { MutexOp::Release };
    agree(&Mutex, draw, 2);
}

#[test]
fn lease_mutexes() {
    let draw = |rng: &mut Rng| match rng.u8(0..5) {
        0..2 => LeaseOp::Grant(rng.usize(0..3)),
        2..4 => LeaseOp::Release(rng.usize(0..3)),
        _ => LeaseOp::Glimpse,
    };
    agree(&LeaseMutex, draw, 3);
}

/// Holds the search against the brute force; both answers must occur often enough to mean something.
fn agree<M: Model<Input: std::fmt::Debug>>(model: &M, draw: impl Fn(&mut Rng) -> M::Input, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut counts = DecisionCounts::default();
    for _ in 0..histories() {
        let ops = history(&mut rng, &draw);
        match search(model, &ops) {
            SearchOutcome::Linearizable { order } => {
                counts.good += 1;
                assert!(brute::fits(model, &ops, &order), "{order:?} does not fit {ops:?}");
                let mut required = (0..ops.len()).filter(|&op| ops[op].required);
                let all = required.all(|op| order.contains(&op));
                assert!(all, "{order:?} lacks operations of {ops:?}");
            }
            SearchOutcome::Not { stuck } => {
                counts.bad += 1;
                assert!(!brute::linearizable(model, &ops), "an order fits {ops:?}");
                if counts.bad.is_multiple_of(10) {
                    explained(model, &ops, stuck);
                }
            }
            SearchOutcome::GaveUp(limit) => panic!("{limit} ran out on {ops:?}"),
        }
    }
    counts.balanced();
}

/// Asserts by the definition that a search is stuck at the right operation, that its longest order fits, and that its
/// shrunk witness proves the contradiction.
fn explained<M: Model<Input: std::fmt::Debug>>(model: &M, ops: &[Op<M::Input>], stuck: usize) {
    let end = ops[stuck].complete.expect("an operation is stuck at its completion");
    let before = known(ops, |position| position < end);
    assert!(brute::linearizable(model, &before), "{stuck} is late in {ops:?}");
    assert!(!brute::linearizable(model, &known(ops, |position| position <= end)));
    let order = with_budget(|budget| prefix(model, ops, stuck, budget)).expect("the budget suffices");
    assert!(brute::fits(model, ops, &order), "{order:?} does not fit {ops:?}");
    let all = |op: &usize| ops[*op].required && ops[*op].complete.is_some_and(|complete| complete < end);
    assert!((0..ops.len()).filter(all).all(|op| order.contains(&op)));

    let shrunk = with_budget(|budget| shrink(model, ops, stuck, budget));
    assert!(shrunk.least, "the budget suffices");
    proven(model, ops, stuck, &shrunk.ops);
}

/// A witness proves what it should, and nothing of it can be left out.
pub fn proven<M: Model<Input: std::fmt::Debug>>(model: &M, ops: &[Op<M::Input>], stuck: usize, witness: &[usize]) {
    assert!(witness.contains(&stuck), "{witness:?} lacks {stuck} of {ops:?}");
    minimal(model, ops, stuck, witness);
}

/// The same of a witness that need not hold what is stuck.
pub fn minimal<M: Model<Input: std::fmt::Debug>>(model: &M, ops: &[Op<M::Input>], stuck: usize, witness: &[usize]) {
    let end = ops[stuck].complete.expect("an operation is stuck at its completion");
    let with = |needed: &[usize]| {
        let mut ops = ops.to_vec();
        for (place, op) in ops.iter_mut().enumerate() {
            op.required &= needed.contains(&place);
        }
        known(&ops, |position| position <= end)
    };
    assert!(!brute::linearizable(model, &with(witness)), "{witness:?} of {ops:?}");
    for left_out in witness {
        let rest: Vec<usize> = witness.iter().copied().filter(|op| op != left_out).collect();
        let fits = brute::linearizable(model, &with(&rest));
        assert!(fits, "{left_out} of {witness:?}, {ops:?}");
    }
}

/// The operations as they were known when this much of the history was recorded.
fn known<I: Clone>(ops: &[Op<I>], recorded: impl Fn(usize) -> bool) -> Vec<Op<I>> {
    let cut = ops.iter().filter(|op| recorded(op.invoke)).map(|op| match op.complete {
        Some(complete) if recorded(complete) => op.clone(),
        _ => Op::unknown(op.input.clone(), op.invoke),
    });
    cut.collect()
}
