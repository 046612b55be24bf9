//! The checkers agree with the definitions on random histories, and their witnesses are minimal.

use super::{brute_force, simulated_registers};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{least, minimal, of_kind};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Results, Verdict, check};
use zooquake_history::Record;

/// One history in so many has its witnesses tried.
const TRIED: u64 = 5;

/// Whether the general search stood beside the checkers, with which it has to agree.
fn searched(seed: u64, results: &Results) -> bool {
    let differ = |reason: &&String| reason.starts_with("two checkers disagree");
    assert_eq!(results.reasons.iter().find(differ), None, "seed {seed}");
    let search = results.checkers.get("second-opinion");
    search.is_some_and(|checker| checker["looked_at"] != 0)
}

/// Whether the tree holds what nobody sent, which only the history could prove.
fn made_up(results: &Results) -> bool {
    let tree = |reason: &String| reason.starts_with("evidence disagrees: The reading of the znode tree");
    results.reasons.iter().any(tree)
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_registers::record(seed);
    let results = check(&record);
    let linear = of_kind(&results, "not-linearizable").is_empty() && !made_up(&results);
    let events = &record.history.events;
    assert_eq!(
        linear,
        brute_force::linearizable(&record),
        "seed {seed}: {results:#?} {events:#?}"
    );
    count(counts, "searched", searched(seed, &results));
    let back: BTreeSet<String> = of_kind(&results, "session-order")
        .iter()
        .map(|anomaly| anomaly.why.split(' ').nth(1).expect("a session").to_owned())
        .collect();
    assert_eq!(back, brute_force::backward(&record), "seed {seed}");
    let stale = of_kind(&results, "stale-read");
    if record.plan.workload.variant == "quorum-read" {
        assert!(stale.is_empty(), "seed {seed}: {stale:#?}");
    } else {
        stale_reads(seed, &record, &results);
    }
    let wrong = results.anomalies.iter().any(|anomaly| !anomaly.advisory);
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    for anomaly in results.anomalies.iter().filter(|_| seed.is_multiple_of(TRIED)) {
        minimal(&least(&record, anomaly), anomaly);
    }
    for (name, found) in [
        ("not-linearizable", !linear),
        ("session-order", !back.is_empty()),
        ("stale-read", !stale.is_empty()),
    ] {
        count(counts, name, found);
    }
}

fn stale_reads(seed: u64, record: &Record, results: &Results) {
    let expected = brute_force::stale(record);
    assert_eq!(results.stats["stale_reads"], expected.len(), "seed {seed}");
    let worst = |anomaly: &&Anomaly| -> usize {
        let words: Vec<&str> = anomaly.why.split(' ').collect();
        let at = words
            .windows(3)
            .position(|words| matches!(words, ["acknowledged", "write" | "writes", "behind."]));
        words[at.expect("it says so") - 1].parse().expect("a number")
    };
    let told: Option<usize> = of_kind(results, "stale-read").iter().map(worst).max();
    assert_eq!(told, expected.iter().map(|&(_, missed)| missed).max(), "seed {seed}");
}

#[test]
fn random_histories() {
    let (all, mut counts) = drawn(agree);
    assert!(counts.remove("searched") > Some(all * 4 / 5));
    spread(100, (all, counts));
}

/// Too long for the brute force, which is why the general search stands in for it.
#[test]
fn longer_histories_agree_with_the_general_search() {
    let (mut fits, mut searches) = (0, 0);
    for seed in 0..4000 {
        let results = check(&simulated_registers::history_of_at_most(2_000_000 + seed, 50));
        searches += u64::from(searched(seed, &results));
        fits += u64::from(of_kind(&results, "not-linearizable").is_empty());
    }
    assert!(searches > 2000 && (400..3600).contains(&fits), "{searches} {fits}");
}
