//! Random histories, and how many of them had which anomaly.

use crate::script::audited;
use fastrand::Rng;
use std::collections::BTreeMap;
use zooquake_checkers::evidence::Znode;
use zooquake_checkers::{Event, EventType, Process, Record};

/// How many histories had each anomaly, or were of some other sort.
pub type Counts = BTreeMap<String, u64>;

pub fn count(counts: &mut Counts, sort: &str, is: bool) {
    *counts.entry(sort.to_owned()).or_default() += u64::from(is);
}

/// How many histories of a family are drawn if nothing else is said.
const USUAL: u64 = 10_000;

/// Judges histories of the seeds from 0 on; gives how many these were.
pub fn drawn(agree: impl Fn(u64, &mut Counts)) -> (u64, Counts) {
    let all = crate::histories(USUAL);
    let mut counts = Counts::new();
    (0..all).for_each(|seed| agree(seed, &mut counts));
    (all, counts)
}

/// Wants each sort in more than one of so many histories, and in fewer than four of five.
pub fn spread(one_of: u64, (all, counts): (u64, Counts)) {
    for (sort, with) in &counts {
        let fits = all / one_of < *with && *with < all * 4 / 5;
        assert!(fits, "{sort} in {with} of {all}: {counts:?}");
    }
}

/// Loses some events of numbered processes, now one for each of these operations; an unknown end without its request would tell
/// nothing.
pub fn thinned(random: &mut Rng, events: &mut Vec<Event>, ops: &[u64]) {
    let named = |event: &Event| matches!(event.process, Process::Name(_));
    for (event, &op) in events.iter_mut().zip(ops).filter(|(event, _)| !named(event)) {
        event.process = Process::Number(op);
    }
    events.retain(|event| named(event) || event.kind == EventType::Info || random.u32(0..100) < 85);
    let left: Vec<Process> = events.iter().map(|event| event.process.clone()).collect();
    let alone = |event: &Event| left.iter().filter(|process| **process == event.process).count() == 1;
    events.retain(|event| named(event) || event.kind != EventType::Info || !alone(event));
    (0..).zip(events).for_each(|(index, event)| event.index = index);
}

/// Two readings of the tree, each begun a few events before the end of the history.
pub fn read_late(random: &mut Rng, record: &mut Record, [before, after]: [Vec<Znode>; 2]) {
    let last = record.history.events.len();
    let mut tree = audited(&record.history, before, after);
    for reading in &mut tree.readings {
        (reading.index, reading.end_index) = (last - random.usize(0..=last.min(3)), last);
    }
    record.tree = Some(tree);
}
