//! A queue, first in, first out. Empty answers are true.
//!
//! If each value is put in once, an order exists exactly if nothing is delivered that was not put in before, or twice;
//! of two items, one put in after the other was, the later one does not come out before the other may; and each empty
//! answer has a moment at which nothing was certainly in the queue (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented
//! linearizability proofs", CONCUR 2013). That takes time O(n log n). A delivery of unknown outcome may have taken any
//! item from its invocation on, so that items that had to come out before another one need as many of these, in time;
//! an enqueue of unknown outcome happened exactly if its item came out. Where values come back, those that do not can
//! convict; and there, and where deliveries of unknown outcome decide about an empty answer, it takes a search: by
//! `pairs`.

use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, any_optional, contradiction, earliest};
use crate::models::queue::bag::{Item, Items, QueueOp};
use crate::models::queue::pairs;
use crate::search::{Budget, SearchDecision};
use std::rc::Rc;

const REORDERED: BrokenClaim = BrokenClaim {
    kind: "reordered",
    property: "first in, first out",
    says: "what was put in later came out, and what was put in before it had not",
};

/// The queue, empty at the beginning. Its state is what is in it, the oldest first.
#[derive(Debug, Clone, Copy)]
pub struct Fifo;

impl Model for Fifo {
    type State = Rc<[u32]>;
    type Input = QueueOp;

    fn initial(&self) -> Rc<[u32]> {
        Rc::default()
    }

    fn step(&self, items: &Rc<[u32]>, input: &QueueOp) -> Option<Rc<[u32]>> {
        match (*input, items.split_first()) {
            (QueueOp::Enqueue(item), _) => Some([items, &[item][..]].concat().into()),
            (QueueOp::Dequeue(item), Some((first, rest))) if *first == item => Some(rest.into()),
            (QueueOp::Take, Some((_, rest))) => Some(rest.into()),
            (QueueOp::Empty, None) => Some(Rc::clone(items)),
            _ => None,
        }
    }

    fn is_read(&self, input: &QueueOp) -> bool {
        matches!(input, QueueOp::Empty)
    }

    fn after(&self, input: &QueueOp) -> Option<Rc<[u32]>> {
        matches!(input, QueueOp::Empty).then(Rc::default)
    }

    fn heap(&self, items: &Rc<[u32]>) -> usize {
        size_of_val(&**items)
    }

    fn near(&self, ops: &[Op<QueueOp>]) -> NearLinearDecision {
        let mut items = Items::new(ops);
        let mut found = items.unfounded(ops);
        // What holds of all items holds of some of them alone.
        let unique = items.retain_unique();
        let empty = items.empty(ops);
        found.extend(empty.contradiction);
        let delivered = FifoDeliveries::new(ops, &items);
        found.extend(delivered.overtaken(ops));
        let behind = delivered.behind(ops, &items);
        found.extend(too_few(ops, &items, &behind, &delivered));
        let unsaid = !unique || empty.unsaid || any_optional(ops) || empty.answers && !behind.is_empty();
        let fits = if unsaid {
            NearLinearDecision::Undecided
        } else {
            NearLinearDecision::Linearizable
        };
        earliest(ops, found).map_or(fits, NearLinearDecision::Not)
    }

    fn explore(&self, ops: &[Op<QueueOp>], budget: &mut Budget<'_>) -> SearchDecision {
        pairs::decide(ops, true, budget)
    }

    fn decide_anywhere(&self, ops: &[Op<QueueOp>], budget: &mut Budget<'_>) -> SearchDecision {
        pairs::decide(ops, false, budget)
    }
}

/// An item that came out.
#[derive(Debug, Clone, Copy)]
struct FifoDelivery {
    enqueue: usize,
    dequeue: usize,
}

/// The items that came out, by where they were put in.
struct FifoDeliveries(Vec<FifoDelivery>);

/// An item that something had to take out although nothing is known to have done so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct UntakenItem {
    /// Before this position, the end of the delivery of a later item.
    until: usize,
    enqueue: usize,
}

