//! Synthetic comparisons, whose summaries can be computed beforehand.

use super::pool::MeasuredComparison;
use super::*;
use std::collections::BTreeMap;
use zooquake_checkers::sample::{self, Gap};
use zooquake_history::plan::Workload;

/// A run whose hand-overs take about `ms`.
fn ran(subject: usize, faults: usize, seed: u64, ms: f64) -> SubjectRun {
    let gap = |n: usize| Gap {
        window: n,
        fault: "pause".into(),
        ms: Some(2000.0 + n as f64),
        session_timeouts: Some(1.0 + n as f64 / 100.0),
        struck: n.is_multiple_of(2),
    };
    SubjectRun {
        subject,
        faults,
        seed,
        verdict: Some("valid".into()),
        error: None,
        anomalies: vec![],
        not_judged: vec![],
        sample: Some(Sample {
            seconds: 20.0,
            units: 100,
            units_in_all: 110,
            by_client: BTreeMap::from([("c1".into(), 60), ("c2".into(), 40)]),
            waits_ms: (0..60).map(|n| ms + f64::from(n % 10) / 10.0).collect(),
            gaps: if faults == 0 { vec![] } else { (0..4).map(gap).collect() },
            requests: (faults == 0).then_some(440),
            watch_events: (faults == 0).then_some(110),
            transactions: Some(220),
        }),
        run: Some(format!("runs/r{subject}-{faults}-{seed}")),
    }
}

fn seen(kind: &str, accepted: bool) -> AnomalyCount {
    AnomalyCount {
        kind: kind.into(),
        property: "mutual exclusion".into(),
        advisory: false,
        accepted,
        count: 3,
        why: "because <b>".into(),
        cause: String::new(),
        cause_proven: false,
        root: None,
    }
}

/// Three locks under no faults and under pauses, twice each; the first one breaks.
fn comparison() -> Comparison {
    let subject = |label: &str| ComparedSubject {
        label: label.into(),
        variant: format!("lock/{label}"),
        promise: "a <promise>".into(),
    };
    let mut runs = Vec::new();
    for (n, ms) in [2.0, 2.05, 9.0].into_iter().enumerate() {
        runs.extend([(0, 1), (0, 2), (1, 1), (1, 2)].map(|(faults, seed)| ran(n, faults, seed, ms)));
    }
    runs[2].anomalies.push(seen("stale-write", true));
    runs[2].verdict = Some("invalid".into());
    Comparison {
        family: "lock".into(),
        begun: "2026-11-20T22:00:00Z".into(),
        subjects: ["predecessor", "protected", "fenced"].map(subject).into(),
        faults: ["none", "pause"].map(String::from).into(),
        planned: 12,
        virtual_time: false,
        runs,
        settings: vec![("time".into(), "20 s".into())],
        kind: sample::measures(&Workload {
            family: "lock".into(),
            ..Workload::default()
        })
        .expect("a family that is measured"),
    }
}

fn line<'a>(lines: &'a [String], start: &str) -> &'a str {
    lines
        .iter()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no line begins with {start:?}: {lines:#?}"))
}

/// The clock of simulated ensembles is the model's: no speed is claimed of them, in words, figures or table.
#[test]
fn simulated_ensembles_are_not_compared_by_their_speed() {
    let real = comparison();
    let simulated = Comparison {
        virtual_time: true,
        ..comparison()
    };
    let timed = |lines: &[String]| {
        lines
            .iter()
            .filter(|line| line.contains(" ms") || line.contains("a second"))
            .count()
    };
    assert!(timed(&summary(&real)) > 0);
    let words = summary(&simulated);
    assert_eq!(timed(&words), 0, "{words:#?}");
    line(&words, "The ensembles were simulated");
    line(&words, "ZooKeeper requests for each grant");
    let measured = MeasuredComparison::new(&simulated);
    assert_eq!(super::figure::all(&measured).len(), 1, "what a grant costs");
    let table = super::words::table(&measured);
    assert!(
        !table.contains("median") && !table.contains("/s") && table.contains("requests a grant"),
        "{table}"
    );
}

