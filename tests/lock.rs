//! Short real runs of every lock variant on a real ensemble.

mod common;

use common::{OneEnsemble, Ran, Runs, assert_nothing_left, run, zooquake};

fn short(name: &str, arguments: &[&str], judge: impl FnOnce(&Ran)) {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new(name);
    let ran = run(&runs, arguments);
    judge(&ran);
    checks_again_to_the_same_bytes(&ran);
    for file in [
        "plan.json",
        "tree.json",
        "txnlog.jsonl",
        "servers.jsonl",
        "report.html",
        "timeline.png",
    ] {
        let size = std::fs::metadata(ran.folder.join(file))
            .unwrap_or_else(|e| panic!("{file}: {e}"))
            .len();
        assert!(size > 0, "{file} is empty");
    }
    assert_nothing_left();
}

fn checks_again_to_the_same_bytes(ran: &Ran) {
    let results = ran.folder.join("results.json");
    let before = std::fs::read(&results).expect("results.json");
    let output = zooquake()
        .arg("check")
        .arg(&ran.folder)
        .output()
        .expect("starting zooquake");
    assert_eq!(output.status.code(), Some(ran.code), "{}", common::text(&output));
    assert_eq!(
        std::fs::read(&results).expect("results.json"),
        before,
        "checking again gave other results"
    );
}

#[track_caller]
fn valid(ran: &Ran) {
    assert_eq!(ran.damage(), Vec::<String>::new(), "{}", ran.story());
    assert_eq!(
        (ran.code, &ran.results["verdict"]),
        (0, &"valid".into()),
        "{}",
        ran.story()
    );
}

#[test]
fn fenced_is_valid_under_pauses_of_its_holder() {
    short(
        "fenced",
        &["lock/fenced", "--faults", "pause,kill", "--time", "14s", "--seed", "1"],
        valid,
    );
}

#[test]
fn predecessor_writes_stale_under_pause() {
    short(
        "predecessor",
        &["lock/predecessor", "--faults", "pause", "--time", "9s", "--seed", "1"],
        |ran| {
            assert_eq!(ran.code, 1, "{}", ran.story());
            assert!(
                ran.damage().contains(&"stale-write".to_string()),
                "{:?}: {}",
                ran.damage(),
                ran.story()
            );
        },
    );
}

#[test]
fn children_is_valid_without_faults() {
    short(
        "children",
        &["lock/children", "--faults", "none", "--time", "5s", "--seed", "1"],
        valid,
    );
}

#[test]
fn crate_is_valid_without_faults_on_a_single_server() {
    short(
        "crate",
        &[
            "lock/crate",
            "--faults",
            "none",
            "--time",
            "5s",
            "--seed",
            "1",
            "--servers",
            "1",
        ],
        valid,
    );
}

#[test]
fn protected_keeps_exclusion_and_leaves_nothing_behind_under_partition() {
    short(
        "protected",
        &["lock/protected", "--faults", "partition", "--time", "9s", "--seed", "1"],
        |ran| {
            assert!(
                ran.damage().iter().all(|kind| kind == "stale-write"),
                "{:?}: {}",
                ran.damage(),
                ran.story()
            );
            assert_ne!(ran.code, 2, "{}", ran.story());
        },
    );
}
