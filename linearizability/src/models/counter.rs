//! Counters that begin at 0: `add` of a number, and `read`.
//!
//! If each add adds one, reads show how many adds came before each, and a history is a problem of scheduling, decided
//! in time O(n log n) (`AddSchedule`).
//!
//! Where other numbers are added that is a problem of subset sums, and only bounds are checked, as Jepsen's `counter`
//! does: a read is at least what was certainly added before, and at most what may have been, and where nothing is
//! subtracted it does not go back. What these leave open takes a search.

use crate::call::{CallOutcome, InputError, Reading};
use crate::generate::{
    Completion, GeneratedClients, GeneratedLoad, Options, SimulatedObject, Simulation, Values, one_client, simulate,
};
use crate::judgement::decide;
use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, contradiction, earliest, unordered};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const TOO_SMALL: BrokenClaim = BrokenClaim {
    kind: "lost-increment",
    property: "nothing is lost",
    says: "the counter was read with less than what had been added",
};
const TOO_LARGE: BrokenClaim = BrokenClaim {
    kind: "phantom-increment",
    property: "nothing is made up",
    says: "the counter was read with more than what had been added",
};
const BACK: BrokenClaim = BrokenClaim {
    kind: "not-linearizable",
    property: "linearizability",
    says: "the counter went back",
};
const UNORDERED: BrokenClaim = unordered("no order of the counter's operations fits");

/// Counters that begin at 0.
pub static COUNTERS: ModelEntry = ModelEntry {
    names: &["counter"],
    summary: "add of a whole number, and read",
    operations: &["add", "read"],
    size: ModelSize::Fixed,
    begins: Some("a counter is 0 at first"),
    fits: |operations| {
        ModelFit::shown_if(operations.any(&["add"]) && operations.reads(|value| value.as_i64().is_some()))
    },
    simulations: &[Simulation {
        name: "counter",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, CounterObject::new(options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let mut reading = Reading::new();
        for &call in calls {
            let number = |value: &Value| {
                let (f, at) = (call.f, call.invoke);
                value.as_i64().ok_or_else(|| InputError::Unexpected {
                    what: format!("the {f} of event {at} has no whole number"),
                    found: value.clone(),
                })
            };
            match call.f {
                "add" => reading.add(call, CounterOp::Add(number(&call.asked)?)),
                "read" if call.outcome != CallOutcome::Ok || call.answered.is_nil() => {}
                "read" => reading.add(call, CounterOp::Read(number(&call.answered)?)),
                _ => return Err(model.unable(call)),
            }
        }
        Ok(decide(
            UNORDERED,
            &Counter,
            reading,
            &|count, _| count.to_string(),
            inquiry,
        ))
    },
};

/// The counter. Its state is its value.
#[derive(Debug, Clone, Copy)]
pub struct Counter;

/// An operation on the counter, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// So much was added.
    Add(i64),
    /// It had this value.
    Read(i64),
}

impl Model for Counter {
    type State = i64;
    type Input = CounterOp;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, value: &i64, input: &CounterOp) -> Option<i64> {
        match *input {
            CounterOp::Add(more) => value.checked_add(more),
            CounterOp::Read(found) => (found == *value).then_some(found),
        }
    }

    fn is_read(&self, input: &CounterOp) -> bool {
        matches!(input, CounterOp::Read(_))
    }

    fn after(&self, input: &CounterOp) -> Option<i64> {
        match *input {
            CounterOp::Add(_) => None,
            CounterOp::Read(found) => Some(found),
        }
    }

    fn near(&self, ops: &[Op<CounterOp>]) -> NearLinearDecision {
        let ones = ops
            .iter()
            .all(|op| matches!(op.input, CounterOp::Add(1) | CounterOp::Read(_)));
        match ones {
            true => AddSchedule::new(ops).judge(),
            false => {
                let grows = ops
                    .iter()
                    .all(|op| !matches!(op.input, CounterOp::Add(more) if more < 0));
                let mut back = AddSchedule::new(ops).back().filter(|_| grows);
                // One of the two may be impossible by itself, as no adds sum up to it.
                if let Some(back) = &mut back {
                    back.witness.least = back.witness.ops.iter().all(|&read| reachable(ops, read));
                }
                earliest(ops, bounds(ops).into_iter().chain(back))
                    .map_or(NearLinearDecision::Undecided, NearLinearDecision::Not)
            }
        }
    }
}

