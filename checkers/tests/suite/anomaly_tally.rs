//! Random histories: how many of them had which anomaly, and the windows in them that are healed or not.

use crate::script::{audited, number};
use fastrand::Rng;
use std::collections::BTreeMap;
use zooquake_history::{Event, EventType, Process, Record, evidence::Znode};

/// How many histories had each anomaly, or were of some other sort.
pub type AnomalyCounts = BTreeMap<String, u64>;

pub fn count(counts: &mut AnomalyCounts, sort: &str, is: bool) {
    *counts.entry(sort.to_owned()).or_default() += u64::from(is);
}

/// How many histories of a family are drawn unless `ZOOQUAKE_HISTORIES` sets another number.
const USUAL: u64 = 10_000;

/// Judges histories of the seeds from 0 on; gives how many these were.
pub fn drawn(agree: impl Fn(u64, &mut AnomalyCounts)) -> (u64, AnomalyCounts) {
    let all = crate::histories(USUAL);
    let mut counts = AnomalyCounts::new();
    (0..all).for_each(|seed| agree(seed, &mut counts));
    (all, counts)
}

/// Wants each sort in more than one of so many histories, and in fewer than four of five.
pub fn spread(one_of: u64, (all, counts): (u64, AnomalyCounts)) {
    for (sort, with) in &counts {
        let fits = all / one_of < *with && *with < all * 4 / 5;
        assert!(fits, "{sort} in {with} of {all}: {counts:?}");
    }
}

/// Loses some events of numbered processes, now one for each of these operations; an unknown end without its request
/// would prove nothing.
pub fn thinned(random: &mut Rng, events: &mut Vec<Event>, ops: &[u64]) {
    let named = |event: &Event| matches!(event.process, Process::Name(_));
    for (event, &op) in events.iter_mut().zip(ops).filter(|(event, _)| !named(event)) {
        event.process = Process::Number(op);
    }
    events.retain(|event| named(event) || event.kind == EventType::Info || random.u32(0..100) < 85);
    let left: Vec<Process> = events.iter().map(|event| event.process.clone()).collect();
    let alone = |event: &Event| left.iter().filter(|process| **process == event.process).count() == 1;
    events.retain(|event| named(event) || event.kind != EventType::Info || !alone(event));
    number(events);
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

/// The events of a window: phases, and whether each was verified; none in half of the worlds.
pub fn phases(random: &mut Rng) -> &'static [(&'static str, bool)] {
    match random.u32(..20) {
        0..3 => &[("begin", true), ("on", true), ("off", true)],
        3..5 => &[("begin", true), ("skipped", true)],
        5..7 => &[("begin", true), ("off", false), ("off", true)],
        7 => &[("begin", true), ("on", true), ("off", false)],
        8 => &[("begin", true), ("on", true)],
        9 => &[("begin", true)],
        _ => &[],
    }
}
