//! A witness convicts by itself, and no event of it can be left out.

use super::agree::transaction;
use super::world;
use crate::witness::only;
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Record, check};

fn convicts(record: &Record, anomaly: &Anomaly) -> bool {
    let same = |other: &Anomaly| other.kind == anomaly.kind && transaction(&other.why) == transaction(&anomaly.why);
    check(record).anomalies.iter().any(same)
}

#[test]
fn every_witness_is_enough_and_minimal() {
    let mut looked_at = 0;
    for seed in 1_000_000..1_006_000 {
        let whole = world::record(seed);
        for anomaly in check(&whole).anomalies {
            looked_at += 1;
            let mut record = whole.clone();
            if anomaly.kind != "blocked-transaction" && !anomaly.why.contains("decision znode") {
                // What the history tells is not told again by the tree.
                record.tree = None;
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
