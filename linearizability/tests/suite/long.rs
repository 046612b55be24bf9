//! Long histories, many unknown outcomes, and budgets.

use super::{limited, search, with_budget};
use fastrand::Rng;
use zooquake_linearizability::models::mutex::{LeaseMutex, LeaseOp, Mutex, MutexOp};
use zooquake_linearizability::models::register::Register;
use zooquake_linearizability::models::register::RegisterOp::{self, Cas, Read, Write};
use zooquake_linearizability::{Limit, Model, Op, SearchDecision, SearchOutcome, shrink};

/// A register that is used by `clients` at a time; one operation in `unknown` is of unknown outcome.
fn history(size: usize, clients: usize, unknown: usize, seed: u64) -> Vec<Op<RegisterOp<u64>>> {
    let mut rng = Rng::with_seed(seed);
    let mut value = 0;
    let mut ops: Vec<Op<RegisterOp<u64>>> = Vec::new();
    // The operations in flight: they took effect when they were invoked, and end in any order.
    let mut open: Vec<usize> = Vec::new();
    let mut position = 0;
    while ops.len() < size {
        position += 1;
        if open.len() == clients || (!open.is_empty() && rng.bool()) {
            let op = open.swap_remove(rng.usize(0..open.len()));
            ops[op].complete = Some(position);
            continue;
        }
        let to = rng.u64(0..5);
        let input = match rng.u8(0..3) {
            0 => Read(value),
            1 => Write(to),
            _ => Cas(value, to),
        };
        if let Write(to) | Cas(_, to) = input {
            value = to;
        }
        if rng.usize(0..unknown) == 0 {
            ops.push(Op::unknown(input, position));
        } else {
            open.push(ops.len());
            ops.push(Op::done(input, position, usize::MAX));
        }
    }
    for op in open {
        position += 1;
        ops[op].complete = Some(position);
    }
    ops
}

#[test]
fn long_histories_are_searched_without_recursion() {
    let searched = search(&Register { initial: 0 }, &history(100_000, 5, 100, 7));
    assert!(matches!(searched, SearchOutcome::Linearizable { .. }));
}

#[test]
fn a_violation_late_in_a_long_history_is_found() {
    let mut ops = history(10_000, 5, 500, 8);
    let reads = |op: &Op<RegisterOp<u64>>| matches!(op.input, Read(_)) && op.required;
    let at = ops.iter().rposition(reads).unwrap();
    // A value that was never written.
    ops[at].input = Read(9);
    assert_eq!(search(&Register { initial: 0 }, &ops), SearchOutcome::Not { stuck: at });
}

#[test]
fn each_budget_ends_a_search() {
    let register = Register { initial: 0 };
    let ops = history(20_000, 8, 100, 9);
    assert_eq!(limited(&register, &ops, u64::MAX, usize::MAX, false), None);
    assert_eq!(limited(&register, &ops, 1000, usize::MAX, false), Some(Limit::Steps));
    assert_eq!(limited(&register, &ops, u64::MAX, 10_000, false), Some(Limit::Memory));
    assert_eq!(limited(&register, &ops, u64::MAX, usize::MAX, true), Some(Limit::Time));
}

#[test]
fn a_write_that_is_pending_for_long_costs_little_memory() {
    const TIMES: usize = 20_000;
    let mut ops = vec![Op::done(Write(9), 0, 4 * TIMES + 1)];
    for at in 0..TIMES {
        let value = at as u64 % 5;
        ops.push(Op::done(Write(value), 4 * at + 1, 4 * at + 2));
        ops.push(Op::done(Read(value), 4 * at + 3, 4 * at + 4));
    }
    let register = Register { initial: 0 };
    assert_eq!(limited(&register, &ops, u64::MAX, 1 << 25, false), None);
    // Its own lists count, too, and before they are made.
    assert_eq!(limited(&register, &ops, 0, 1 << 20, false), Some(Limit::Memory));
}

/// Holds one after the other, and during one of the last an operation that none allows.
fn held<I>(hold: impl Fn(usize) -> [I; 2], between: I) -> Vec<Op<I>> {
    const HOLDS: usize = 20_000;
    let each = |number: usize| {
        let at = 8 * number;
        let [acquire, release] = hold(number);
        [Op::done(acquire, at, at + 1), Op::done(release, at + 4, at + 5)]
    };
    let mut ops: Vec<Op<I>> = (0..HOLDS).flat_map(each).collect();
    let at = 8 * (HOLDS - 100) + 2;
    ops.push(Op::done(between, at, at + 1));
    ops
}

/// The witness of a history's only violation, by the places of its operations.
fn witness<M: Model>(model: &M, ops: &[Op<M::Input>]) -> Vec<usize> {
    let SearchOutcome::Not { stuck } = search(model, ops) else {
        panic!("no order fits")
    };
    let witness = with_budget(|budget| shrink(model, ops, stuck, budget));
    assert!(witness.least);
    witness.ops
}

#[test]
fn a_double_grant_late_in_a_long_history_has_a_short_witness() {
    let strict = held(|_| [MutexOp::Acquire, MutexOp::Release], MutexOp::Acquire);
    assert_eq!(witness(&Mutex, &strict), [39_800, 40_000]);
    let lease = held(|hold| [LeaseOp::Grant(hold), LeaseOp::Release(hold)], LeaseOp::Glimpse);
    assert_eq!(witness(&LeaseMutex, &lease), [39_800, 40_000]);
}

#[test]
fn a_violation_among_values_that_come_back_has_a_minimal_witness() {
    for seed in 10..14 {
        let mut ops = history(4_000, 10, 100, seed);
        for op in &mut ops {
            op.invoke *= 10;
            op.complete = op.complete.map(|complete| 10 * complete);
        }
        // In the middle a value that is written once is read before and after another one, while its write is in
        // flight.
        let at = ops[2_000].invoke;
        ops.push(Op::done(Write(9), at + 1, at + 8));
        for (read, value) in [9, 4, 9].into_iter().enumerate() {
            ops.push(Op::done(Read(value), at + 2 + 2 * read, at + 3 + 2 * read));
        }
        let register = Register { initial: 0 };
        let SearchDecision::Not { stuck } = with_budget(|budget| register.explore(&ops, budget)) else {
            panic!("no order fits")
        };
        let witness = with_budget(|budget| shrink(&register, &ops, stuck, budget));
        assert!(witness.least && witness.ops.len() <= 3, "{witness:?}");
    }
}
