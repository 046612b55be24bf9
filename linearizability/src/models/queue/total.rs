//! A queue each of whose items comes out at least once, in any order: what Jepsen's `total-queue` judges. In time O(n
//! log n).
//!
//! - A delivery needs an enqueue of its value that was sent before the delivery was answered. It may repeat another
//!   delivery.
//! - An enqueue that was answered needs a delivery of its own that was answered after the enqueue was sent; or, before
//!   the moment at which a drain found the queue empty, an operation of unknown outcome that may have taken the item.
//!   Which enqueues lack one is a problem of scheduling: each takes the first delivery that is left, in the order in
//!   which they ended.
//! - A drain is evidence only if all deliveries by dequeues were answered before it was sent, as a delivery under way
//!   may hide an item for a while; and only if no later drain took anything out. Drains at the same time all are
//!   evidence.
//! - At each moment of such a drain more enqueues must lack a delivery than there are operations that may have taken
//!   one (Hall, "On representatives of subsets", 1935: both are nested).

use crate::model::{BrokenClaim, Contradiction, Op, contradiction, earliest};
use crate::models::queue::bag::{MADE_UP, QueueOp};
use std::collections::BTreeMap;

const LOST: BrokenClaim = BrokenClaim {
    kind: "lost-item",
    property: "nothing is lost",
    says: "the queue was found empty after all deliveries although something had been put in and not come out",
};

/// A drain that was answered. Operations are places.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredDrain {
    /// Where it was sent.
    pub sent: usize,
    /// Its first delivery; all up to `empty` are its deliveries.
    pub first: usize,
    /// Its empty answer, which is sent once all of its items may have been in the queue.
    pub empty: usize,
}

/// What was found of a total queue.
#[derive(Debug)]
pub struct TotalQueueJudgement {
    /// The contradiction that ends first.
    pub contradiction: Option<Contradiction>,
    /// How many deliveries repeat one of the same item.
    pub again: usize,
    /// An enqueue that was answered, whose item did not come out, and for which no drain is evidence.
    pub unjudged: Option<usize>,
}

/// Judges operations on a total queue.
pub fn judge(ops: &[Op<QueueOp>], drains: &[AnsweredDrain]) -> TotalQueueJudgement {
    let items = items(ops);
    let lacking = lacking(ops, &items);
    let mut drains: Vec<AnsweredDrain> = speaking(ops, drains);
    drains.sort_unstable_by_key(|drain| ops[drain.empty].complete);
    let enough = enough(ops, &lacking);
    let convicts = |drain: &&AnsweredDrain| {
        let (from, end) = (ops[drain.empty].invoke, ops[drain.empty].complete);
        let at = enough.partition_point(|&(_, to)| to <= from);
        enough.get(at).is_none_or(|&(begin, _)| Some(begin) >= end)
    };
    let lost = drains
        .iter()
        .find(convicts)
        .map(|drain| lost(ops, &items, &lacking, drain));
    let judged = drains.iter().map(|drain| ops[drain.empty].invoke).max();
    TotalQueueJudgement {
        contradiction: earliest(ops, made_up(ops, &items).into_iter().chain(lost)),
        again: items.values().map(|item| item.again(ops)).sum(),
        unjudged: lacking.into_iter().find(|&op| ops[op].complete > judged),
    }
}

/// What happened to the items of one value.
#[derive(Debug, Default)]
struct TotalQueueItem {
    /// The operations that may have put one in, in the order in which they were sent.
    enqueues: Vec<usize>,
    /// Those that took one out, in the order in which they ended.
    deliveries: Vec<usize>,
}

impl TotalQueueItem {
    /// How many deliveries are left if as many as possible have an enqueue of their own, sent before they were
    /// answered; none if there is no enqueue.
    fn again(&self, ops: &[Op<QueueOp>]) -> usize {
        let mut left = self.enqueues.iter().peekable();
        let own = |&&delivery: &&usize| {
            left.next_if(|&&op| Some(ops[op].invoke) < ops[delivery].complete)
                .is_some()
        };
        let matched = self.deliveries.iter().filter(own).count();
        if matched == 0 {
            0
        } else {
            self.deliveries.len() - matched
        }
    }
}

fn items(ops: &[Op<QueueOp>]) -> BTreeMap<u32, TotalQueueItem> {
    let mut items: BTreeMap<u32, TotalQueueItem> = BTreeMap::new();
    for (place, op) in ops.iter().enumerate() {
        match op.input {
            QueueOp::Enqueue(value) => items.entry(value).or_default().enqueues.push(place),
            QueueOp::Dequeue(value) => items.entry(value).or_default().deliveries.push(place),
            QueueOp::Empty | QueueOp::Take => {}
        }
    }
    for item in items.values_mut() {
        item.enqueues.sort_unstable_by_key(|&op| ops[op].invoke);
        item.deliveries
            .sort_unstable_by_key(|&op| ops[op].complete.unwrap_or(usize::MAX));
    }
    items
}

/// The first delivery of each value that no enqueue was sent before.
fn made_up(ops: &[Op<QueueOp>], items: &BTreeMap<u32, TotalQueueItem>) -> Vec<Contradiction> {
    let first = |item: &TotalQueueItem| {
        let delivery = *item.deliveries.iter().find(|&&op| ops[op].must())?;
        let sent = item.enqueues.first().map(|&op| ops[op].invoke);
        let founded = sent.is_some_and(|sent| Some(sent) < ops[delivery].complete);
        (!founded).then(|| contradiction(ops, vec![delivery], &MADE_UP))
    };
    items.values().filter_map(first).collect()
}

