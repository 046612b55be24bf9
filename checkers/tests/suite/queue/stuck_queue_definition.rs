//! `stuck-queue` by its definition, taken literally: in every execution there is an item in the queue at each moment of
//! the spell.

use super::brute_force::{QueueOp, is_named, nameless, ops};
use crate::liveness::{self, node, recovery};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

/// A run from its recovery to its audit.
struct Span<'a> {
    events: &'a [Event],
    recovered: usize,
    end: usize,
    dequeues: Vec<QueueOp>,
}

/// Who was sent a dequeue or an acknowledge that stays pending: the client and the operation.
pub fn stuck(record: &Record) -> BTreeSet<(String, &'static str)> {
    let events = &record.history.events;
    let Some((recovered, end)) = recovery(events) else {
        return BTreeSet::new();
    };
    let dequeues = ops(events, "dequeue");
    let span = Span {
        events,
        recovered,
        end,
        dequeues,
    };
    let stays = span.stays();
    let takers: Vec<usize> = span
        .dequeues
        .iter()
        .filter(|op| free(events, op))
        .map(|op| op.sent)
        .collect();
    let certain = |at: usize| {
        let there = stays.iter().filter(|(from, until)| *from <= at && at < *until).count();
        left(there, takers.iter().filter(|sent| **sent <= at).count())
    };
    let certain: Vec<bool> = (0..=end).map(certain).collect();
    let mut stuck = BTreeSet::new();
    for f in ["dequeue", "acknowledge"] {
        let bound = span.bound(f);
        for (client, from, until) in span.spells(f) {
            let from = from.max(recovered);
            let lasts = |from: usize, until: usize| events[until].time.saturating_sub(events[from].time) >= bound;
            let beside = |from: usize| {
                let until = (from..until).find(|&at| !certain[at]).unwrap_or(until);
                lasts(from, until)
            };
            let is = match f {
                "dequeue" => (from..until).any(beside),
                _ => lasts(from, until),
            };
            if is {
                stuck.insert((client, f));
            }
        }
    }
    stuck
}

