//! Comparisons: what is in the folder, and going on after an interruption.

use crate::common::{EnsembleSlot, Runs, text, zooquake};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Two runs, as small as they can be.
fn compare(folder: &Path, more: &[&str]) -> Output {
    let mut command = zooquake();
    command.args([
        "compare",
        "lock",
        "--variants",
        "predecessor,fenced",
        "--faults",
        "none",
    ]);
    command.args(["--servers", "1", "--clients", "2", "--runs", "1", "--json"]);
    command.args(more).arg("--out").arg(folder.join("compare"));
    command.output().expect("starting zooquake")
}

/// The lines of the record.
fn record(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("compare/compare.jsonl")).expect("the record");
    text.lines().map(String::from).collect()
}

#[test]
fn a_comparison_goes_on_where_it_was_and_its_page_is_complete() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("compare");
    let folder = folder.path();
    let first = compare(folder, &["--time", "3s"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let before = record(folder);
    assert_eq!(before.len(), 3, "what is compared, and two runs");

    // As if it had been killed while it wrote the end of the second run.
    let cut = format!("{}\n{}\n{}", before[0], before[1], &before[2][..40]);
    std::fs::write(folder.join("compare/compare.jsonl"), cut).unwrap();
    let second = compare(folder, &["--time", "3s"]);
    let said = text(&second);
    assert_eq!(second.status.code(), Some(0), "{said}");
    assert!(said.contains("did not come to its end: it is run again"), "{said}");
    assert!(said.contains("[2/2]") && !said.contains("[1/2]"), "{said}");
    let after = record(folder);
    assert_eq!(after[..2], before[..2], "what was recorded stays");
    assert_eq!(after.len(), 3);

    let comparison: Value = serde_json::from_slice(&second.stdout).expect("JSON");
    assert_eq!(comparison["order"].as_array().map(Vec::len), Some(2));
    let runs = comparison["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["verdict"], "valid", "{run}");
        assert!(run["sample"]["units"].as_u64() > Some(3), "{run}");
        assert!(run["sample"]["transactions"].as_u64() > Some(6), "{run}");
        let report = folder
            .join("compare")
            .join(run["run"].as_str().expect("a folder"))
            .join("report.html");
        assert!(report.exists(), "{}", report.display());
    }
    let page = std::fs::read_to_string(folder.join("compare/compare.html")).expect("the page");
    assert!(page.contains("No violation was found in 2 runs."), "{page}");
    assert!(folder.join("compare/compare.png").exists() && folder.join("compare/compare.md").exists());

    let other = compare(folder, &["--time", "4s"]);
    assert_eq!(other.status.code(), Some(254), "{}", text(&other));
    assert!(text(&other).contains("other options"), "{}", text(&other));
    assert_eq!(record(folder), after);
}

#[test]
fn what_does_not_exist_is_wrong_usage() {
    for (arguments, part) in [
        (vec!["locks"], "did you mean `lock`?"),
        (vec!["lock", "--variants", "fencd"], "did you mean `lock/fenced`?"),
        (vec!["lock", "--faults", "pause+kil"], "did you mean `kill`?"),
        (vec!["lock", "--variants", "fenced,fenced"], "there twice"),
        (
            vec!["queue", "--variants", "fifo,barrier"],
            "queue/fifo and barrier/tutorial cannot be compared",
        ),
        (vec!["lock", "--timings", "250/4/100"], "2 to 20 ticks"),
    ] {
        let output = zooquake()
            .arg("compare")
            .args(&arguments)
            .output()
            .expect("starting zooquake");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(254), "{arguments:?}: {said}");
        assert!(said.contains(part), "{said:?} should say {part:?}");
    }
}
