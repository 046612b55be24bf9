//! The checkers agree with the definitions on random histories, and their witnesses are minimal.

use super::{
    barrier_definitions, brute_force, gate_definitions, simulated_barriers, simulated_gates, simulated_queues,
};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{minimal, of_kind};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Results, check};
use zooquake_history::{EventType, Record};

/// One history in so many has its witnesses tried.
const TRIED: u64 = 10;

/// A definition: the items that have the anomaly.
pub type Definition = fn(&Record) -> BTreeSet<i64>;

pub const KINDS: [(&str, Definition); 4] = [
    ("lost-item", brute_force::lost),
    ("duplicate-delivery", brute_force::duplicates),
    ("phantom-item", brute_force::phantoms),
    ("reordered", brute_force::overtaken),
];

/// The item that an anomaly is about, which the last event with an item of its witness names.
pub fn item(record: &Record, anomaly: &Anomaly) -> i64 {
    let item = |at: &usize| record.history.events[*at].item();
    anomaly.witness.iter().rev().find_map(item).expect("an item")
}

/// The items that anomalies of a kind are about.
fn items(record: &Record, results: &Results, kind: &str) -> BTreeSet<i64> {
    let found = of_kind(results, kind);
    let items: BTreeSet<i64> = found.iter().map(|anomaly| item(record, anomaly)).collect();
    assert_eq!(items.len(), found.len());
    items
}

fn queue(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_queues::items(seed);
    let results = check(&record);
    for (kind, definition) in KINDS {
        let wanted = definition(&record);
        assert_eq!(items(&record, &results, kind), wanted, "seed {seed}: {kind}");
        count(counts, kind, !wanted.is_empty());
    }
    witnesses(seed, &record, &results);
}

fn barrier(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_barriers::rounds(seed);
    let events = &record.history.events;
    let results = check(&record);
    let early = of_kind(&results, "early-release");
    let answer = |anomaly: &&Anomaly| {
        let ok = |at: &&usize| events[**at].value.get("members").is_none() && events[**at].kind == EventType::Ok;
        let leave = anomaly.witness.iter().any(|&at| events[at].f == "leave");
        let of = |at: &&usize| (events[**at].f == "leave") == leave;
        anomaly.witness.iter().filter(ok).find(of).copied().expect("an answer")
    };
    let found: BTreeSet<usize> = early.iter().map(answer).collect();
    assert_eq!(found, barrier_definitions::early(&record), "seed {seed}");
    count(counts, "early-release", !found.is_empty());
    for (leaves, mut wanted) in [
        (false, barrier_definitions::stuck(&record)),
        (true, barrier_definitions::stuck_leaves(&record)),
    ] {
        let name = |anomaly: &&Anomaly| {
            let words: Vec<&str> = anomaly.why.split(' ').collect();
            (
                words[0].to_owned(),
                words[5 + usize::from(leaves)].parse().expect("a round"),
            )
        };
        let leave = |anomaly: &&&Anomaly| anomaly.why.contains(" was sent to leave round ") == leaves;
        let stuck = of_kind(&results, "stuck-barrier");
        let mut found: Vec<(String, i64)> = stuck.iter().filter(leave).map(name).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "seed {seed}");
        count(
            counts,
            if leaves { "stuck leaves" } else { "stuck-barrier" },
            !found.is_empty(),
        );
    }
    witnesses(seed, &record, &results);
}

fn gate(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_gates::rounds(seed);
    let events = &record.history.events;
    let results = check(&record);
    let answer = |anomaly: &&Anomaly| {
        let of = |at: &&usize| events[**at].f == "wait" && events[**at].kind == EventType::Ok;
        anomaly.witness.iter().find(of).copied().expect("an answer")
    };
    let early = of_kind(&results, "early-release");
    let found: BTreeSet<usize> = early.iter().map(answer).collect();
    assert_eq!(found, gate_definitions::early(&record), "seed {seed}");
    count(counts, "passed a gate", !found.is_empty());
    let stuck = of_kind(&results, "stuck-barrier");
    let words = stuck.iter().map(|anomaly| anomaly.why.split(' ').collect::<Vec<_>>());
    let found = words.map(|words| (words[0].to_owned(), words[5].parse().expect("a round")));
    let found: BTreeSet<(String, i64)> = found.collect();
    assert_eq!(found, gate_definitions::stuck(&record), "seed {seed}");
    count(counts, "stuck at a gate", !found.is_empty());
    witnesses(seed, &record, &results);
}

fn witnesses(seed: u64, record: &Record, results: &Results) {
    let tried = results.anomalies.iter().filter(|_| seed.is_multiple_of(TRIED));
    tried.for_each(|anomaly| minimal(record, anomaly));
}

#[test]
fn random_histories() {
    let both = |seed, counts: &mut AnomalyCounts| {
        queue(seed, counts);
        barrier(seed, counts);
        gate(seed, counts);
    };
    spread(100, drawn(both));
}