impl Span<'_> {
    /// Where the queue began to be drained.
    fn drain(&self) -> Option<usize> {
        let confirms = ops(self.events, "confirm");
        let sent = confirms.iter().map(|op| op.sent);
        sent.filter(|&at| at > self.recovered && at < self.end).min()
    }

    fn bound(&self, f: &str) -> u64 {
        let answered = ops(self.events, f).into_iter();
        let took = answered.filter_map(|op| {
            let read = op.ok().filter(|&read| read < self.drain().unwrap_or(self.end))?;
            Some(self.events[read].time - self.events[op.sent].time)
        });
        liveness::bound(took)
    }

    /// From which event until which one each was pending after recovery, or was refused again and again.
    fn spells(&self, f: &str) -> Vec<(String, usize, usize)> {
        let drain = self.drain();
        let all = ops(self.events, f);
        let mut spells = Vec::new();
        for (number, op) in all.iter().enumerate().filter(|(_, op)| op.sent < self.end) {
            let end = op.end.filter(|&(at, _)| at < self.end);
            let died = op.over.is_some_and(|over| over < self.end);
            let until = match end {
                None if died => continue,
                None => self.end,
                Some((at, _)) if at < self.recovered => continue,
                Some((at, EventType::Ok)) => match drain.filter(|&drain| op.sent < drain && drain < at) {
                    // What it found later does not show what it could have taken before.
                    Some(_)
                        if f == "dequeue" && nameless(self.events, &op.node) && self.events[at].item().is_none() =>
                    {
                        continue;
                    }
                    Some(drain) => drain,
                    None => continue,
                },
                Some((_, EventType::Fail)) if f == "acknowledge" => continue,
                Some((_, EventType::Fail)) => self.refused(&all[number..]),
                Some((at, _)) => at,
            };
            spells.push((op.node.clone(), op.sent, until));
        }
        spells
    }

    /// Where the last of the attempts failed that follow each other and are not made up for, of which the first one is
    /// the first.
    fn refused(&self, all: &[QueueOp]) -> usize {
        let own = all.iter().filter(|op| op.node == all[0].node && op.sent < self.end);
        let finished = |op: &QueueOp| op.ok().is_some_and(|read| self.recovered < read && read < self.end);
        let made_up = |one: &QueueOp| {
            let later = |op: &QueueOp| finished(op) && (op.ok() > one.end.map(|end| end.0) || op.sent > self.recovered);
            self.dequeues.iter().any(|op| op.node == one.node && later(op))
        };
        let mut until = all[0].end.expect("it failed").0;
        for op in own {
            match op.end.filter(|&(at, _)| at < self.end) {
                Some((at, EventType::Fail)) if !made_up(op) => until = at,
                Some((_, EventType::Fail)) => return until,
                Some((at, _)) if at > self.recovered => return until,
                None if op.over.is_none_or(|over| over > self.end) => return until,
                _ => {}
            }
        }
        until
    }

    /// For each item from where to where it lay in the queue: from the answer to its first enqueue, until somebody may
    /// have taken it; none for one that may never have been there.
    fn stays(&self) -> Vec<(usize, usize)> {
        let events = self.events;
        let (enqueues, acknowledges) = (ops(events, "enqueue"), ops(events, "acknowledge"));
        let numbers: BTreeSet<i64> = enqueues.iter().filter_map(|op| events[op.sent].item()).collect();
        let stay = |number: i64| {
            let own = |op: &&QueueOp| events[op.sent].item() == Some(number);
            let stored = enqueues.iter().filter(own).filter_map(QueueOp::ok).min()?;
            let gave = |op: &&QueueOp| op.ok().is_some_and(|read| events[read].item() == Some(number));
            let empty = |op: &QueueOp| {
                let found = |read: usize| events[read].value.get("item").is_some_and(|item| item.is_null());
                op.sent > stored && op.ok().is_some_and(found)
            };
            let ended = acknowledges.iter().filter(own).any(|op| !op.failed());
            let gone = !self.dequeues.iter().any(|op| gave(&op)) && self.dequeues.iter().any(empty);
            if ended || gone || self.unasked(number) {
                return None;
            }
            let takes = |op: &&QueueOp| gave(op) || self.named(op, number);
            let taken = self.dequeues.iter().filter(takes).map(|op| op.sent).min();
            Some((stored, taken.unwrap_or(usize::MAX)))
        };
        numbers.into_iter().filter_map(stay).collect()
    }

    /// Whether a dequeue named an item before the next one was sent, and did not fail after that.
    fn named(&self, op: &QueueOp, number: i64) -> bool {
        let next = self
            .dequeues
            .iter()
            .find(|next| next.node == op.node && next.sent > op.sent);
        let until = next.map_or(self.events.len(), |next| next.sent);
        (op.sent..until).any(|at| {
            let failed = op.failed() && op.end.is_some_and(|(end, _)| at < end);
            !failed && self.names(at, &op.node, number)
        })
    }

    /// Whether a client named an item before it was sent a dequeue.
    fn unasked(&self, number: i64) -> bool {
        (0..self.events.len()).any(|at| {
            let client = node(&self.events[at]);
            let asked = self.dequeues.iter().any(|op| op.node == client && op.sent < at);
            !asked && self.names(at, client, number)
        })
    }

    fn names(&self, at: usize, client: &str, number: i64) -> bool {
        let event = &self.events[at];
        is_named(event) && event.f == "taking" && node(event) == client && event.item() == Some(number)
    }
}

/// Whether a dequeue may have taken any item.
fn free(events: &[Event], op: &QueueOp) -> bool {
    op.ok().is_none() && !op.failed() && nameless(events, &op.node)
}

/// Whether an event is of a dequeue that may have taken any item.
pub fn may_take_any(record: &Record, event: &Event) -> bool {
    let events = &record.history.events;
    let all = ops(events, "dequeue");
    all.iter()
        .filter(|op| free(events, op))
        .any(|op| op.sent == event.index || op.end.is_some_and(|(at, _)| at == event.index))
}

/// Whether something is left in every execution of so many items, of which each of so many takers may have taken one.
fn left(items: usize, takers: usize) -> bool {
    match (items, takers) {
        (0, _) => false,
        (_, 0) => true,
        // It took none, or one.
        _ => left(items, takers - 1) && left(items - 1, takers - 1),
    }
}
