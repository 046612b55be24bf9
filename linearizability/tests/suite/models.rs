//! Random small histories of each model: what is decided without a search agrees with the definition and with the
//! search.

use super::decided::{DecisionCounts, agree};
use super::drawn::{history, recorded};
use super::{brute, histories, with_budget};
use fastrand::Rng;
use std::rc::Rc;
use zooquake_linearizability::models::barrier::{Barrier, BarrierOp};
use zooquake_linearizability::models::commit::{CommitOp, Transaction};
use zooquake_linearizability::models::counter::{Counter, CounterOp};
use zooquake_linearizability::models::fenced_mutex::{FencedMutex, FencedOp};
use zooquake_linearizability::models::id_generator::{GeneratedId, IdGenerator};
use zooquake_linearizability::models::permits::{PermitOp, Permits};
use zooquake_linearizability::models::queue::bag::{Bag, QueueOp};
use zooquake_linearizability::models::queue::fifo::Fifo;
use zooquake_linearizability::models::set::{GrowSet, SetOp};
use zooquake_linearizability::{Model, Op, SearchDecision};

/// Holds a model against the brute force; both answers must be given often, and at least so many of a hundred without a
/// search.
fn decided<M: Model<Input: std::fmt::Debug>>(
    model: &M,
    seed: u64,
    near: usize,
    mut draw: impl FnMut(&mut Rng) -> Vec<Op<M::Input>>,
) {
    let mut rng = Rng::with_seed(seed);
    let mut counts = DecisionCounts::default();
    for _ in 0..histories() {
        agree(model, &draw(&mut rng), &mut counts);
    }
    let (all, least) = (counts.good + counts.bad, histories() / 100);
    assert!(counts.good > least && counts.bad > least, "{counts:?}");
    assert!(100 * counts.near >= near * all, "{counts:?}");
}

/// Turns pairs of operations that follow each other into holds, with others in between.
fn holds<I>(rng: &mut Rng, ops: &mut [Op<I>], grant: impl Fn(usize, &I) -> I, release: impl Fn(usize, &I) -> I) {
    rng.shuffle(ops);
    for hold in 0..ops.len() / 2 {
        let [from, to] = [2 * hold, 2 * hold + 1];
        if ops[from].complete.is_some_and(|end| end < ops[to].invoke) && rng.u8(0..4) > 0 {
            ops[to].input = release(hold, &ops[from].input);
            ops[from].input = grant(hold, &ops[from].input);
        }
    }
}

#[test]
fn permits() {
    for (permits, weights) in [(1, 1..2), (2, 1..3), (3, 1..4)] {
        decided(&Permits { permits }, 40 + permits, 100, |rng| {
            let mut ops = recorded(rng, &|rng| PermitOp::Glimpse(rng.u64(weights.clone())));
            let weight = |input: &PermitOp| match *input {
                PermitOp::Glimpse(weight) | PermitOp::Grant(_, weight) | PermitOp::Release(_, weight) => weight,
            };
            let grant = |hold, input: &_| PermitOp::Grant(hold, weight(input));
            holds(rng, &mut ops, grant, |hold, input| {
                PermitOp::Release(hold, weight(input))
            });
            ops
        });
    }
}

#[test]
fn mutexes_with_tokens() {
    decided(&FencedMutex, 44, 80, |rng| {
        // Mostly growing with their invocations.
        let mut ops = recorded(rng, &|_| FencedOp::Glimpse(None));
        for op in &mut ops {
            let token = op.invoke as i64 + rng.i64(0..4);
            op.input = FencedOp::Glimpse((rng.u8(0..40) > 0).then_some(token));
        }
        let token = |input: &FencedOp| match *input {
            FencedOp::Glimpse(token) | FencedOp::Grant(_, token) => token,
            FencedOp::Release(_) => None,
        };
        let grant = |hold, input: &_| FencedOp::Grant(hold, token(input));
        holds(rng, &mut ops, grant, |hold, _| FencedOp::Release(hold));
        ops
    });
}

/// An operation on a queue: so often one of some items goes in, so often one comes out, and once it is empty.
fn queue_op(rng: &mut Rng, (puts, takes): (u8, u8), items: u32) -> QueueOp {
    match rng.u8(0..puts + takes + 1) {
        kind if kind < puts => QueueOp::Enqueue(rng.u32(0..items)),
        kind if kind < puts + takes => QueueOp::Dequeue(rng.u32(0..items)),
        _ => QueueOp::Empty,
    }
}

/// Operations on a queue: values mostly put in once, some out of nothing, some deliveries of an unknown item.
fn queue(rng: &mut Rng, unique: bool) -> Vec<Op<QueueOp>> {
    let mut ops = recorded(rng, &|rng| queue_op(rng, (4, 5), 3));
    let mut next = 0;
    for op in &mut ops {
        match &mut op.input {
            QueueOp::Enqueue(item) if unique => {
                *item = next;
                next += 1;
            }
            QueueOp::Dequeue(_) if op.complete.is_none() && rng.bool() => op.input = QueueOp::Take,
            _ => {}
        }
    }
    ops
}

#[test]
fn fifo_queues() {
    decided(&Fifo, 45, 90, |rng| queue(rng, true));
    decided(&Fifo, 46, 30, |rng| queue(rng, false));
}

