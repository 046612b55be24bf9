//! FIFO queues whose values come back, by pairs: what went in as the n-th comes out as the n-th.
//!
//! An order of all operations exists exactly if the enqueues have one and the dequeues have one in which the n-th of
//! both have the same value, and no dequeue had ended before one of the enqueues up to its own was sent: other cycles
//! cannot be, for intervals that follow each other crosswise follow each other in order, too. What lies in the queue
//! between the two does not matter. So a sweep goes from pair to pair, with all sets of operations that may be done by
//! then. With few operations in flight, these sets are few, however long the history and the queue: all of an order but
//! what was in flight together is fixed. At worst they are exponentially many.
//!
//! - Of operations that do the same, one that was sent no later and ends no later than another one is done before it.
//! - An empty answer fits wherever as many came out as went in, unless something that came out was sent after something
//!   had gone in that comes out later.
//! - What need not have happened is paired only with what must have: both could be left out.
//!
//! Where the initial items are unknown, all that comes out before the first pair may have been in the queue.

use crate::model::Op;
use crate::models::queue::bag::QueueOp;
use crate::search::{Budget, Limit, SearchDecision};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Decides a history by pairs, within the budget: of a queue that is empty at the beginning, or whose initial items are
/// unknown.
pub fn decide(ops: &[Op<QueueOp>], empty: bool, budget: &mut Budget<'_>) -> SearchDecision {
    // How many more configurations are kept each time.
    const MORE: usize = 8;
    let pairs = Pairs::new(ops);
    let mut width = 32;
    loop {
        match pairs.run(empty, width, budget) {
            Ok(Some(decision)) => return decision,
            Ok(None) => width *= MORE,
            Err(limit) => return SearchDecision::GaveUp(limit),
        }
    }
}

/// What may have been done by a pair.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Configuration {
    ins: DoneOperations,
    outs: DoneOperations,
    empties: DoneOperations,
    /// How many of the kinds are done, ascending.
    spent: Vec<(u32, u32)>,
    /// Where the last of what went in was sent, and the last of all, if that matters.
    latest: [usize; 2],
    /// Whether nothing is left of what was in the queue at the beginning.
    begun: bool,
}

/// A sweep over a history.
struct Pairs {
    ins: PairSide,
    outs: PairSide,
    empties: PairSide,
    kinds: Vec<OptionalOperations>,
    /// Whether something has an end that need not have happened.
    ends: bool,
    /// Whether it matters when something was sent that came out.
    dated: bool,
}

impl Pairs {
    fn new(ops: &[Op<QueueOp>]) -> Self {
        let ins = PairSide::new(ops, &|op| match op {
            QueueOp::Enqueue(item) => Some(item),
            _ => None,
        });
        let outs = PairSide::new(ops, &|op| match op {
            QueueOp::Dequeue(item) => Some(item),
            QueueOp::Take => Some(ANY),
            _ => None,
        });
        let empties = PairSide::new(ops, &|op| (op == QueueOp::Empty).then_some(0));
        let kinds = kinds(ops);
        let ends = kinds.iter().any(|kind| kind.end < usize::MAX);
        let dated = ends || !empties.all.is_empty();
        Self {
            ins,
            outs,
            empties,
            kinds,
            ends,
            dated,
        }
    }

    /// Sweeps, and keeps only so many configurations a pair, the most promising ones; `None` if an order may have been
    /// lost so.
    fn run(&self, empty: bool, width: usize, budget: &mut Budget<'_>) -> Result<Option<SearchDecision>, Limit> {
        let mut level: Vec<Configuration> = Vec::new();
        let begun = Configuration {
            begun: empty,
            ..Configuration::default()
        };
        self.settle(begun, &mut |one| level.push(one));
        // The latest end up to which some order fits.
        let (mut reached, mut lost) = (0, false);
        // The kinds that had been sent, and had not ended, for some configuration.
        let (mut active, mut known): (Vec<u32>, u32) = (Vec::new(), 0);
        loop {
            let limit = |one: &Configuration| self.outs.limit(&one.outs).min(self.empties.limit(&one.empties));
            let latest = level.iter().map(|one| one.latest[0]).min().unwrap_or(0);
            reached = level.iter().map(limit).max().unwrap_or(0).max(reached);
            if reached == usize::MAX {
                return Ok(Some(SearchDecision::Linearizable));
            }
            let sent = self.kinds[known as usize..]
                .iter()
                .take_while(|kind| kind.sent[0] < reached)
                .count() as u32;
            active.extend(known..known + sent);
            known += sent;
            active.retain(|&kind| self.kinds[kind as usize].end > latest);
            // In the same order every time, so that the same ones are kept.
            let mut next: BTreeSet<Configuration> = BTreeSet::new();
            for one in &level {
                budget.spend()?;
                for (put, taken) in self.moves(one, &active) {
                    budget.spend()?;
                    self.settle(self.after(one, put, taken), &mut |one| _ = next.insert(one));
                }
            }
            let each = 2 * size_of::<Configuration>() + 256;
            if next.len() * each > budget.bytes {
                return Err(Limit::Memory);
            }
            if next.is_empty() {
                let mut all = self.outs.all.iter().chain(&self.empties.all);
                let stuck = all.find(|&&(_, end, ..)| end == reached).map_or(0, |&(.., op)| op);
                return Ok((!lost).then_some(SearchDecision::Not { stuck }));
            }
            level = next.into_iter().collect();
            if level.len() > width {
                lost = true;
                level.select_nth_unstable_by_key(width, |one| self.promise(one));
                level.truncate(width);
            }
        }
    }

