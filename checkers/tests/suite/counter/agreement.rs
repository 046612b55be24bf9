//! The checkers agree with the definitions on random histories, and find something exactly where no order
//! of the increments fits.

use super::{brute_force, simulated_counters};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{least, minimal, of_kind};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Verdict, check};
use zooquake_history::Record;

/// One history in so many has its witnesses tried.
const TRIED: u64 = 10;

fn id(record: &Record, anomaly: &Anomaly) -> i64 {
    let of_event = |&at: &usize| record.history.events[at].id();
    let ids: BTreeSet<Option<i64>> = anomaly.witness.iter().map(of_event).collect();
    assert_eq!(ids.len(), 1, "{anomaly:#?}");
    ids.into_iter().flatten().next().expect("an id")
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_counters::record(seed);
    let results = check(&record);
    let what = || {
        format!(
            "seed {seed}: {results:#?}\n{}",
            crate::doubtful_evidence::lines(&record)
        )
    };
    let duplicates = of_kind(&results, "duplicate-id");
    let ids: BTreeSet<i64> = duplicates.iter().map(|found| id(&record, found)).collect();
    assert_eq!(ids, brute_force::duplicates(&record), "{}", what());
    assert_eq!(ids.len(), duplicates.len(), "{}", what());
    let lost = of_kind(&results, "lost-increment");
    let few = |found: &&&Anomaly| found.why.starts_with("At the end");
    let (few, less): (Vec<&Anomaly>, Vec<&Anomaly>) = lost.iter().partition(few);
    let from: BTreeSet<usize> = less.iter().map(|found| found.witness[0]).collect();
    assert_eq!((from, !few.is_empty()), brute_force::lost(&record), "{}", what());
    let phantoms = of_kind(&results, "phantom-increment");
    let mut known: Vec<Option<usize>> = phantoms.iter().map(|found| found.witness.first().copied()).collect();
    let told = |(at, tree): (usize, bool)| (!tree).then_some(at);
    let mut wanted: Vec<Option<usize>> = brute_force::phantoms(&record).into_iter().map(told).collect();
    known.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(known, wanted, "{}", what());
    assert_eq!(results.anomalies.is_empty(), brute_force::fits(&record), "{}", what());
    let wrong = !results.anomalies.is_empty();
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "{}", what());
    for anomaly in results.anomalies.iter().filter(|_| seed.is_multiple_of(TRIED)) {
        minimal(&least(&record, anomaly), anomaly);
    }
    for (name, found) in [
        ("duplicate-id", !ids.is_empty()),
        ("lost-increment", !lost.is_empty()),
        ("phantom-increment", !phantoms.is_empty()),
        ("none", !wrong),
    ] {
        count(counts, name, found);
    }
}

#[test]
fn random_histories() {
    spread(100, drawn(agree));
}
