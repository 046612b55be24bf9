//! How long what clients wait for takes to reach them, in the terms of each family.

use super::{Op, Outcome, Role, Story, Subject};
use std::collections::HashMap;

/// What is waited for: where the time is taken from and to.
#[derive(Debug)]
pub struct Passage {
    /// The heading of its numbers.
    pub heading: &'static str,
    /// One of them, in a table.
    pub noun: &'static str,
    /// From what to what, in a sentence.
    pub sentence: &'static str,
    find: fn(&Story<'_>) -> Vec<Way>,
}

/// One way of something to the client that waits for it.
#[derive(Debug)]
pub struct Way {
    /// When it set out.
    pub at: u64,
    /// How long it took.
    pub took: u64,
    /// Row of the client that it reached.
    pub to: usize,
    /// What it set out with.
    pub after: &'static str,
    /// Whether a fault was on meanwhile.
    pub faulty: bool,
}

/// The lock, or the lead, from one client to the next.
pub static HANDOVER: Passage = Passage {
    heading: "Handover",
    noun: "handovers",
    sentence: "From the end of a hold to the next client's grant, where that client was waiting already.",
    find: handovers,
};

/// An item from its producer to its first consumer.
pub static DELIVERY: Passage = Passage {
    heading: "From enqueue to delivery",
    noun: "deliveries",
    sentence: "From the answer to an item's enqueue to the first answer that gave it to a client.",
    find: deliveries,
};

/// The opening of a barrier, once the last member was there.
pub static OPENING: Passage = Passage {
    heading: "Opening of the barrier",
    noun: "openings",
    sentence: "From the sending of the last request by which a member arrives to the answer that lets a client in.",
    find: openings,
};

/// A decision on its way to the sites.
pub static DECISION: Passage = Passage {
    heading: "From begin to decision",
    noun: "decisions heard",
    sentence: "From the sending of a transaction's begin to the answer that tells a site its decision.",
    find: decisions,
};

impl Passage {
    /// Those of the run, in the order in which they set out.
    pub fn all(&self, story: &Story<'_>) -> Vec<Way> {
        let mut ways = (self.find)(story);
        ways.sort_by_key(|way| (way.at, way.to));
        ways
    }
}

/// A way from one moment to another; `None` if it ended before it began.
fn way(story: &Story<'_>, (at, until): (u64, u64), to: usize, after: &'static str) -> Option<Way> {
    let took = until.checked_sub(at)?;
    let bands = &story.bands;
    let faulty = bands.iter().any(|b| b.from <= until && b.until.is_none_or(|u| u >= at));
    Some(Way {
        at,
        took,
        to,
        after,
        faulty,
    })
}

/// Operations of one name that were answered, with what they were about and when the answer was read.
fn answered<'s, 'a>(story: &'s Story<'a>, f: &'static str) -> impl Iterator<Item = (&'s Op<'a>, Subject<'a>, u64)> {
    let ops = story.ops.iter();
    let ok = ops.filter(move |op| op.f == f && !op.control && op.outcome == Outcome::Ok);
    ok.filter_map(|op| Some((op, op.subject()?, op.end?)))
}

fn handovers(story: &Story<'_>) -> Vec<Way> {
    let waits = story
        .ops
        .iter()
        .filter(|op| op.role == Role::Wait && op.outcome == Outcome::Ok);
    let asked: HashMap<(usize, Option<u64>), u64> = waits.map(|op| ((op.lane, op.end), op.start)).collect();
    let handover = |pair: &[super::Hold<'_>]| {
        let (before, next) = (&pair[0], &pair[1]);
        let ended = before.until?;
        // If the next holder asked only later, the lock lay idle, and nobody was kept waiting.
        asked
            .get(&(next.lane, Some(next.from)))
            .filter(|start| **start <= ended)?;
        way(story, (ended, next.from), next.lane, before.ended_by)
    };
    story.holds.windows(2).filter_map(handover).collect()
}

fn deliveries(story: &Story<'_>) -> Vec<Way> {
    let mut first: HashMap<Subject<'_>, (u64, usize)> = HashMap::new();
    for (op, item, end) in answered(story, "dequeue") {
        let earliest = first.entry(item).or_insert((end, op.lane));
        *earliest = (*earliest).min((end, op.lane));
    }
    let delivery = |(_, item, enqueued): (&Op<'_>, Subject<'_>, u64)| {
        let (given, to) = *first.get(&item)?;
        way(story, (enqueued, given), to, "its enqueue was answered")
    };
    answered(story, "enqueue").filter_map(delivery).collect()
}

fn openings(story: &Story<'_>) -> Vec<Way> {
    // Where members join, somebody else waits; else they wait themselves.
    let arrives = match story.ops.iter().any(|op| op.f == "join") {
        true => "join",
        false => "enter",
    };
    let mut arrivals: HashMap<Subject<'_>, Vec<u64>> = HashMap::new();
    for op in story.ops.iter().filter(|op| op.f == arrives && !op.control) {
        if let Some(round) = op.subject() {
            arrivals.entry(round).or_default().push(op.start);
        }
    }
    let opening = |(op, round, end): (&Op<'_>, Subject<'_>, u64)| {
        let times = arrivals.get(&round)?;
        // Operations are in the order of their sending.
        let last = times[..times.partition_point(|sent| *sent <= end)].last()?;
        way(story, (*last, end), op.lane, "the last member had set out")
    };
    answered(story, "enter").filter_map(opening).collect()
}

fn decisions(story: &Story<'_>) -> Vec<Way> {
    let begins = story.ops.iter().filter(|op| op.f == "begin" && !op.control);
    let begun: HashMap<Subject<'_>, u64> = begins.filter_map(|op| Some((op.subject()?, op.start))).collect();
    let decision =
        |(op, tx, end): (&Op<'_>, Subject<'_>, u64)| way(story, (*begun.get(&tx)?, end), op.lane, "its begin was sent");
    answered(story, "decided").filter_map(decision).collect()
}