/// Whether some adds that were sent before a read was over sum up to what it found, tried with the largest first;
/// `false` proves nothing.
fn reachable(ops: &[Op<CounterOp>], read: usize) -> bool {
    let CounterOp::Read(mut left) = ops[read].input else {
        return false;
    };
    let sent = ops.iter().filter(|op| Some(op.invoke) < ops[read].complete);
    let mut adds: Vec<i64> = sent
        .filter_map(|op| match op.input {
            CounterOp::Add(more) => Some(more),
            CounterOp::Read(_) => None,
        })
        .collect();
    adds.sort_unstable_by_key(|&more| Reverse(more));
    adds.into_iter()
        .for_each(|more| left -= if more <= left { more } else { 0 });
    left == 0
}

/// Reads outside of what is certain, one by one; what is needed of the adds is not tried.
fn bounds(ops: &[Op<CounterOp>]) -> Option<Contradiction> {
    let (mut ended, mut sent) = (Vec::new(), Vec::new());
    for op in ops {
        if let CounterOp::Add(more) = op.input {
            sent.push((op.invoke, i128::from(more)));
            ended.extend(op.complete.filter(|_| op.required).map(|end| (end, i128::from(more))));
        }
    }
    // For each position up to where sums of what is positive and of what is negative go.
    let sums = |mut adds: Vec<(usize, i128)>| {
        adds.sort_unstable();
        let (mut up, mut down) = (0, 0);
        let sum = |(at, more): (usize, i128)| {
            *(if more > 0 { &mut up } else { &mut down }) += more;
            (at, up, down)
        };
        adds.into_iter().map(sum).collect::<Vec<_>>()
    };
    let (ended, sent) = (sums(ended), sums(sent));
    let before = |sums: &[(usize, i128, i128)], end: usize| {
        let at = sums.partition_point(|&(at, _, _)| at < end).checked_sub(1);
        at.map_or((0, 0), |at| (sums[at].1, sums[at].2))
    };
    let mut reads: Vec<usize> = (0..ops.len())
        .filter(|&op| matches!(ops[op].input, CounterOp::Read(_)) && ops[op].must())
        .collect();
    reads.sort_unstable_by_key(|&op| ops[op].complete);
    reads.into_iter().find_map(|read| {
        let CounterOp::Read(found) = ops[read].input else {
            return None;
        };
        let found = i128::from(found);
        let (certain, possible) = (before(&ended, ops[read].invoke), before(&sent, ops[read].complete?));
        let small = found < certain.0 + possible.1;
        let claim = match (small, found > possible.0 + certain.1) {
            (true, _) => &TOO_SMALL,
            (_, true) => &TOO_LARGE,
            _ => return None,
        };
        let needed = |&op: &usize| match ops[op].input {
            CounterOp::Add(more) => (more > 0) == small && ops[op].must() && ops[op].complete < Some(ops[read].invoke),
            CounterOp::Read(_) => false,
        };
        let mut found = contradiction(ops, (0..ops.len()).filter(needed).chain([read]).collect(), claim);
        found.witness.least = found.witness.ops.len() == 1;
        Some(found)
    })
}

/// Adds of one to a counter, between blocks of its reads in the order of their values, as a problem of scheduling.
///
/// Reads show how many adds came before each: each add has a read before which it must be done, between two reads there
/// is room for as many as they differ by, and that room must be filled. Adds that must be done first are done first
/// (Jackson's rule, 1955), once for those that certainly happened, once for all that may fill the room; if each fits,
/// both do together (Mendelsohn and Dulmage, "Some generalizations of the problem of distinct representatives", 1958).
/// That takes time O(n log n). An add of unknown outcome may fill room at any time after its invocation.
struct AddSchedule<'a> {
    ops: &'a [Op<CounterOp>],
    blocks: Vec<Block>,
    adds: Vec<usize>,
}

impl<'a> AddSchedule<'a> {
    fn new(ops: &'a [Op<CounterOp>]) -> Self {
        let value = |op: usize| match ops[op].input {
            CounterOp::Read(value) if ops[op].must() => Some((value, op)),
            _ => None,
        };
        let mut reads: Vec<(i64, usize)> = (0..ops.len()).filter_map(value).collect();
        reads.sort_unstable();
        let mut blocks: Vec<Block> = Vec::new();
        for (value, read) in reads {
            match blocks.last_mut() {
                Some(block) if block.value == value => {
                    block.first = [block.first, read]
                        .into_iter()
                        .min_by_key(|&op| ops[op].complete)
                        .unwrap_or(read);
                    block.last = [block.last, read]
                        .into_iter()
                        .max_by_key(|&op| ops[op].invoke)
                        .unwrap_or(read);
                }
                _ => blocks.push(Block {
                    value,
                    first: read,
                    last: read,
                }),
            }
        }
        let adds = (0..ops.len()).filter(|&op| matches!(ops[op].input, CounterOp::Add(_)));
        Self {
            ops,
            blocks,
            adds: adds.collect(),
        }
    }

