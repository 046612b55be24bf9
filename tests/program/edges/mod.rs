//! Histories at the edges of what can be judged: healing that nobody saw, answers that contradict each other, evidence
//! that is missing, other people's notations. Each was once judged wrong. `expected.tsv` contains the correct result
//! for each.

use crate::common::Runs;
use crate::common::jepsen::check;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Copies a history, or a run's folder, because `check` writes into the latter.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("making a folder");
        for entry in fs::read_dir(from).expect("reading a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).expect("copying a file");
    }
}

/// The verdict and the anomalies that are not advisory, as `expected.tsv` has them.
fn judged(path: &Path) -> String {
    let mutex = path.parent().is_some_and(|parent| parent.ends_with("fz_lw"));
    let results = check(path, if mutex { "--json --model mutex" } else { "--json" }).json();
    let anomalies = results[0]["anomalies"].as_array().expect("anomalies").iter();
    let kinds: BTreeSet<&str> = anomalies
        .filter(|anomaly| anomaly["advisory"] == false)
        .map(|anomaly| anomaly["kind"].as_str().expect("a kind"))
        .collect();
    let kinds = match kinds.is_empty() {
        true => "-".to_owned(),
        false => Vec::from_iter(kinds).join(","),
    };
    format!("{}\t{kinds}", results[0]["verdict"].as_str().expect("a verdict"))
}

#[test]
fn each_history_is_judged_by_what_it_proves() {
    let edges = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/edges");
    let folder = Runs::new("edges");
    let copied = folder.path().join("histories");
    copy(&edges.join("histories"), &copied);
    let table = fs::read_to_string(edges.join("expected.tsv")).expect("reading the table");
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for line in table.lines().skip(1) {
        let (path, expected) = line.split_once('\t').expect("a path");
        let found = judged(&copied.join(path));
        looked_at += 1;
        if found != expected {
            wrong.push(format!("{path}: {found}, expected {expected}"));
        }
    }
    assert_eq!(looked_at, 55);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
