//! A queue without an order: what was put in comes out once, in any order. Empty answers are true.
//!
//! Without empty answers an order exists exactly if each delivery has an own enqueue of its value that was sent before
//! the delivery was over; equal values are counted. Each empty answer needs a moment at which no item was certainly in
//! the queue, from the end of its enqueue until its delivery was sent (Bouajjani, Emmi, Enea and Hamza, "On reducing
//! linearizability to state reachability", ICALP 2015). Both take time O(n log n). A delivery of unknown outcome may
//! have taken any item from its invocation on, or none; if that, or equal values, decide about an empty answer, it
//! takes a search.

use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, any_optional, contradiction, earliest};
use crate::models::presence::{Presence, PresenceSpan};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

pub(super) const MADE_UP: BrokenClaim = BrokenClaim {
    kind: "phantom-item",
    property: "nothing is made up",
    says: "an item came out that nothing had put in",
};
const TWICE: BrokenClaim = BrokenClaim {
    kind: "duplicate-delivery",
    property: "deliveries",
    says: "an item came out more often than it was put in",
};
const LOST: BrokenClaim = BrokenClaim {
    kind: "lost-item",
    property: "nothing is lost",
    says: "the queue was found empty although something had been put in and not come out at any moment of that",
};

/// An operation on a queue. Items are numbers, equal ones if they cannot be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueOp {
    /// This was put in.
    Enqueue(u32),
    /// This came out.
    Dequeue(u32),
    /// Nothing came out, for there was nothing.
    Empty,
    /// An item came out, and which one is unknown.
    Take,
}

/// The queue, empty at the beginning. Its state is what is in it, ascending.
#[derive(Debug, Clone, Copy)]
pub struct Bag;

impl Model for Bag {
    type State = Rc<[u32]>;
    type Input = QueueOp;

    fn initial(&self) -> Rc<[u32]> {
        Rc::default()
    }

    /// Which unknown item came out matters only to empty answers, right before which everything has to come out; so it
    /// is the first one.
    fn step(&self, items: &Rc<[u32]>, input: &QueueOp) -> Option<Rc<[u32]>> {
        let without = |at: usize| Some([&items[..at], &items[at + 1..]].concat().into());
        match *input {
            QueueOp::Enqueue(item) => {
                let (small, large) = items.split_at(items.partition_point(|&other| other < item));
                Some([small, &[item], large].concat().into())
            }
            QueueOp::Dequeue(item) => without(items.binary_search(&item).ok()?),
            QueueOp::Take if !items.is_empty() => without(0),
            QueueOp::Take => None,
            QueueOp::Empty => items.is_empty().then(|| Rc::clone(items)),
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
        let found = items.unfounded(ops);
        let unique = items.retain_unique();
        let empty = items.empty(ops);
        match earliest(ops, found.into_iter().chain(empty.contradiction)) {
            Some(found) => NearLinearDecision::Not(found),
            None if empty.unsaid || !unique && empty.answers => NearLinearDecision::Undecided,
            None => NearLinearDecision::Linearizable,
        }
    }
}

/// What happened to the items of one value.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// The operations that may have put one in, by their places.
    pub enqueues: Vec<usize>,
    /// Those that certainly took one out.
    pub dequeues: Vec<usize>,
}

/// All items, by their values.
#[derive(Debug)]
pub(super) struct Items {
    pub all: BTreeMap<u32, Item>,
    /// Where each operation was sent that may have taken out something else than what it is known to have taken, or
    /// that, if its outcome is unknown; ascending, with what it took if that is known.
    pub takers: Vec<(usize, Option<u32>)>,
    /// Whether something is known only in part.
    optional: bool,
}

/// What empty answers prove.
#[derive(Debug)]
pub(super) struct Emptiness {
    /// One that no order has.
    pub contradiction: Option<Contradiction>,
    /// Whether, if there is no contradiction, it takes a search to decide whether some order has all of them.
    pub unsaid: bool,
    /// Whether there are any.
    pub answers: bool,
}