    /// Less for what has more time left, and has spent less.
    fn promise(&self, one: &Configuration) -> impl Ord + use<> {
        let spent: u32 = one.spent.iter().map(|&(_, count)| count).sum();
        let out = self.outs.limit(&one.outs).min(self.empties.limit(&one.empties));
        (Reverse(out), Reverse(self.ins.limit(&one.ins)), spent)
    }

    /// The pairs that may come next.
    fn moves(&self, one: &Configuration, active: &[u32]) -> Vec<(CandidateOperation, CandidateOperation)> {
        let out_limit = self.outs.limit(&one.outs).min(self.empties.limit(&one.empties));
        let in_limit = self.ins.limit(&one.ins).min(out_limit);
        let may = |puts, limit| self.optional(one, active, puts, limit);
        let mut ins = self.foremost(true, self.ins.next(&one.ins, in_limit).chain(may(true, in_limit)));
        let outs: Vec<CandidateOperation> = { self.outs.next(&one.outs, out_limit) }
            .chain(may(false, out_limit))
            .collect();
        ins.extend((!one.begun).then_some(EARLY));
        let mut moves = Vec::new();
        for put in ins {
            let any = |taken: &CandidateOperation| put.value == ANY || taken.value == ANY;
            let fits = |taken: &&CandidateOperation| (taken.value == put.value || any(taken)) && put.sent < taken.end;
            let outs = self.foremost(false, outs.iter().filter(fits).copied());
            for taken in &outs {
                let same = |other: &CandidateOperation| other.value == put.value && self.before(false, other, taken);
                let instead = put.value != ANY && taken.value == ANY && outs.iter().any(same);
                let matters = [put.what, taken.what]
                    .iter()
                    .any(|what| matches!(what, CandidateOrigin::Must(_)));
                if matters && !instead {
                    moves.push((put, *taken));
                }
            }
        }
        moves
    }

    /// What need not have happened and may happen now.
    fn optional(
        &self,
        one: &Configuration,
        active: &[u32],
        puts: bool,
        limit: usize,
    ) -> impl Iterator<Item = CandidateOperation> {
        active.iter().filter_map(move |&number| {
            let kind = &self.kinds[number as usize];
            let spent = one.spent.binary_search_by_key(&number, |&(kind, _)| kind);
            let spent = spent.map_or(0, |at| one.spent[at].1);
            let sent = *kind.sent.get(spent as usize)?;
            let in_time = sent < limit && kind.end > one.latest[usize::from(!puts)];
            (kind.puts == puts && in_time).then_some(CandidateOperation {
                value: kind.value.unwrap_or(ANY),
                sent,
                end: kind.end,
                what: CandidateOrigin::May(number),
            })
        })
    }

    /// Those before which no other one of the same value may be done as well.
    fn foremost(&self, puts: bool, all: impl Iterator<Item = CandidateOperation>) -> Vec<CandidateOperation> {
        let mut all: Vec<CandidateOperation> = all.collect();
        all.sort_unstable_by_key(|one| (one.end, one.what, one.sent));
        let mut kept: Vec<CandidateOperation> = Vec::new();
        for one in all {
            if !kept
                .iter()
                .any(|other| other.value == one.value && self.before(puts, other, &one))
            {
                kept.push(one);
            }
        }
        kept
    }

    /// Whether the one can be done in place of the other, which can be done in place of it later.
    fn before(&self, puts: bool, one: &CandidateOperation, other: &CandidateOperation) -> bool {
        let needed = matches!(one.what, CandidateOrigin::Must(_)) || matches!(other.what, CandidateOrigin::May(_));
        let sent = one.sent <= other.sent || !puts && !self.dated;
        one.end <= other.end && sent && needed
    }

