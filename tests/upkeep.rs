//! What is left when a run is stopped: by Ctrl-C, and by SIGKILL.

mod common;

use common::{OneEnsemble, Runs, assert_nothing_left, docker, history, signal, start, until, zooquake};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the history of the run has a line with all of these.
fn recorded(runs: &Runs, parts: &[&str]) {
    until(&format!("an event with {parts:?}"), PATIENCE, || {
        let made = std::fs::read_dir(runs.path())
            .ok()?
            .flatten()
            .any(|entry| entry.path().is_dir());
        let text = if made { history(runs) } else { String::new() };
        text.lines()
            .any(|line| parts.iter().all(|part| line.contains(part)))
            .then_some(())
    });
}

#[test]
fn ctrl_c_heals_clears_away_and_still_checks() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("interrupted");
    let child = start(
        &runs,
        &["lock/fenced", "--faults", "pause", "--time", "60s", "--seed", "1"],
    );
    recorded(&runs, &["\"f\":\"pause\"", "\"phase\":\"on\""]);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(2), "an interrupted run is unknown: {text}");
    assert!(text.contains("interrupted"), "{text}");
    assert!(runs.only().join("results.json").exists() && runs.only().join("report.html").exists());
    assert!(history(&runs).contains("\"phase\":\"off\""), "the pause was healed");
    assert_nothing_left();
}

#[test]
fn ctrl_c_in_recovery_says_what_it_does() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("interrupted-recovery");
    let child = start(
        &runs,
        &["lock/fenced", "--faults", "none", "--time", "3s", "--seed", "1"],
    );
    recorded(&runs, &["\"value\":\"recover\""]);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(2), "an interrupted run is unknown: {text}");
    assert!(text.contains("interrupted: giving up the recovery"), "{text}");
    assert!(history(&runs).contains("\"interrupted\""));
    assert_nothing_left();
}

#[test]
fn after_sigkill_nothing_stays_frozen_or_cut_and_clean_removes_the_rest() {
    let _turn = OneEnsemble::wait();
    for (fault, sign) in [("pause", "paused"), ("partition", "cut")] {
        let runs = Runs::new(&format!("killed-{fault}"));
        let mut child = start(
            &runs,
            &["lock/fenced", "--faults", fault, "--time", "60s", "--seed", "1"],
        );
        recorded(&runs, &["\"phase\":\"on\""]);
        assert!(damaged(fault), "nothing is {sign} although the fault is on");
        signal(&child, "KILL");
        child.wait().expect("waiting for zooquake");
        until("healing by the watcher", Duration::from_secs(20), || {
            (!damaged(fault)).then_some(())
        });
        let checked = zooquake()
            .arg("check")
            .arg(runs.only())
            .output()
            .expect("starting zooquake");
        assert_eq!(
            checked.status.code(),
            Some(2),
            "a cut-off run is unknown: {}",
            common::text(&checked)
        );
        assert!(
            !docker(&["ps", "-aq", "--filter", "label=zooquake.run"]).is_empty(),
            "containers outlive SIGKILL"
        );
        let cleaned = zooquake().arg("clean").output().expect("starting zooquake");
        assert_eq!(cleaned.status.code(), Some(0), "{}", common::text(&cleaned));
        assert_nothing_left();
    }
}

#[test]
fn an_image_that_is_no_zookeeper_is_named_with_its_last_words() {
    let _turn = OneEnsemble::wait();
    let images = zooquake()
        .args(["images", "--json"])
        .output()
        .expect("starting zooquake");
    let images: serde_json::Value = serde_json::from_slice(&images.stdout).expect("JSON");
    let tools = images["images"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|image| image["role"] == "tools");
    let name = tools.expect("the image of the clients")["name"]
        .as_str()
        .expect("a name");
    let runs = Runs::new("no-zookeeper");
    let run = start(&runs, &["lock/fenced", "--zookeeper", name, "--time", "5s"]);
    let output = run.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(255), "{text}");
    assert!(
        text.contains("ended instead of serving") && text.contains("docker-entrypoint.sh"),
        "{text}"
    );
    assert_nothing_left();
}

/// Whether some container of ours is frozen, or has network rules.
fn damaged(fault: &str) -> bool {
    let running = docker(&["ps", "-q", "--filter", "label=zooquake.sidecar"]);
    match fault {
        "pause" => !docker(&[
            "ps",
            "-q",
            "--filter",
            "label=zooquake.run",
            "--filter",
            "status=paused",
        ])
        .is_empty(),
        _ => running
            .lines()
            .any(|id| docker(&["exec", id, "iptables-save"]).contains("ZOOQUAKE")),
    }
}
