//! The checker agrees with the definition on random runs.

use super::definition::{DivergingPair, diverging};
use super::simulated_logs;
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect;
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Verdict, check};

/// The replicas and the offset that a text is about.
fn pair(anomaly: &Anomaly) -> DivergingPair {
    let words: Vec<&str> = anomaly.why.split(' ').collect();
    let mut names = words.iter().filter(|word| word.starts_with("replica"));
    let mut next = || (*names.next().expect("a replica")).to_owned();
    let offset = words.iter().position(|word| *word == "offset").expect("an offset");
    let offset = words[offset + 1].trim_end_matches(',');
    (next(), next(), offset.parse().expect("a number"))
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_logs::record(seed);
    let results = check(&record);
    let found: Vec<DivergingPair> = expect::of_kind(&results, "diverging-replicas")
        .into_iter()
        .map(pair)
        .collect();
    let expected = diverging(&record);
    let offsets = found.iter().all(|pair| expected.contains(pair));
    assert!(offsets, "seed {seed}: {found:?} of {expected:?}");
    let pairs = |all: &mut dyn Iterator<Item = &DivergingPair>| -> BTreeSet<(String, String)> {
        all.map(|(one, other, _)| (one.clone(), other.clone())).collect()
    };
    let convicted = pairs(&mut found.iter());
    assert_eq!(convicted, pairs(&mut expected.iter()), "seed {seed}");
    assert_eq!(convicted.len(), found.len(), "seed {seed}: each two replicas once");
    let wrong = !results.anomalies.is_empty();
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    count(counts, "diverging-replicas", !found.is_empty());
    count(counts, "several pairs", found.len() > 1);
    let below = |why: &str| why.contains("before which their logs are to be the same");
    let tails = results.anomalies.iter().filter(|anomaly| below(&anomaly.why)).count();
    count(counts, "below a record of one epoch", tails > 0);
    count(counts, "not judged", !results.not_judged.is_empty());
}

#[test]
fn random_histories() {
    spread(200, drawn(agree));
}
