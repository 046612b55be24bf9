//! The longest order: it is one, and there is none longer, by all orders of small random histories.

use super::drawn::{access, history};
use super::{brute, histories, with_budget};
use fastrand::Rng;
use std::fmt::Debug;
use zooquake_linearizability::models::mutex::{Mutex, MutexOp};
use zooquake_linearizability::models::queue::{Fifo, QueueOp};
use zooquake_linearizability::models::register::{Register, RegisterOp, UnsetRegister};
use zooquake_linearizability::{Budget, Limit, LongestOrder, Model, Op, OrderEnd, longest_order};

#[test]
fn of_registers() {
    compare(&Register { initial: 0 }, |rng| access(rng, 3), 1);
    compare(&UnsetRegister::default(), |rng| access(rng, 4), 2);
}

#[test]
fn of_mutexes_and_queues() {
    compare(&Mutex, |rng| [MutexOp::Acquire, MutexOp::Release][rng.usize(0..2)], 3);
    let draw = |rng: &mut Rng| match rng.u8(0..6) {
        0..3 => QueueOp::Enqueue(rng.u32(0..2)),
        3..5 => QueueOp::Dequeue(rng.u32(0..2)),
        _ => QueueOp::Empty,
    };
    compare(&Fifo, draw, 4);
}

fn compare<M: Model<Input: Debug, State: Debug>>(model: &M, draw: impl Fn(&mut Rng) -> M::Input, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let (mut whole, mut part) = (0, 0);
    for _ in 0..histories() {
        let ops = history(&mut rng, &draw);
        let found = with_budget(|budget| longest_order(model, &ops, budget));
        replay(model, &ops, &found);
        let all = ops.iter().filter(|op| certain(op)).count();
        let most = most(model, &ops, &mut Vec::new(), &model.initial());
        assert_eq!(counted(&ops, &found.order), most, "{ops:?} {found:?}");
        assert_eq!(found.end == OrderEnd::Whole, most == all, "{ops:?} {found:?}");
        let next = next(&ops, &found.order).into_iter().filter(|&op| certain(&ops[op]));
        let mut refused = found.refused.clone();
        refused.sort_unstable();
        assert_eq!(refused, next.collect::<Vec<_>>(), "{ops:?} {found:?}");
        match found.end {
            OrderEnd::Whole => whole += 1,
            OrderEnd::Longest => part += 1,
            OrderEnd::GaveUp(limit) => panic!("{limit} ran out: {ops:?}"),
        }
        cut_off(model, &ops, rng.u64(0..20));
    }
    assert!(whole > 0 && part > 0, "{whole} {part}");
}

/// What is reached within few steps is an order too, and the same each time.
fn cut_off<M: Model<Input: Debug, State: Debug>>(model: &M, ops: &[Op<M::Input>], steps: u64) {
    let reached = || {
        longest_order(
            model,
            ops,
            &mut Budget {
                steps,
                bytes: 1 << 20,
                expired: &mut || false,
            },
        )
    };
    let found = reached();
    replay(model, ops, &found);
    assert!(found == reached(), "{ops:?}");
}

/// The order fits the intervals and the model, in the states that it names.
fn replay<M: Model<Input: Debug, State: Debug>>(model: &M, ops: &[Op<M::Input>], found: &LongestOrder<M::State>) {
    assert!(brute::fits(model, ops, &found.order), "{ops:?} {found:?}");
    for (at, &op) in found.order.iter().enumerate() {
        assert!(next(ops, &found.order[..at]).contains(&op), "{ops:?} {found:?}");
    }
    assert!(
        found.order.last().is_none_or(|&op| certain(&ops[op])),
        "{ops:?} {found:?}"
    );
    let mut state = model.initial();
    assert_eq!(found.order.len(), found.states.len(), "{ops:?} {found:?}");
    for (&op, after) in found.order.iter().zip(&found.states) {
        state = model.step(&state, &ops[op].input).expect("a state");
        assert!(state == *after, "{ops:?} {found:?}");
    }
}

fn certain<I>(op: &Op<I>) -> bool {
    op.required && op.complete.is_some()
}

fn counted<I>(ops: &[Op<I>], order: &[usize]) -> usize {
    order.iter().filter(|&&op| certain(&ops[op])).count()
}

/// What may follow a beginning of an order by its interval, ascending.
fn next<I>(ops: &[Op<I>], order: &[usize]) -> Vec<usize> {
    let before = |a: usize, b: usize| ops[a].complete.is_some_and(|end| end < ops[b].invoke);
    let left: Vec<usize> = (0..ops.len()).filter(|op| !order.contains(op)).collect();
    let in_time = |&op: &usize| {
        let passed = left.iter().any(|&other| certain(&ops[other]) && before(other, op));
        !passed && !order.iter().any(|&earlier| before(op, earlier))
    };
    left.iter().copied().filter(in_time).collect()
}

/// The most operations that certainly took effect, of all orders that begin with this one.
fn most<M: Model>(model: &M, ops: &[Op<M::Input>], order: &mut Vec<usize>, state: &M::State) -> usize {
    let mut best = counted(ops, order);
    for op in next(ops, order) {
        if let Some(after) = model.step(state, &ops[op].input) {
            order.push(op);
            best = best.max(most(model, ops, order, &after));
            order.pop();
        }
    }
    best
}

#[test]
fn what_cannot_be_next_is_named_with_the_state() {
    use RegisterOp::{Read, Write};
    let ops = [
        Op::done(Write(1), 0, 1),
        Op::done(Read(1), 2, 3),
        Op::unknown(Write(2), 4),
        Op::done(Read(3), 5, 6),
        Op::done(Read(1), 7, 8),
    ];
    let found = with_budget(|budget| longest_order(&Register { initial: 0 }, &ops, budget));
    let expected = LongestOrder {
        order: vec![0, 1],
        states: vec![1, 1],
        refused: vec![3],
        end: OrderEnd::Longest,
    };
    assert_eq!(found, expected);
}

#[test]
fn what_runs_out_is_named() {
    let ops = [Op::done(MutexOp::Acquire, 0, 1)];
    let limited = |steps, bytes| {
        let mut budget = Budget {
            steps,
            bytes,
            expired: &mut || false,
        };
        longest_order(&Mutex, &ops, &mut budget)
    };
    assert_eq!(limited(0, 1 << 20).end, OrderEnd::GaveUp(Limit::Steps));
    assert_eq!(limited(9, 1).end, OrderEnd::GaveUp(Limit::Memory));
    assert_eq!(limited(9, 1 << 20).order, [0]);
}

#[test]
fn a_long_history_costs_a_step_for_each_operation_and_keeps_its_way() {
    // Each write is read; the last read finds what was overwritten.
    let mut ops = Vec::new();
    for value in 0..20_000_u32 {
        let at = 4 * value as usize;
        ops.push(Op::done(RegisterOp::Write(value), at, at + 1));
        ops.push(Op::done(RegisterOp::Read(value), at + 2, at + 3));
    }
    ops.push(Op::done(RegisterOp::Read(7), 90_000, 90_001));
    let found = with_budget(|budget| longest_order(&Register { initial: 0 }, &ops, budget));
    assert_eq!((found.order.len(), found.end), (40_000, OrderEnd::Longest));
    assert_eq!((found.refused, found.states.last()), (vec![40_000], Some(&19_999)));
}
