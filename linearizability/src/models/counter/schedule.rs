//! Adds of one to a counter between its reads, as a problem of scheduling.
//!
//! Reads show how many adds came before each: each add has a read before which it must be done, between two reads there
//! is room for as many as they differ by, and that room must be filled. Adds that must be done first are done first
//! (Jackson's rule, 1955), once for those that certainly happened, once for all that may fill the room; if each fits,
//! both do together (Mendelsohn and Dulmage, "Some generalizations of the problem of distinct representatives", 1958).
//! That takes time O(n log n). An add of unknown outcome may fill room at any time after its invocation.

use crate::model::{BrokenClaim, Contradiction, NearLinearDecision, Op, contradiction, earliest};
use crate::models::counter::sequential::{CounterOp, TOO_LARGE, TOO_SMALL};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BACK: BrokenClaim = BrokenClaim {
    kind: "not-linearizable",
    property: "linearizability",
    says: "the counter went back",
};

/// The reads that found one value.
#[derive(Debug, Clone, Copy)]
struct Block {
    value: i64,
    /// The one that was over first, and the one that was sent last.
    first: usize,
    last: usize,
}

/// Adds of one, between blocks of reads in the order of their values.
pub struct AddSchedule<'a> {
    ops: &'a [Op<CounterOp>],
    blocks: Vec<Block>,
    adds: Vec<usize>,
}

impl<'a> AddSchedule<'a> {
    pub fn new(ops: &'a [Op<CounterOp>]) -> Self {
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

    pub fn judge(&self) -> NearLinearDecision {
        let found = self.made_up().or_else(|| self.back());
        let found = found.or_else(|| self.too_large()).or_else(|| self.too_small());
        if let Some(found) = found {
            return NearLinearDecision::Not(found);
        }
        let spans = self.spans();
        let fits = self.fits(&spans, true) && self.fits(&spans, false);
        if fits {
            NearLinearDecision::Linearizable
        } else {
            NearLinearDecision::Undecided
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
    pub fn back(&self) -> Option<Contradiction> {
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
        let (block, _) = self.overfull(&self.spans())?;
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

    /// Of each add the first and the last block before which it can be done.
    fn spans(&self) -> Vec<(usize, usize, usize)> {
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
            (from, until, op)
        };
        let mut spans: Vec<_> = self.adds.iter().map(span).collect();
        spans.sort_unstable();
        spans
    }

    /// Whether there is room for what certainly happened, or (`all`) whether what may have happened fills all room.
    fn fits(&self, spans: &[(usize, usize, usize)], all: bool) -> bool {
        if !all {
            return self.overfull(spans).is_none();
        }
        let mut waiting = BinaryHeap::new();
        let mut spans = spans.iter().peekable();
        let mut value = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            while let Some(&(_, until, _)) = spans.next_if(|&&(from, _, _)| from <= at) {
                waiting.push(Reverse(until));
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

    /// A block before which something had to be done for which there is no room, and what that is.
    fn overfull(&self, spans: &[(usize, usize, usize)]) -> Option<(usize, usize)> {
        // Between two reads of the same value there is none.
        let shut = |&&(from, until, op): &&(usize, usize, usize)| from > until && self.ops[op].must();
        if let Some(&(_, until, op)) = spans.iter().find(shut) {
            return Some((until, op));
        }
        let mut waiting = BinaryHeap::new();
        let mut spans = spans.iter().filter(|&&(_, _, op)| self.ops[op].must()).peekable();
        let mut value = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            while let Some(&(_, until, op)) = spans.next_if(|&&(from, _, _)| from <= at) {
                waiting.push(Reverse((until, op)));
            }
            let room = block.value.abs_diff(value) as usize;
            for _ in 0..room.min(waiting.len()) {
                waiting.pop();
            }
            if let Some(&Reverse((_, op))) = waiting.peek().filter(|Reverse((until, _))| *until <= at) {
                return Some((at, op));
            }
            value = block.value;
        }
        None
    }
}