    fn judge(&self) -> NearLinearDecision {
        let found = self
            .made_up()
            .or_else(|| self.back())
            .or_else(|| self.too_large())
            .or_else(|| self.too_small());
        if let Some(found) = found {
            return NearLinearDecision::Not(found);
        }
        let spans = self.spans();
        match self.fills_room(&spans) && self.overfull(&spans).is_none() {
            true => NearLinearDecision::Linearizable,
            false => NearLinearDecision::Undecided,
        }
    }

    /// A read for which too few adds were sent.
    fn made_up(&self) -> Option<Contradiction> {
        let sent = self.sent();
        let made_up = |block: &&Block| {
            let possible = sent.partition_point(|&at| Some(at) < self.ops[block.first].complete);
            (possible as i64) < block.value
        };
        let found = self.blocks.iter().filter(made_up);
        earliest(
            self.ops,
            found.map(|block| contradiction(self.ops, vec![block.first], &TOO_LARGE)),
        )
    }

    /// Where the adds were sent.
    fn sent(&self) -> Vec<usize> {
        let mut sent: Vec<usize> = self.adds.iter().map(|&op| self.ops[op].invoke).collect();
        sent.sort_unstable();
        sent
    }

    /// A value below zero, or a smaller one that was asked for after a larger one was answered.
    fn back(&self) -> Option<Contradiction> {
        let ops = self.ops;
        if let Some(block) = self.blocks.first().filter(|block| block.value < 0) {
            return Some(contradiction(ops, vec![block.first], &BACK));
        }
        let mut latest: Option<usize> = None;
        let mut found = None;
        for block in &self.blocks {
            let late = latest.filter(|&read| Some(ops[read].invoke) > ops[block.first].complete);
            let pair = late.map(|read| contradiction(ops, vec![read, block.first], &BACK));
            found = earliest(ops, found.into_iter().chain(pair));
            let both = latest.into_iter().chain([block.last]);
            latest = both.max_by_key(|&read| ops[read].invoke);
        }
        found
    }

    /// A read for which too few adds were sent that may have been done after an earlier read.
    fn too_large(&self) -> Option<Contradiction> {
        let ops = self.ops;
        let sent = self.sent();
        let mut ended: Vec<usize> = self.adds.iter().filter_map(|&op| ops[op].complete).collect();
        ended.sort_unstable();
        // How far each block's value is ahead of what was over before it: what an earlier one leaves to be found later.
        let mut behind: Option<(i64, usize)> = None;
        let mut found = None;
        for block in &self.blocks {
            let before = |all: &[usize], end: usize| all.partition_point(|&at| at < end) as i64;
            let possible = before(&sent, ops[block.first].complete?);
            let missing = behind.filter(|&(spoilt, _)| possible - spoilt < block.value);
            let missing = missing.map(|(_, read)| contradiction(ops, vec![read, block.first], &TOO_LARGE));
            found = earliest(ops, found.into_iter().chain(missing));
            let spoilt = before(&ended, ops[block.last].invoke) - block.value;
            behind = behind.into_iter().chain([(spoilt, block.last)]).max();
        }
        found
    }

    /// A read before which more adds were over than it found: in all, or since an earlier one.
    fn too_small(&self) -> Option<Contradiction> {
        let block = self.overfull(&self.spans())?;
        let (ops, read) = (self.ops, self.blocks[block].last);
        let over = |&&op: &&usize| ops[op].must() && ops[op].complete < Some(ops[read].invoke);
        let mut over: Vec<usize> = self.adds.iter().filter(over).copied().collect();
        over.sort_unstable_by_key(|&op| Reverse(ops[op].invoke));
        let since = |from: Option<usize>| over.partition_point(|&op| Some(ops[op].invoke) > from);
        let value = self.blocks[block].value;
        let earlier = self.blocks[..=block]
            .iter()
            .rev()
            .map(|block| (block.value, Some(block.first)));
        let (room, since) = earlier
            .filter(|&(value, _)| value > 0)
            .chain([(0, None)])
            .map(|(before, first)| (value - before, first))
            .find(|&(room, first)| since(first.and_then(|first| ops[first].complete)) as i64 > room)?;
        let witness = over.iter().take(room as usize + 1).copied().chain(since).chain([read]);
        Some(contradiction(ops, witness.collect(), &TOO_SMALL))
    }