/// The enqueues that certainly happened and for which no delivery is left, in the order in which they ended.
fn lacking(ops: &[Op<QueueOp>], items: &BTreeMap<u32, TotalQueueItem>) -> Vec<usize> {
    let slots = |(&value, item): (&u32, &TotalQueueItem)| (value, Slots::new(ops, item));
    let mut slots: BTreeMap<u32, Slots> = items.iter().map(slots).collect();
    let mut certain: Vec<(usize, usize, u32)> = Vec::new();
    for (place, op) in ops.iter().enumerate() {
        if let (QueueOp::Enqueue(value), Some(end), true) = (op.input, op.complete, op.required) {
            certain.push((end, place, value));
        }
    }
    certain.sort_unstable();
    let lacks = |&(_, op, value): &(usize, usize, u32)| {
        let slots = slots.get_mut(&value);
        !slots.is_some_and(|slots| slots.take(ops[op].invoke))
    };
    certain.into_iter().filter(lacks).map(|(_, op, _)| op).collect()
}

/// The deliveries of a value that are left for enqueues.
struct Slots {
    /// Where each ended, ascending.
    ends: Vec<usize>,
    /// For each a later one, itself if it is left; the last is none.
    next: Vec<usize>,
}

impl Slots {
    fn new(ops: &[Op<QueueOp>], item: &TotalQueueItem) -> Self {
        let end = |&op: &usize| ops[op].complete.unwrap_or(usize::MAX);
        Self {
            ends: item.deliveries.iter().map(end).collect(),
            next: (0..=item.deliveries.len()).collect(),
        }
    }

    /// Takes the first one that is left and ended after a position; whether there is one.
    fn take(&mut self, after: usize) -> bool {
        let mut at = self.ends.partition_point(|&end| end <= after);
        while self.next[at] != at {
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        let left = at < self.ends.len();
        self.next[at] += usize::from(left);
        left
    }
}

/// The drains that are evidence by the module's rule.
fn speaking(ops: &[Op<QueueOp>], drains: &[AnsweredDrain]) -> Vec<AnsweredDrain> {
    let mut of_a_drain = vec![false; ops.len()];
    drains
        .iter()
        .for_each(|drain| of_a_drain[drain.first..drain.empty].fill(true));
    let dequeues = ops
        .iter()
        .zip(of_a_drain)
        .filter(|(op, of_a_drain)| !of_a_drain && op.must());
    let answered = dequeues.filter(|(op, _)| matches!(op.input, QueueOp::Dequeue(_)));
    let answered = answered.filter_map(|(op, _)| op.complete).max();
    let some = drains.iter().filter(|drain| drain.first < drain.empty);
    let last = some.map(|drain| drain.sent).max();
    let speaks = |drain: &&AnsweredDrain| {
        let empty = &ops[drain.empty];
        empty.must() && answered < Some(drain.sent) && last < empty.complete
    };
    drains.iter().filter(speaks).copied().collect()
}

/// The stretches, by positions, in which no more enqueues lack a delivery than operations were sent that may have taken
/// an item.
fn enough(ops: &[Op<QueueOp>], lacking: &[usize]) -> Vec<(usize, usize)> {
    let takes = ops.iter().filter(|op| op.input == QueueOp::Take);
    let mut changes: Vec<(usize, i64)> = takes.map(|op| (op.invoke, -1)).collect();
    changes.extend(lacking.iter().filter_map(|&op| Some((ops[op].complete?, 1))));
    changes.sort_unstable();
    let (mut missing, mut since, mut stretches) = (0, Some(0), Vec::new());
    for (at, change) in changes {
        missing += change;
        match since {
            Some(from) if missing > 0 => {
                stretches.push((from, at));
                since = None;
            }
            None if missing <= 0 => since = Some(at),
            _ => {}
        }
    }
    stretches.extend(since.map(|from| (from, usize::MAX)));
    stretches
}

/// A drain with enqueues of which, at each moment of it, more lack a delivery than may have been taken, with none to
/// spare.
fn lost(
    ops: &[Op<QueueOp>],
    items: &BTreeMap<u32, TotalQueueItem>,
    lacking: &[usize],
    drain: &AnsweredDrain,
) -> Contradiction {
    let end = ops[drain.empty].complete;
    let takes = ops
        .iter()
        .filter(|op| op.input == QueueOp::Take && Some(op.invoke) < end);
    // For each value the last one that is needed.
    let mut last: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for &op in lacking.iter().take(takes.count() + 1) {
        if let QueueOp::Enqueue(value) = ops[op].input {
            last.insert(value, ops[op].complete);
        }
    }
    let mut witness = vec![drain.empty];
    for (value, until) in last {
        witness.extend(items.get(&value).into_iter().flat_map(|item| crowded(ops, item, until)));
    }
    contradiction(ops, witness, &LOST)
}

/// Of the enqueues of a value that had ended by some position the last ones that were sent, for which deliveries are as
/// few as for any.
fn crowded(ops: &[Op<QueueOp>], item: &TotalQueueItem, until: Option<usize>) -> Vec<usize> {
    let certain = |op: &&usize| ops[**op].must() && ops[**op].complete <= until;
    let enqueues: Vec<usize> = item.enqueues.iter().filter(certain).copied().collect();
    let lack = |at: usize| {
        let before = |&op: &usize| ops[op].complete.is_some_and(|end| end <= ops[enqueues[at]].invoke);
        let deliveries = item.deliveries.len() - item.deliveries.partition_point(before);
        (enqueues.len() - at) as i64 - deliveries as i64
    };
    let from = (0..enqueues.len()).max_by_key(|&at| (lack(at), at)).unwrap_or_default();
    enqueues[from..].to_vec()
}
