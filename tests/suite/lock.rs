//! Short real runs of every lock variant on a real ensemble.

use crate::common::{short, valid};

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
