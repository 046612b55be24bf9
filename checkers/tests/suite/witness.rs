//! A witness convicts by itself, and no event of it can be left out.

use crate::{election, world};
use std::collections::{BTreeSet, HashMap};
use zooquake_checkers::history::{Event, EventType, Process};
use zooquake_checkers::{Anomaly, Record, check};

/// The record with only some of its events, under new indexes; the readings of the tree keep their places among them. Each
/// operation has a process of its own, so that what is left of a process pairs.
pub fn only(record: &Record, keep: &BTreeSet<usize>) -> Record {
    let mut small = record.clone();
    apart(&mut small.history.events);
    small.history.events.retain(|event| keep.contains(&event.index));
    for (index, event) in small.history.events.iter_mut().enumerate() {
        event.index = index;
    }
    for reading in small.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        reading.index = keep.range(..reading.index).count();
        reading.end_index = keep.range(..reading.end_index).count();
    }
    small
}

/// Gives each operation of a numbered process a process of its own.
fn apart(events: &mut [Event]) {
    let mut open: HashMap<Process, (Process, String)> = HashMap::new();
    for event in events {
        if let Process::Name(_) = event.process {
            continue;
        }
        let asked = open.remove(&event.process);
        let own = asked.filter(|(_, f)| event.kind != EventType::Invoke && *f == event.f);
        let own = own.map_or_else(|| Process::Number(event.index as u64), |(own, _)| own);
        let process = std::mem::replace(&mut event.process, own.clone());
        if event.kind == EventType::Invoke {
            open.insert(process, (own, event.f.clone()));
        }
    }
}

/// Whether a record has this anomaly: one of its name, and of an orphan the same znode, since one answer of a client may
/// prove several.
fn convicts(record: &Record, anomaly: &Anomaly) -> bool {
    let znode =
        |anomaly: &Anomaly| (anomaly.kind == "orphan-node").then(|| anomaly.why.split(' ').nth(2).map(str::to_owned));
    check(record)
        .anomalies
        .iter()
        .any(|other| other.kind == anomaly.kind && znode(other) == znode(anomaly))
}

#[test]
fn every_witness_is_enough_and_minimal() {
    let mut looked_at = 0;
    let locks = (1_000_000..1_004_000).map(|seed| (seed, world::record(seed)));
    let elections = (3_000_000..3_002_000).map(|seed| (seed, election::retold(&election::acknowledged(seed))));
    for (seed, whole) in locks.chain(elections) {
        for anomaly in check(&whole).anomalies {
            looked_at += 1;
            let mut record = whole.clone();
            if !anomaly.why.contains("transaction log") {
                // What the history tells is not told again by the log.
                record.txnlog = None;
            }
            let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
            assert!(
                convicts(&only(&record, &witness), &anomaly),
                "seed {seed}: {anomaly:#?} needs more"
            );
            for event in &witness {
                let mut less = witness.clone();
                less.remove(event);
                let still = convicts(&only(&record, &less), &anomaly);
                assert!(!still, "seed {seed}: {anomaly:#?} does not need {event}");
            }
        }
    }
    assert!(looked_at > 2000, "{looked_at}");
}

/// Without an event of the witness the anomaly is gone from the whole history too, or it is another one.
#[test]
fn a_history_without_an_event_of_the_witness_has_another_anomaly_or_none() {
    for seed in 2_000_000..2_001_000 {
        let record = world::record(seed);
        for anomaly in check(&record).anomalies {
            for &event in &anomaly.witness {
                let keep: BTreeSet<usize> = (0..record.history.events.len()).filter(|&at| at != event).collect();
                let back: Vec<usize> = keep.iter().copied().collect();
                let same = check(&only(&record, &keep)).anomalies.iter().any(|other| {
                    let witness: Vec<usize> = other.witness.iter().map(|&at| back[at]).collect();
                    other.kind == anomaly.kind && witness == anomaly.witness
                });
                assert!(!same, "seed {seed}: {anomaly:#?} without {event}");
            }
        }
    }
}