#[test]
fn fifo_queues_by_pairs_alone() {
    let mut rng = Rng::with_seed(61);
    let mut good = 0;
    for number in 0..histories() {
        let draw = |rng: &mut Rng| queue_op(rng, (5, 6), 2);
        let mut ops = match number % 2 {
            0 => recorded(&mut rng, &draw),
            _ => history(&mut rng, &draw),
        };
        for op in ops.iter_mut().filter(|op| matches!(op.input, QueueOp::Dequeue(_))) {
            let odds = if op.required { 8 } else { 2 };
            op.input = if rng.u8(0..odds) == 0 { QueueOp::Take } else { op.input };
        }
        let fits = brute::linearizable(&Fifo, &ops);
        let decision = with_budget(|budget| Fifo.explore(&ops, budget));
        assert_eq!(decision == SearchDecision::Linearizable, fits, "{ops:?}");
        good += usize::from(fits);
    }
    let least = histories() / 20;
    assert!(good > least && histories() - good > least, "{good}");
}

/// A queue that begins with these items.
struct FilledQueue(Vec<u32>);

impl Model for FilledQueue {
    type State = Rc<[u32]>;
    type Input = QueueOp;

    fn initial(&self) -> Rc<[u32]> {
        self.0.as_slice().into()
    }

    fn step(&self, items: &Rc<[u32]>, input: &QueueOp) -> Option<Rc<[u32]>> {
        Fifo.step(items, input)
    }

    fn is_read(&self, input: &QueueOp) -> bool {
        Fifo.is_read(input)
    }

    fn after(&self, input: &QueueOp) -> Option<Rc<[u32]>> {
        Fifo.after(input)
    }
}

#[test]
fn fifo_queues_that_began_with_whatever_items() {
    let items =
        |count: u32| (0..1 << count).map(move |bits: u32| FilledQueue((0..count).map(|at| bits >> at & 1).collect()));
    let all: Vec<FilledQueue> = (0..4).flat_map(items).collect();
    let mut rng = Rng::with_seed(62);
    let (tried, mut good) = (histories() / 25, 0);
    for _ in 0..tried {
        let mut ops = history(&mut rng, &|rng| queue_op(rng, (4, 4), 2));
        // No more come out than there may have been at the beginning, and go in.
        let outs = ops.iter().filter(|op| matches!(op.input, QueueOp::Dequeue(_))).count();
        ops.truncate(if outs > 3 { 3 } else { ops.len() });
        let fits = all.iter().any(|filled| brute::linearizable(filled, &ops));
        let decision = with_budget(|budget| Fifo.decide_anywhere(&ops, budget));
        assert_eq!(decision == SearchDecision::Linearizable, fits, "{ops:?}");
        good += usize::from(fits);
    }
    assert!(good > tried / 20 && tried - good > tried / 20, "{good} of {tried}");
}

#[test]
fn fifo_queues_that_are_filled_and_emptied() {
    // Items go in one after the other and come out in nearly that order.
    decided(&Fifo, 52, 80, |rng| {
        let mut ops = recorded(rng, &|_| QueueOp::Empty);
        ops.sort_unstable_by_key(|op| op.invoke);
        let items = ops.len().div_ceil(2);
        for (place, op) in ops.iter_mut().enumerate() {
            op.input = match (place < items, op.complete, rng.u8(0..8)) {
                (true, ..) => QueueOp::Enqueue(place as u32),
                (_, None, 0..6) => QueueOp::Take,
                (_, _, 0) => QueueOp::Empty,
                _ => QueueOp::Dequeue(rng.u32(0..items as u32)),
            };
        }
        ops
    });
}

#[test]
fn unordered_queues() {
    decided(&Bag, 47, 90, |rng| queue(rng, true));
    decided(&Bag, 48, 70, |rng| queue(rng, false));
}

#[test]
fn sets() {
    let draw = |rng: &mut Rng| match rng.u8(0..2) {
        0 => SetOp::Add(rng.u32(0..3)),
        _ => SetOp::Read((0..3).filter(|_| rng.bool()).collect()),
    };
    decided(&GrowSet, 49, 100, |rng| recorded(rng, &draw));
    decided(&GrowSet, 53, 50, |rng| history(rng, &draw));
}

#[test]
fn counters() {
    decided(&Counter, 50, 99, |rng| {
        recorded(rng, &|rng| match rng.u8(0..2) {
            0 => CounterOp::Add(1),
            _ => CounterOp::Read(rng.i64(0..4)),
        })
    });
    decided(&Counter, 54, 99, |rng| {
        history(rng, &|rng| match rng.u8(0..5) {
            0..3 => CounterOp::Add(1),
            _ => CounterOp::Read(rng.i64(0..4)),
        })
    });
    decided(&Counter, 55, 10, |rng| {
        history(rng, &|rng| match rng.u8(0..5) {
            0..3 => CounterOp::Add(rng.i64(-1..3)),
            _ => CounterOp::Read(rng.i64(0..4)),
        })
    });
}

#[test]
fn generators_of_ids() {
    decided(&IdGenerator, 51, 100, |rng| {
        recorded(rng, &|rng| GeneratedId(rng.u32(0..12)))
    });
}

#[test]
fn rounds_of_a_barrier() {
    for members in 1..=3 {
        decided(&Barrier { members }, 55 + u64::from(members), 100, |rng| {
            let mut ops = recorded(rng, &|rng| match rng.u8(0..5) {
                0..3 => BarrierOp::Sent,
                3 => BarrierOp::Opened,
                _ => BarrierOp::Left,
            });
            holds(
                rng,
                &mut ops,
                |stay, _| BarrierOp::Inside(stay),
                |stay, _| BarrierOp::Leaves(stay),
            );
            ops
        });
    }
}

#[test]
fn transactions() {
    decided(&Transaction, 60, 100, |rng| {
        history(rng, &|rng| match rng.u8(0..8) {
            0 => CommitOp::Site(rng.u32(0..2)),
            1..4 => CommitOp::Vote(rng.u32(0..2), true),
            4 => CommitOp::Vote(rng.u32(0..2), false),
            5 => CommitOp::Decided(rng.u32(0..2), false),
            _ => CommitOp::Decided(rng.u32(0..2), true),
        })
    });
}