impl Items {
    pub fn new(ops: &[Op<QueueOp>]) -> Self {
        let mut all: BTreeMap<u32, Item> = BTreeMap::new();
        let mut takers = Vec::new();
        for (place, op) in ops.iter().enumerate() {
            match op.input {
                QueueOp::Enqueue(item) => all.entry(item).or_default().enqueues.push(place),
                QueueOp::Dequeue(item) if op.must() => all.entry(item).or_default().dequeues.push(place),
                QueueOp::Dequeue(item) => takers.push((op.invoke, Some(item))),
                QueueOp::Take => takers.push((op.invoke, None)),
                QueueOp::Empty => {}
            }
        }
        takers.sort_unstable();
        for item in all.values_mut() {
            item.enqueues.sort_unstable_by_key(|&op| ops[op].invoke);
            item.dequeues.sort_unstable_by_key(|&op| ops[op].complete);
        }
        Self {
            all,
            takers,
            optional: any_optional(ops),
        }
    }

    /// Deliveries for which there are too few enqueues.
    pub fn unfounded(&self, ops: &[Op<QueueOp>]) -> Vec<Contradiction> {
        let unfounded = |item: &Item| {
            let lacking = |&at: &usize| {
                let end = ops[item.dequeues[at]].complete;
                item.enqueues.partition_point(|&op| Some(ops[op].invoke) < end) <= at
            };
            let at = (0..item.dequeues.len()).find(lacking)?;
            let claim = if at == 0 { &MADE_UP } else { &TWICE };
            Some(contradiction(ops, item.dequeues[..=at].to_vec(), claim))
        };
        self.all.values().filter_map(unfounded).collect()
    }

    /// Forgets the items whose values were put in more than once; whether there were none.
    pub fn retain_unique(&mut self) -> bool {
        let all = self.all.len();
        self.all.retain(|_, item| item.enqueues.len() <= 1);
        all == self.all.len()
    }

    /// Judges the empty answers, if each value was put in once at most.
    pub fn empty(&self, ops: &[Op<QueueOp>]) -> Emptiness {
        let answers: Vec<usize> = (0..ops.len())
            .filter(|&op| ops[op].input == QueueOp::Empty && ops[op].must())
            .collect();
        let taken = self.first_takers();
        let certain = Presence::new(self.present(ops, |item| taken(item).unwrap_or(usize::MAX)));
        let convicted = |presence: &Presence, answer: usize| {
            let mut proof = presence.throughout(ops[answer].invoke, ops[answer].complete?)?;
            proof.push(answer);
            Some(contradiction(ops, proof, &LOST))
        };
        let throughout = answers.iter().filter_map(|&answer| convicted(&certain, answer));
        let (left, own) = (self.left(ops), self.own_takers());
        let too_many = |&answer: &usize| self.too_many(ops, &left, &own, answer);
        let contradiction = earliest(ops, throughout.chain(answers.iter().filter_map(too_many)));
        // If nothing of unknown outcome took anything, more was present.
        let most = Presence::new(self.present(ops, |_| usize::MAX));
        let doubtful = answers.iter().any(|&answer| convicted(&most, answer).is_some());
        // One answer shares what may have been taken out with no other.
        let fits = || matches!(answers[..], [answer] if self.fits(ops, &left, answer));
        let unsaid = self.optional && !answers.is_empty() || doubtful && !fits();
        Emptiness {
            contradiction,
            unsaid,
            answers: !answers.is_empty(),
        }
    }

    /// When each item was certainly present, if one that is not known to have been taken out may have been from some
    /// position on.
    fn present(&self, ops: &[Op<QueueOp>], taken: impl Fn(u32) -> usize) -> Vec<PresenceSpan> {
        let present = |(&value, item): (&u32, &Item)| {
            let enqueue = *item.enqueues.first()?;
            let from = ops[enqueue].complete.filter(|_| ops[enqueue].required)?;
            let (to, proof) = match item.dequeues.first() {
                Some(&dequeue) => (ops[dequeue].invoke, dequeue),
                None => (taken(value), enqueue),
            };
            Some(PresenceSpan { from, to, proof })
        };
        self.all.iter().filter_map(present).collect()
    }

