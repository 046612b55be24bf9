//! The checkers agree with the brute force on random histories.

use super::{blocked_definition, brute_force, simulated_commits};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect;
use crate::minimal_witnesses::varied_histories;
use std::collections::BTreeSet;
use zooquake_checkers::{Results, Verdict, check};
use zooquake_history::{EventType, Record};

/// A definition: whether a transaction has the anomaly.
pub type Definition = fn(&Record, &str) -> bool;

pub const KINDS: [(&str, Definition); 6] = [
    ("split-decision", brute_force::split),
    ("decision-flip", brute_force::flip),
    ("commit-without-votes", brute_force::unjustified),
    ("wrong-outcome", brute_force::wrong),
    ("needless-abort", brute_force::needless),
    ("blocked-transaction", blocked_definition::blocked),
];

/// The transactions that have an anomaly of this kind.
fn transactions_with<'a>(results: &'a Results, kind: &str) -> BTreeSet<&'a str> {
    let found = expect::of_kind(results, kind).into_iter();
    found.map(|anomaly| transaction(&anomaly.why)).collect()
}

/// The transaction that a text is about.
pub fn transaction(why: &str) -> &str {
    let words = why.split(|letter: char| !letter.is_alphanumeric());
    let mut names = words.filter(|word| word.strip_prefix('t').is_some_and(|rest| rest.parse::<u32>().is_ok()));
    names.next().expect("a transaction")
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_commits::record(seed);
    let record = match seed % 4 {
        0 => varied_histories::refused(&mut fastrand::Rng::with_seed(seed), record, EventType::Info),
        _ => record,
    };
    let results = check(&record);
    let names = brute_force::names(&record);
    for (kind, definition) in KINDS {
        let expected: BTreeSet<&str> = names.iter().copied().filter(|tx| definition(&record, tx)).collect();
        let found = transactions_with(&results, kind);
        assert_eq!(found, expected, "seed {seed}: {kind}");
        count(counts, kind, !found.is_empty());
    }
    for tx in names {
        let found = KINDS[..4]
            .iter()
            .any(|(kind, _)| transactions_with(&results, kind).contains(tx));
        assert_eq!(found, !brute_force::explained(&record, tx), "seed {seed}: {tx}");
    }
    let wrong = !results.anomalies.is_empty();
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    count(counts, "any", wrong);
}

#[test]
fn random_histories() {
    spread(200, drawn(agree));
}
