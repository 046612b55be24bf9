//! A recipe of one's own, from nothing to a verdict: `new`, `try`, `run`, `pack`, `replay`.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, run, text, valid, zooquake};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Runs a command in a folder.
fn within(folder: &Path, arguments: &[&str]) -> Output {
    let output = zooquake().args(arguments).current_dir(folder).output();
    output.expect("starting zooquake")
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = within(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_new_python_lock_keeps_the_protocol_and_is_valid_under_pauses() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("recipe");
    let home = tempfile::tempdir().expect("a folder");
    succeeds(home.path(), &["new", "lock", "my-lock", "--language", "python"]);
    let tried: Value = serde_json::from_str(&succeeds(home.path(), &["try", "./my-lock", "--json"])).expect("JSON");
    assert!(!tried.to_string().contains("broken\""), "{tried}");

    let folder = home.path().join("my-lock");
    let folder = folder.to_str().expect("UTF-8");
    let ran = run(&runs, &[folder, "--faults", "pause", "--time", "9s", "--seed", "1"]);
    valid(&ran);
    assert!(ran.results["stats"]["grants"].as_u64() > Some(3), "{}", ran.story());
    assert_nothing_left_of(&runs.id());
    let plan: Value =
        serde_json::from_slice(&std::fs::read(ran.folder.join("plan.json")).expect("a plan")).expect("JSON");
    assert_eq!(plan["workload"]["variant"], "my-lock");
    let recipe = &plan["workload"]["recipe"];
    assert!(
        recipe["digest"].as_str().is_some_and(|id| id.starts_with("sha256:")),
        "{recipe}"
    );
    let page = std::fs::read_to_string(ran.folder.join("report.html")).expect("the report");
    assert!(page.contains("lock/my-lock"));

    // What a file brought is not run unasked.
    let pack = runs.path().join("run.zooquake.tar.gz");
    let pack = pack.to_str().expect("UTF-8");
    succeeds(
        home.path(),
        &["pack", ran.folder.to_str().expect("UTF-8"), "--out", pack],
    );
    let refused = within(home.path(), &["replay", pack]);
    assert_eq!(refused.status.code(), Some(254), "{}", text(&refused));
    assert!(text(&refused).contains("--yes"), "{}", text(&refused));
    let checked = within(home.path(), &["check", pack]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked));
}
