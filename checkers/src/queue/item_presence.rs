//! Stock: when an item certainly lay in the queue.
//!
//! An item does from the answer `ok` to its enqueue until a dequeue is sent that may have taken it: one that was
//! answered with it or had named it, and did not fail. One that nobody was ever given does not, if a dequeue that was
//! sent later found the queue empty. Each dequeue that may have taken any item takes one away from its sending on.
//! Linear in the events, but for sorting.

use super::items::{Items, QueueItem, outcome};
use super::{ItemField, told};
use crate::analysis::{Analysis, Op, ops};
use std::collections::HashMap;
use zooquake_history::EventType;
use zooquake_history::operation::queue::f;

/// An item that lay in the queue, from one event until another; the greatest number if nobody took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemStay {
    pub number: i64,
    /// Where its enqueue was answered.
    pub stored: usize,
    /// Where the first dequeue was sent that may have taken it.
    pub taken: usize,
}

/// What certainly lay in the queue. Positions are those of events.
#[derive(Debug, Default)]
pub struct ItemPresence {
    /// In the order of `stored`.
    stays: Vec<ItemStay>,
    /// For each place in that order the stay that lasts longest, of those up to it.
    longest: Vec<ItemStay>,
    /// Where the dequeues were sent that may have taken any item, in order.
    takers: Vec<usize>,
    /// From where to where some item lay there, in order.
    spells: Vec<(usize, usize)>,
    /// Those of them that lasted long enough.
    long: Vec<(usize, usize)>,
}

impl ItemPresence {
    /// Reads it out of a history. Spells of `least` nanoseconds are long.
    pub fn new(run: &Analysis<'_>, items: &Items<'_>, least: u64) -> Self {
        let mut takers = items.free.clone();
        takers.extend(items.unreadable.iter().map(|taken| taken.sent.unwrap_or(0)));
        let named = named(run, &mut takers);
        takers.sort_unstable();
        let empty = found_empty(run);
        let stay = |(&number, item): (&i64, &QueueItem<'_>)| {
            let given = item.given.iter().map(|given| given.sent.unwrap_or(0)).min();
            let taken = given.into_iter().chain(named.get(&number).copied()).min();
            let stored = item.stored.filter(|_| judged(item))?;
            let there = given.is_some() || empty < Some(stored);
            let taken = taken.unwrap_or(usize::MAX);
            (there && stored < taken).then_some(ItemStay { number, stored, taken })
        };
        let mut stays: Vec<ItemStay> = match items.hidden_acknowledgement {
            true => Vec::new(),
            false => items.all.iter().filter_map(stay).collect(),
        };
        stays.sort_unstable_by_key(|stay| stay.stored);
        let mut longest = stays.clone();
        for at in 1..longest.len() {
            if longest[at].taken <= longest[at - 1].taken {
                longest[at] = longest[at - 1];
            }
        }
        let spells = spells(&stays, &takers);
        let last = run.events.len().saturating_sub(1);
        let lasts = |&(from, until): &(usize, usize)| run.time(until.min(last)).saturating_sub(run.time(from));
        Self {
            long: spells.iter().copied().filter(|spell| lasts(spell) >= least).collect(),
            spells,
            stays,
            longest,
            takers,
        }
    }

    /// Whether an item certainly lay there when an event was recorded.
    pub fn any(&self, at: usize) -> bool {
        let next = self.spells.partition_point(|&(_, until)| until <= at);
        self.spells.get(next).is_some_and(|&(from, _)| from <= at)
    }

    /// From where on items lay there for `least` nanoseconds or longer without a break, between two events, and for how
    /// long; `None` if they did not. `least` is that of [`Self::new`].
    pub fn lasting(&self, run: &Analysis<'_>, (from, until): (usize, usize), least: u64) -> Option<(usize, u64)> {
        let first = self.long.partition_point(|&(_, end)| end <= from);
        // All but the first and the last of them lie within.
        let within = self.long[first..].iter().take_while(|&&(begin, _)| begin < until);
        let lasts = |&(begin, end): &(usize, usize)| {
            let since = begin.max(from);
            (since, run.time(end.min(until)).saturating_sub(run.time(since)))
        };
        within.map(lasts).find(|&(_, lasted)| lasted >= least)
    }