impl FifoDeliveries {
    fn new(ops: &[Op<QueueOp>], items: &Items) -> Self {
        let delivery = |item: &Item| {
            Some(FifoDelivery {
                enqueue: *item.enqueues.first()?,
                dequeue: *item.dequeues.first()?,
            })
        };
        let mut all: Vec<FifoDelivery> = items.all.values().filter_map(delivery).collect();
        all.sort_unstable_by_key(|one| ops[one.enqueue].invoke);
        Self(all)
    }

    /// Two deliveries in the wrong order.
    fn overtaken(&self, ops: &[Op<QueueOp>]) -> Option<Contradiction> {
        // Of the items that were certainly in before some position the one whose delivery was sent last.
        let end = |one: &FifoDelivery| ops[one.enqueue].complete;
        let mut earlier: Vec<FifoDelivery> = self.0.iter().filter(|one| end(one).is_some()).copied().collect();
        earlier.sort_unstable_by_key(end);
        let mut earlier = earlier.into_iter().peekable();
        let mut latest: Option<FifoDelivery> = None;
        let mut found = None;
        for one in &self.0 {
            while let Some(before) = earlier.next_if(|before| end(before) < Some(ops[one.enqueue].invoke)) {
                let both = latest.into_iter().chain([before]);
                latest = both.max_by_key(|one| ops[one.dequeue].invoke);
            }
            let overtaken = latest.filter(|before| Some(ops[before.dequeue].invoke) > ops[one.dequeue].complete);
            let pair = overtaken.map(|before| contradiction(ops, vec![before.dequeue, one.dequeue], &REORDERED));
            found = earliest(ops, found.into_iter().chain(pair));
        }
        found
    }

    /// The items that were left behind, by the ends of the first deliveries of what was put in after them.
    fn behind(&self, ops: &[Op<QueueOp>], items: &Items) -> Vec<UntakenItem> {
        let mut first: Vec<Option<usize>> = self.0.iter().map(|one| ops[one.dequeue].complete).collect();
        for at in (1..first.len()).rev() {
            first[at - 1] = first[at - 1].min(first[at]);
        }
        let own = items.own_takers();
        let left = items.all.iter().filter(|(_, item)| item.dequeues.is_empty());
        let behind = |(value, item): (&u32, &Item)| {
            let enqueue = *item.enqueues.first()?;
            let end = ops[enqueue].complete.filter(|_| ops[enqueue].required)?;
            let until = (*first.get(self.0.partition_point(|one| ops[one.enqueue].invoke < end))?)?;
            let own = own.get(value).is_some_and(|&from| from < until);
            (!own).then_some(UntakenItem { until, enqueue })
        };
        let mut behind: Vec<UntakenItem> = left.filter_map(behind).collect();
        behind.sort_unstable();
        behind
    }
}

/// Items left behind of which there are more than operations of unknown outcome that may have taken them in time.
fn too_few(
    ops: &[Op<QueueOp>],
    items: &Items,
    behind: &[UntakenItem],
    delivered: &FifoDeliveries,
) -> Option<Contradiction> {
    let takers: Vec<usize> = items
        .takers
        .iter()
        .filter_map(|&(from, item)| item.is_none().then_some(from))
        .collect();
    let in_time = |until: usize| takers.partition_point(|&from| from < until);
    let at = (0..behind.len()).find(|&at| at >= in_time(behind[at].until))?;
    let until = behind[at].until;
    // Of all that came out by then what was put in last came after all of these.
    let out = { delivered.0.iter() }.filter(|one| ops[one.dequeue].complete <= Some(until));
    let last = out.max_by_key(|one| ops[one.enqueue].invoke)?;
    let needed = behind[..=at].iter().rev().take(in_time(until) + 1);
    let witness = needed.map(|one| one.enqueue).chain([last.dequeue]);
    Some(contradiction(ops, witness.collect(), &REORDERED))
}