#[test]
fn the_words_claim_only_what_intervals_allow() {
    let lines = summary(&comparison());
    assert_eq!(
        lines[0],
        "No violation was found in protected and fenced; predecessor broke."
    );
    assert_eq!(
        line(&lines, "stale-write"),
        "stale-write: predecessor under pause (1 of 2 runs); never in protected and fenced."
    );
    let median = line(&lines, "Hand-over, median");
    assert!(median.contains("predecessor 2.40 ms"), "{median}");
    assert!(
        median.contains("not distinguishable from protected 2.45 ms"),
        "{median}"
    );
    assert!(median.contains("the last is fenced 9.40 ms"), "{median}");
    assert!(
        line(&lines, "Grants a second").contains("too few runs (4)"),
        "{lines:#?}"
    );
    assert!(
        line(&lines, "ZooKeeper requests for each grant").contains("4.00"),
        "{lines:#?}"
    );
}

#[test]
fn the_only_sound_one_is_named_and_doubt_is_told() {
    let mut comparison = comparison();
    comparison.runs[5].anomalies.push(seen("lost-wakeup", false));
    comparison.runs[8].verdict = Some("unknown".into());
    comparison.runs[9].verdict = None;
    comparison.runs[9].sample = None;
    let lines = summary(&comparison);
    assert_eq!(
        lines[0],
        "fenced is the only one in which no violation was found (3 runs); predecessor and protected broke."
    );
    assert!(line(&lines, "Unknown verdicts").contains("1 of 11"), "{lines:#?}");
    assert!(
        line(&lines, "The harness failed in 1").contains("are not counted"),
        "{lines:#?}"
    );
    comparison.runs.clear();
    assert_eq!(summary(&comparison), ["No run came to a verdict."]);
}

#[test]
fn pools_put_runs_together() {
    let comparison = comparison();
    let measured = MeasuredComparison::new(&comparison);
    let pool = &measured.all[0];
    assert_eq!((pool.judged, pool.waited, pool.unknown, pool.failed), (4, 240, 0, 0));
    assert_eq!(pool.rate.map(|e| (e.value, e.n)), Some((5.0, 4)));
    let found = pool.requests.map(|e| (e.value, e.n));
    assert_eq!(found, Some((4.0, 2)), "of runs that recorded them");
    assert_eq!(pool.transactions.map(|e| e.value), Some(2.0));
    let fairness = pool.fairness.expect("an index").value;
    assert!((fairness - 0.9615).abs() < 0.001, "{fairness}");
    assert_eq!((pool.after.ms.len(), pool.after.struck.len()), (8, 4));
    assert_eq!(pool.after.median_struck, None, "four are too few");
    assert!(measured.each[0][0].waits[2].is_some(), "120 hand-overs have a p99");
    assert_eq!(pool.anomalies[0].count, 3);
}

#[test]
fn a_run_counts_once_for_a_kind_that_is_accepted_in_part() {
    let mut comparison = comparison();
    comparison.runs[2].anomalies.push(seen("stale-write", false));
    let measured = MeasuredComparison::new(&comparison);
    let found = &measured.all[0].anomalies[0];
    assert_eq!((found.runs, found.count, found.accepted), (1, 6, false));
    let said = "stale-write: predecessor under pause (1 of 2 runs); never in protected and fenced.";
    assert_eq!(line(&summary(&comparison), "stale-write"), said);
}

#[test]
fn the_page_the_table_and_the_picture_are_complete() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let mut comparison = comparison();
    comparison.runs.pop();
    assert_eq!(write_all(&comparison, folder).unwrap().len(), 3);
    let page = std::fs::read_to_string(folder.join("compare.html")).unwrap();
    for part in [
        "<b>1 of 12 runs are still to come</b>",
        "runs/r0-1-1/report.html",
        "stale-write × 3 in 1 of 2 <i>known</i>",
        "a &lt;promise&gt;",
        "id=\"figure-3\"",
    ] {
        assert!(page.contains(part), "the page should have {part:?}");
    }
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
    let table = std::fs::read_to_string(folder.join("compare.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 5);
    let columns = |row: &&str| row.matches(" |").count();
    assert!(rows.iter().all(|row| columns(row) == columns(&rows[0])), "{table}");
    assert!(rows[2].contains("stale-write (pause 1/2)"), "{table}");
    let again = folder.join("again");
    std::fs::create_dir_all(&again).unwrap();
    write_all(&comparison, &again).unwrap();
    for name in ["compare.html", "compare.png", "compare.md"] {
        assert_eq!(
            std::fs::read(folder.join(name)).unwrap(),
            std::fs::read(again.join(name)).unwrap(),
            "{name} is the same again"
        );
    }
}