    /// The spans of all adds, in order.
    fn spans(&self) -> Vec<AddSpan> {
        let ops = self.ops;
        // The last block of those some read of which was over, and the first of those some read of which had not been
        // sent.
        let mut over: Vec<(Option<usize>, usize)> = (0..)
            .zip(&self.blocks)
            .map(|(at, block)| (ops[block.first].complete, at))
            .collect();
        over.sort_unstable();
        for at in 1..over.len() {
            over[at].1 = over[at].1.max(over[at - 1].1);
        }
        let mut sent: Vec<(usize, usize)> = (0..)
            .zip(&self.blocks)
            .map(|(at, block)| (ops[block.last].invoke, at))
            .collect();
        sent.sort_unstable();
        for at in (1..sent.len()).rev() {
            sent[at - 1].1 = sent[at - 1].1.min(sent[at].1);
        }
        let span = |&op: &usize| {
            let from = over
                .partition_point(|&(end, _)| end < Some(ops[op].invoke))
                .checked_sub(1)
                .map_or(0, |at| over[at].1 + 1);
            let end = ops[op].complete.unwrap_or(usize::MAX);
            let until = sent
                .get(sent.partition_point(|&(sent, _)| sent < end))
                .map_or(usize::MAX, |&(_, at)| at);
            AddSpan { from, until, op }
        };
        let mut spans: Vec<AddSpan> = self.adds.iter().map(span).collect();
        spans.sort_unstable();
        spans
    }

    /// Whether what may have happened fills all room.
    fn fills_room(&self, spans: &[AddSpan]) -> bool {
        let mut waiting = BinaryHeap::new();
        let mut spans = spans.iter().peekable();
        let mut value = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            while let Some(span) = spans.next_if(|span| span.from <= at) {
                waiting.push(Reverse(span.until));
            }
            while waiting.peek().is_some_and(|&Reverse(until)| until < at) {
                waiting.pop();
            }
            let room = block.value.abs_diff(value) as usize;
            if room > waiting.len() {
                return false;
            }
            for _ in 0..room {
                waiting.pop();
            }
            value = block.value;
        }
        true
    }

    /// A block before which something had to be done for which there is no room.
    fn overfull(&self, spans: &[AddSpan]) -> Option<usize> {
        // Between two reads of the same value there is none.
        let certain = || spans.iter().filter(|span| self.ops[span.op].must());
        if let Some(shut) = certain().find(|span| span.from > span.until) {
            return Some(shut.until);
        }
        let mut waiting = BinaryHeap::new();
        let mut spans = certain().peekable();
        let mut value = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            while let Some(span) = spans.next_if(|span| span.from <= at) {
                waiting.push(Reverse(span.until));
            }
            let room = block.value.abs_diff(value) as usize;
            for _ in 0..room.min(waiting.len()) {
                waiting.pop();
            }
            if waiting.peek().is_some_and(|&Reverse(until)| until <= at) {
                return Some(at);
            }
            value = block.value;
        }
        None
    }
}

/// An add with the first and the last block before which it can be done, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddSpan {
    from: usize,
    until: usize,
    op: usize,
}

/// The reads that found one value.
#[derive(Debug, Clone, Copy)]
struct Block {
    value: i64,
    /// The one that was over first, and the one that was sent last.
    first: usize,
    last: usize,
}

/// A simulated counter.
#[derive(Debug)]
struct CounterObject {
    value: u64,
    values: Values,
}

/// An operation on a simulated counter, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CounterCall {
    /// So much is added.
    Add(u64),
    /// All is read.
    Read,
}

impl CounterObject {
    /// One at 0.
    fn new(options: &Options) -> Self {
        Self {
            value: 0,
            values: options.values,
        }
    }
}

impl SimulatedObject for CounterObject {
    type Op = CounterCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> CounterCall {
        match (rng.bool(), self.values) {
            (true, _) => CounterCall::Read,
            (false, Values::Unique) => CounterCall::Add(1),
            (false, Values::Of(count)) => CounterCall::Add(rng.u64(1..=count)),
        }
    }

    fn request(op: &CounterCall) -> (&'static str, Value) {
        match *op {
            CounterCall::Add(what) => ("add", Value::from(what)),
            CounterCall::Read => ("read", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &CounterCall) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            CounterCall::Add(more) => {
                self.value += more;
                Value::from(more)
            }
            CounterCall::Read => Value::from(self.value),
        }))
    }

    fn may_be_late(&self, op: &CounterCall) -> bool {
        *op != CounterCall::Read
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, last: bool) -> bool {
        if clients.object.value == 0 {
            if last {
                clients.object.value += 1;
                clients.at_once(client, &CounterCall::Add(1), &Completion::Ok(Value::from(1_u64)));
            }
            return false;
        }
        let value = clients.object.value;
        for found in [value, value - 1] {
            clients.at_once(client, &CounterCall::Read, &Completion::Ok(Value::from(found)));
        }
        true
    }
}