    /// Items that show, from an event on and until another, that some lay there: of those that did the first ones, one
    /// more than dequeues may have taken by then. And how many were looked at for them.
    pub fn shown(&self, (from, until): (usize, usize)) -> (Vec<ItemStay>, usize) {
        let takers = self.takers(until);
        if takers == 0 {
            let before = self.stays.partition_point(|stay| stay.stored <= from);
            return (
                before
                    .checked_sub(1)
                    .map(|last| self.longest[last])
                    .into_iter()
                    .collect(),
                1,
            );
        }
        let looked_at = self.stays.partition_point(|stay| stay.stored < until);
        let there = self.stays[..looked_at].iter().filter(|stay| stay.taken > from);
        (there.take(takers + 1).copied().collect(), looked_at)
    }

    /// How many dequeues that may have taken any item were sent before an event.
    pub fn takers(&self, at: usize) -> usize {
        self.takers.partition_point(|&sent| sent < at)
    }
}

/// Whether what is known of an item is all certain, and its life was not over.
fn judged(item: &QueueItem<'_>) -> bool {
    !item.disputed && item.consumed.is_empty() && !item.maybe_consumed
}

/// The last dequeue that found the queue empty, by where it was sent; where that is not known, by its answer.
fn found_empty(run: &Analysis<'_>) -> Option<usize> {
    let dequeues = run.ops.work.iter().filter(|op| op.f == f::DEQUEUE);
    let empty = dequeues.filter_map(|op| {
        let read = op.end.filter(|_| outcome(run, op) == Some(EventType::Ok))?;
        (told(run, read) == Some(ItemField::Nothing)).then(|| op.sent().unwrap_or(read))
    });
    empty.max()
}

/// By item where the first dequeue was sent that named it, and did not fail; 0 where that is not known. One that named
/// something that cannot be read may have taken any item.
fn named(run: &Analysis<'_>, takers: &mut Vec<usize>) -> HashMap<i64, usize> {
    let mut dequeues: HashMap<&str, Vec<&Op<'_>>> = HashMap::new();
    for op in run.ops.work.iter().filter(|op| op.f == f::DEQUEUE) {
        dequeues.entry(op.node).or_default().push(op);
    }
    let mut named: HashMap<i64, usize> = HashMap::new();
    let notices = run.events.iter().enumerate().filter(|(_, event)| event.f == "taking");
    for (at, event, client) in notices.filter_map(|(at, event)| Some((at, event, ops::named_client(event)?))) {
        let own = dequeues.get(client).map_or(&[][..], Vec::as_slice);
        let last = own.partition_point(|op| op.invoke.or(op.end).unwrap_or(0) < at);
        let last = last.checked_sub(1).map(|last| own[last]);
        if last.is_some_and(|op| op.failed(run.events).is_some_and(|end| at < end)) {
            continue;
        }
        let sent = last.and_then(Op::sent).unwrap_or(0);
        match event.item() {
            Some(number) => {
                let first = named.entry(number).or_insert(sent);
                *first = sent.min(*first);
            }
            None => takers.push(sent),
        }
    }
    named
}

/// From where to where more items lay in the queue than dequeues may have taken.
fn spells(stays: &[ItemStay], takers: &[usize]) -> Vec<(usize, usize)> {
    // An item comes, or is taken or may have been.
    let mut changes: Vec<(usize, bool)> = stays.iter().map(|stay| (stay.stored, true)).collect();
    changes.extend(stays.iter().map(|stay| (stay.taken, false)));
    changes.extend(takers.iter().map(|&sent| (sent, false)));
    changes.sort_unstable();
    let (mut spells, mut since, mut certain) = (Vec::new(), None, 0_i64);
    for together in changes.chunk_by(|one, other| one.0 == other.0) {
        let at = together[0].0;
        certain += together
            .iter()
            .map(|&(_, comes)| if comes { 1 } else { -1 })
            .sum::<i64>();
        match (since, certain > 0) {
            (None, true) => since = Some(at),
            (Some(from), false) => {
                spells.push((from, at));
                since = None;
            }
            _ => {}
        }
    }
    spells.extend(since.map(|from| (from, usize::MAX)));
    spells
}