    fn after(&self, one: &Configuration, put: CandidateOperation, taken: CandidateOperation) -> Configuration {
        let mut next = one.clone();
        for (side, done) in [(put, &mut next.ins), (taken, &mut next.outs)] {
            match side.what {
                CandidateOrigin::Early => {}
                CandidateOrigin::Must(number) => done.add(number),
                CandidateOrigin::May(kind) => match next.spent.binary_search_by_key(&kind, |&(kind, _)| kind) {
                    Ok(at) => next.spent[at].1 += 1,
                    Err(at) => next.spent.insert(at, (kind, 1)),
                },
            }
        }
        next.begun |= put.what != CandidateOrigin::Early;
        self.note(&mut next, put.sent, put.sent.max(taken.sent));
        next
    }

    /// Notes where something was sent, if that matters.
    fn note(&self, one: &mut Configuration, put: usize, any: usize) {
        if !self.dated {
            return;
        }
        one.latest = [one.latest[0].max(put), one.latest[1].max(any)];
        let latest = one.latest;
        if !self.ends {
            let over = latest[1] < self.ins.limit(&one.ins);
            one.latest = [0, if over { 0 } else { latest[1] }];
        }
        one.spent.retain(|&(kind, _)| {
            let kind = &self.kinds[kind as usize];
            kind.end > latest[usize::from(!kind.puts)]
        });
    }

    /// Gives a configuration with the empty answers that fit there; where that may be too early, also without.
    fn settle(&self, mut one: Configuration, give: &mut impl FnMut(Configuration)) {
        loop {
            let put = self.ins.limit(&one.ins);
            let limit = put
                .min(self.outs.limit(&one.outs))
                .min(self.empties.limit(&one.empties));
            let fitting = self.empties.next(&one.empties, limit).filter(|_| one.latest[1] < put);
            let Some(answer) = fitting.min_by_key(|answer| answer.sent) else {
                return give(one);
            };
            if self.ends || !one.begun {
                give(one.clone());
            }
            if let CandidateOrigin::Must(number) = answer.what {
                one.empties.add(number);
            }
            one.begun = true;
            // What had gone in before something was sent that came out would have been there.
            let latest = answer.sent.max(one.latest[1]);
            self.note(&mut one, latest, latest);
        }
    }
}

/// Operations of one sort that must have happened, by their ends.
#[derive(Default)]
struct PairSide {
    /// Where each was sent, where it ended, its value, and its place in the history.
    all: Vec<(usize, usize, u32, usize)>,
    /// For each those that had been sent by its end, and end no earlier.
    open: Vec<Box<[u32]>>,
}

/// Operations that need not have happened, and do the same.
struct OptionalOperations {
    /// Whether they put something in.
    puts: bool,
    /// The value, if that is known.
    value: Option<u32>,
    /// Where they were sent, ascending.
    sent: Vec<usize>,
    /// Where they ended; the greatest number if they did not.
    end: usize,
}

/// Which operations of a side are done: the first so many, and some after these, ascending.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct DoneOperations {
    first: u32,
    ahead: Vec<u32>,
}

/// An operation that may be done next.
#[derive(Clone, Copy)]
struct CandidateOperation {
    /// Its value, [`ANY`] if that is unknown.
    value: u32,
    /// The position of its invocation.
    sent: usize,
    /// Where it ended; the greatest number if it did not.
    end: usize,
    /// Whether it must have happened.
    what: CandidateOrigin,
}

/// The source of a candidate on its side of the sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CandidateOrigin {
    /// One that must have happened, by its number on its side.
    Must(u32),
    /// One that need not have happened, by the number of its kind.
    May(u32),
    /// Something was in the queue at the beginning.
    Early,
}

/// The kinds of what need not have happened, by where the first of each was sent; what has an end is a kind of its own.
fn kinds(ops: &[Op<QueueOp>]) -> Vec<OptionalOperations> {
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
    fn new(ops: &[Op<QueueOp>], value: &dyn Fn(QueueOp) -> Option<u32>) -> Self {
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
    fn limit(&self, done: &DoneOperations) -> usize {
        self.all
            .get(done.first as usize)
            .map_or(usize::MAX, |&(_, end, ..)| end)
    }

    /// What is not done and was sent before a limit, by their ends.
    fn next(&self, done: &DoneOperations, limit: usize) -> impl Iterator<Item = CandidateOperation> {
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
    fn add(&mut self, number: u32) {
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
const ANY: u32 = u32::MAX;

/// Something that was in the queue at the beginning.
const EARLY: CandidateOperation = CandidateOperation {
    value: ANY,
    sent: 0,
    end: usize::MAX,
    what: CandidateOrigin::Early,
};