    /// What certainly was put in and not certainly taken out, by the ends of the enqueues: with what it is.
    fn left(&self, ops: &[Op<QueueOp>]) -> Vec<(usize, usize, u32)> {
        let left = self.all.iter().filter(|(_, item)| item.dequeues.is_empty());
        let enqueue = |(&value, item): (&u32, &Item)| {
            let op = item.enqueues.first().copied().filter(|&op| ops[op].must())?;
            Some((ops[op].complete?, op, value))
        };
        let mut left: Vec<_> = left.filter_map(enqueue).collect();
        left.sort_unstable();
        left
    }

    /// An empty answer before which more was put in than may have been taken out.
    fn too_many(
        &self,
        ops: &[Op<QueueOp>],
        left: &[(usize, usize, u32)],
        own: &HashMap<u32, usize>,
        answer: usize,
    ) -> Option<Contradiction> {
        let in_time = |from: usize| Some(from) < ops[answer].complete;
        let takers = self.takers.iter().filter(|(_, item)| item.is_none());
        let takers = takers.take_while(|&&(from, _)| in_time(from)).count();
        let before = left.iter().take_while(|&&(end, ..)| end < ops[answer].invoke);
        let needed = before.filter(|(_, _, item)| !own.get(item).is_some_and(|&from| in_time(from)));
        let needed: Vec<usize> = needed.take(takers + 1).map(|&(_, op, _)| op).collect();
        let proof = needed.iter().copied().chain([answer]);
        (needed.len() > takers).then(|| contradiction(ops, proof.collect(), &LOST))
    }

    /// Whether there is a moment for an empty answer, if there is no other one: all that had been put in by then and is
    /// known to have come out may have come out by then, and of what else was put in there is no more than may have
    /// been taken out.
    fn fits(&self, ops: &[Op<QueueOp>], left: &[(usize, usize, u32)], answer: usize) -> bool {
        let known = Presence::new(self.present(ops, |_| 0));
        let dequeues = self.all.values().filter_map(|item| item.dequeues.first());
        // Room comes only where something may be taken out from.
        let within = |&at: &usize| at > ops[answer].invoke && Some(at) < ops[answer].complete;
        let mut moments = vec![ops[answer].invoke];
        moments.extend(self.takers.iter().map(|&(from, _)| from).filter(within));
        moments.extend(dequeues.map(|&op| ops[op].invoke).filter(within));
        moments.sort_unstable();
        let (mut waiting, mut own, mut others) = (HashSet::new(), HashSet::new(), 0);
        let (mut put_in, mut takes) = (left.iter().peekable(), self.takers.iter().peekable());
        moments.into_iter().any(|at| {
            for &(_, _, item) in std::iter::from_fn(|| put_in.next_if(|(end, ..)| *end <= at)) {
                waiting.extend((!own.contains(&item)).then_some(item));
            }
            for &(_, item) in std::iter::from_fn(|| takes.next_if(|(from, _)| *from <= at)) {
                item.map(|item| waiting.remove(&item));
                own.extend(item);
                others += usize::from(item.is_none());
            }
            waiting.len() <= others && !known.at(at)
        })
    }

    /// From when on an item may have been taken out by an operation of unknown outcome.
    fn first_takers(&self) -> impl Fn(u32) -> Option<usize> {
        let any = self
            .takers
            .iter()
            .find_map(|&(from, item)| item.is_none().then_some(from));
        let own = self.own_takers();
        move |item| any.into_iter().chain(own.get(&item).copied()).min()
    }

    /// From when on an item may have been taken by its own operation of unknown outcome.
    pub fn own_takers(&self) -> HashMap<u32, usize> {
        // Of several the first counts, which comes last here.
        let last_to_first = self.takers.iter().rev();
        last_to_first.filter_map(|&(from, item)| Some((item?, from))).collect()
    }
}
