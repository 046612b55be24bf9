//! Operations on a queue by their ends, and which of them are done.

use crate::model::Op;
use crate::models::queue::bag::QueueOp;
use std::collections::{BTreeSet, HashMap};

/// Operations of one sort that must have happened, by their ends.
#[derive(Default)]
pub struct PairSide {
    /// Where each was sent, where it ended, its value, and its place in the history.
    pub all: Vec<(usize, usize, u32, usize)>,
    /// For each those that had been sent by its end, and end no earlier.
    open: Vec<Box<[u32]>>,
}

/// Operations that need not have happened, and do the same.
pub struct OptionalOperations {
    /// Whether they put something in.
    pub puts: bool,
    /// The value, if that is known.
    pub value: Option<u32>,
    /// Where they were sent, ascending.
    pub sent: Vec<usize>,
    /// Where they ended; the greatest number if they did not.
    pub end: usize,
}

/// Which operations of a side are done: the first so many, and some after these, ascending.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DoneOperations {
    first: u32,
    ahead: Vec<u32>,
}

/// An operation that may be done next.
#[derive(Clone, Copy)]
pub struct CandidateOperation {
    /// Its value, [`ANY`] if that is unknown.
    pub value: u32,
    /// The position of its invocation.
    pub sent: usize,
    /// Where it ended; the greatest number if it did not.
    pub end: usize,
    /// Whether it must have happened.
    pub what: CandidateOrigin,
}

/// The source of a candidate on its side of the sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateOrigin {
    /// One that must have happened, by its number on its side.
    Must(u32),
    /// One that need not have happened, by the number of its kind.
    May(u32),
    /// Something was in the queue at the beginning.
    Early,
}

/// The kinds of what need not have happened, by where the first of each was sent; what has an end is a kind of its own.
pub fn kinds(ops: &[Op<QueueOp>]) -> Vec<OptionalOperations> {
    let mut kinds: Vec<OptionalOperations> = Vec::new();
    let mut endless: HashMap<QueueOp, usize> = HashMap::new();
    for op in ops.iter().filter(|op| !op.must()) {
        let (puts, value) = match op.input {
            QueueOp::Enqueue(item) => (true, Some(item)),
            QueueOp::Dequeue(item) => (false, Some(item)),
            QueueOp::Take => (false, None),
            QueueOp::Empty => continue,
        };
        let at = match op.complete {
            None => *endless.entry(op.input).or_insert(kinds.len()),
            Some(_) => kinds.len(),
        };
        if at == kinds.len() {
            let end = op.complete.unwrap_or(usize::MAX);
            let sent = Vec::new();
            kinds.push(OptionalOperations { puts, value, sent, end });
        }
        kinds[at].sent.push(op.invoke);
    }
    kinds.iter_mut().for_each(|kind| kind.sent.sort_unstable());
    kinds.sort_unstable_by_key(|kind| kind.sent[0]);
    kinds
}

impl PairSide {
    /// Those to which a value is given.
    pub fn new(ops: &[Op<QueueOp>], value: &dyn Fn(QueueOp) -> Option<u32>) -> Self {
        let mut all: Vec<_> = (0..ops.len())
            .filter(|&op| ops[op].must())
            .filter_map(|op| Some((ops[op].invoke, ops[op].complete?, value(ops[op].input)?, op)))
            .collect();
        all.sort_unstable_by_key(|&(_, end, ..)| end);
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_unstable_by_key(|&number| all[number as usize].0);
        let (mut order, mut sent) = (order.into_iter().peekable(), BTreeSet::new());
        let open = all.iter().zip(0..).map(|(&(_, end, ..), number)| {
            sent.extend(std::iter::from_fn(|| order.next_if(|&next| all[next as usize].0 < end)));
            let open = sent.iter().copied().collect();
            sent.remove(&number);
            open
        });
        let open = open.collect();
        Self { all, open }
    }

    /// The first end of what is not done.
    pub fn limit(&self, done: &DoneOperations) -> usize {
        self.all
            .get(done.first as usize)
            .map_or(usize::MAX, |&(_, end, ..)| end)
    }

    /// What is not done and was sent before a limit, by their ends.
    pub fn next(&self, done: &DoneOperations, limit: usize) -> impl Iterator<Item = CandidateOperation> {
        let open = self.open.get(done.first as usize).map_or(&[][..], |open| open);
        let left = open.iter().filter(|number| done.ahead.binary_search(number).is_err());
        let candidate = |&number: &u32| {
            let (sent, end, value, _) = self.all[number as usize];
            CandidateOperation {
                value,
                sent,
                end,
                what: CandidateOrigin::Must(number),
            }
        };
        left.map(candidate).filter(move |one| one.sent < limit)
    }
}

impl DoneOperations {
    /// Marks the operation of this number as done.
    pub fn add(&mut self, number: u32) {
        self.ahead
            .insert(self.ahead.partition_point(|&other| other < number), number);
        let run = (self.first..)
            .zip(&self.ahead)
            .take_while(|(next, number)| next == *number)
            .count();
        self.ahead.drain(..run);
        self.first += run as u32;
    }
}

/// Stands for an unknown value.
pub const ANY: u32 = u32::MAX;

/// Something that was in the queue at the beginning.
pub const EARLY: CandidateOperation = CandidateOperation {
    value: ANY,
    sent: 0,
    end: usize::MAX,
    what: CandidateOrigin::Early,
};
