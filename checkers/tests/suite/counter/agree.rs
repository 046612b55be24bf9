//! The checkers agree with the definitions on a hundred thousand random histories, and find something exactly where no order
//! of the increments fits.

use super::{brute, world};
use crate::queue::told::minimal_as;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::{Anomaly, Record, Results, Verdict, check};

/// Histories in each of the tests below, which share the work so that they can run side by side.
fn each() -> u64 {
    crate::histories(100_000).div_ceil(4)
}

/// One history in so many has its witnesses tried.
const TRIED: u64 = 10;

fn of<'a>(results: &'a Results, kind: &str) -> Vec<&'a Anomaly> {
    results
        .anomalies
        .iter()
        .filter(|anomaly| anomaly.kind == kind)
        .collect()
}

fn id(record: &Record, anomaly: &Anomaly) -> i64 {
    let ids: BTreeSet<Option<i64>> = anomaly
        .witness
        .iter()
        .map(|&at| record.history.events[at].id())
        .collect();
    assert_eq!(ids.len(), 1, "{anomaly:#?}");
    ids.into_iter().flatten().next().expect("an id")
}

fn agree(seed: u64, counts: &mut BTreeMap<&'static str, u64>) {
    let record = world::record(seed);
    let results = check(&record);
    let what = || format!("seed {seed}: {results:#?}\n{}", crate::spoilt::lines(&record));
    let duplicates = of(&results, "duplicate-id");
    let ids: BTreeSet<i64> = duplicates.iter().map(|found| id(&record, found)).collect();
    assert_eq!(ids, brute::duplicates(&record), "{}", what());
    assert_eq!(ids.len(), duplicates.len(), "{}", what());
    let lost = of(&results, "lost-increment");
    let few = |found: &&&Anomaly| found.why.starts_with("At the end");
    let from: BTreeSet<usize> = lost
        .iter()
        .filter(|found| !few(found))
        .map(|found| found.witness[0])
        .collect();
    assert_eq!(
        (from, lost.iter().any(|found| few(&found))),
        brute::lost(&record),
        "{}",
        what()
    );
    let phantoms = of(&results, "phantom-increment");
    let mut known: Vec<Option<usize>> = phantoms.iter().map(|found| found.witness.first().copied()).collect();
    let told = |(at, tree): (usize, bool)| (!tree).then_some(at);
    let mut wanted: Vec<Option<usize>> = brute::phantoms(&record).into_iter().map(told).collect();
    known.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(known, wanted, "{}", what());
    assert_eq!(results.anomalies.is_empty(), brute::fits(&record), "{}", what());
    assert_eq!(
        results.verdict == Verdict::Invalid,
        !results.anomalies.is_empty(),
        "{}",
        what()
    );
    if seed.is_multiple_of(TRIED) {
        for anomaly in &results.anomalies {
            witness(&record, anomaly);
        }
    }
    for (name, found) in [
        ("duplicate-id", !ids.is_empty()),
        ("lost-increment", !lost.is_empty()),
        ("phantom-increment", !phantoms.is_empty()),
        ("none", results.anomalies.is_empty()),
    ] {
        *counts.entry(name).or_default() += u64::from(found);
    }
}

/// Without a reading of the tree that says nothing of its own, the witness is minimal.
fn witness(record: &Record, anomaly: &Anomaly) {
    let same = |other: &Anomaly| other.kind == anomaly.kind && other.witness == anomaly.witness;
    let mut least = record.clone();
    let readings = record.tree.as_ref().map_or(0, |tree| tree.readings.len());
    for without in (0..readings).rev() {
        let mut fewer = least.clone();
        fewer.tree = fewer.tree.map(|mut tree| {
            tree.readings.remove(without);
            tree
        });
        if check(&fewer).anomalies.iter().any(same) {
            least = fewer;
        }
    }
    minimal_as(&least, anomaly, |other| other.kind == anomaly.kind);
}

fn share(number: u64) {
    let each = each();
    let mut counts = BTreeMap::new();
    for seed in number * each..(number + 1) * each {
        agree(seed, &mut counts);
    }
    for (kind, with) in &counts {
        assert!(
            each / 100 < *with && *with < each * 4 / 5,
            "{kind} in {with} of {each}: {counts:?}"
        );
    }
}

quarters!();
