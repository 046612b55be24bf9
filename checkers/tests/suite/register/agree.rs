//! The checkers agree with the definitions on a hundred thousand random histories, and their witnesses are minimal.

use super::{brute, told, world};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::{Anomaly, Record, Results, Verdict, check};

/// Histories in each of the tests below, which share the work so that they can run side by side.
fn each() -> u64 {
    crate::histories(100_000).div_ceil(4)
}

/// One history in so many has its witnesses tried.
const TRIED: u64 = 5;

fn of<'a>(results: &'a Results, kind: &str) -> Vec<&'a Anomaly> {
    results
        .anomalies
        .iter()
        .filter(|anomaly| anomaly.kind == kind)
        .collect()
}

/// Whether the tree holds what nobody sent, which only the history could prove.
fn made_up(results: &Results) -> bool {
    let tree = |reason: &String| reason.starts_with("evidence disagrees: The reading of the znode tree");
    results.reasons.iter().any(tree)
}

fn agree(seed: u64, counts: &mut BTreeMap<&'static str, u64>) {
    let record = world::record(seed);
    let results = check(&record);
    let linear = of(&results, "not-linearizable").is_empty() && !made_up(&results);
    assert_eq!(
        linear,
        brute::linearizable(&record),
        "seed {seed}: {results:#?} {:#?}",
        record.history.events
    );
    let differ = |reason: &&String| reason.starts_with("two checkers disagree");
    assert_eq!(results.reasons.iter().find(differ), None, "seed {seed}");
    let searched = results
        .checkers
        .get("second-opinion")
        .is_some_and(|checker| checker["looked_at"] != 0);
    *counts.entry("searched").or_default() += u64::from(searched);
    let back: BTreeSet<String> = of(&results, "session-order")
        .iter()
        .map(|anomaly| anomaly.why.split(' ').nth(1).expect("a session").to_owned())
        .collect();
    assert_eq!(back, brute::backward(&record), "seed {seed}");
    let stale = of(&results, "stale-read");
    if record.plan.workload.variant == "quorum-read" {
        assert!(stale.is_empty(), "seed {seed}: {stale:#?}");
    } else {
        stale_reads(seed, &record, &results);
    }
    let wrong = results.anomalies.iter().any(|anomaly| !anomaly.advisory);
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    for anomaly in &results.anomalies {
        if seed.is_multiple_of(TRIED) {
            minimal(&record, &results, anomaly);
        }
    }
    for (name, found) in [
        ("not-linearizable", !linear),
        ("session-order", !back.is_empty()),
        ("stale-read", !stale.is_empty()),
    ] {
        *counts.entry(name).or_default() += u64::from(found);
    }
}

fn stale_reads(seed: u64, record: &Record, results: &Results) {
    let expected = brute::stale(record);
    assert_eq!(results.stats["stale_reads"], expected.len(), "seed {seed}");
    let worst = |anomaly: &&Anomaly| -> usize {
        let words: Vec<&str> = anomaly.why.split(' ').collect();
        let at = words
            .windows(3)
            .position(|words| matches!(words, ["acknowledged", "write" | "writes", "behind."]));
        words[at.expect("it says so") - 1].parse().expect("a number")
    };
    let told: Option<usize> = of(results, "stale-read").iter().map(worst).max();
    assert_eq!(told, expected.iter().map(|&(_, missed)| missed).max(), "seed {seed}");
}

/// What the history and one reading of the tree say is not said again by another reading.
fn minimal(record: &Record, results: &Results, anomaly: &Anomaly) {
    let same = |other: &Anomaly| other.property == anomaly.property && other.witness == anomaly.witness;
    assert!(results.anomalies.iter().any(same));
    let mut least = record.clone();
    let readings = record.tree.as_ref().map_or(0, |tree| tree.readings.len());
    for without in (0..readings).rev() {
        let mut fewer = least.clone();
        fewer.tree = fewer.tree.filter(|tree| tree.readings.len() > 1).map(|mut tree| {
            tree.readings.remove(without);
            tree
        });
        if check(&fewer).anomalies.iter().any(same) {
            least = fewer;
        }
    }
    told::minimal(&least, anomaly);
}

fn share(number: u64) {
    let each = each();
    let mut counts = BTreeMap::new();
    for seed in number * each..(number + 1) * each {
        agree(seed, &mut counts);
    }
    assert!(counts.remove("searched") > Some(each * 4 / 5));
    for (kind, with) in &counts {
        assert!(
            each / 100 < *with && *with < each * 4 / 5,
            "{kind} in {with} of {each}: {counts:?}"
        );
    }
}

quarters!();

/// Too long for the brute force, which is why the general search stands in for it.
#[test]
fn longer_histories_agree_with_the_general_search() {
    let (mut fits, mut searched) = (0, 0);
    for seed in 0..4000 {
        let record = world::of(2_000_000 + seed, 50);
        let results = check(&record);
        let differ = |reason: &&String| reason.starts_with("two checkers disagree");
        assert_eq!(results.reasons.iter().find(differ), None, "seed {seed}");
        searched += u64::from(results.checkers["second-opinion"]["looked_at"] != 0);
        fits += u64::from(of(&results, "not-linearizable").is_empty());
    }
    assert!(searched > 2000 && (400..3600).contains(&fits), "{searched} {fits}");
}
