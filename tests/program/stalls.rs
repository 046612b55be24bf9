//! What is no client's doing convicts nobody: the harness stands still, or a third party freezes a client, after
//! recovery.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, docker, ended, history, recorded, signal, start};
use serde_json::Value;
use std::process::Child;
use std::time::Duration;

/// Longer than the bound of liveness.
const LONG: Duration = Duration::from_secs(13);

/// A short run, as it is when its phase has begun.
fn reach(runs: &Runs, variant: &str, phase: &str) -> Child {
    let child = start(runs, &format!("{variant} --faults none --time 3s --seed 1"));
    recorded(runs, &[&format!("\"phase\",\"value\":\"{phase}\"")]);
    child
}

/// Waits for its end: nobody is convicted, and nothing is left.
fn never_invalid(runs: &Runs, child: Child) -> Vec<Value> {
    let output = ended(child);
    assert!(matches!(output.code, Some(0 | 2)), "{output}");
    assert_nothing_left_of(&runs.id());
    let event = |line: &str| serde_json::from_str(line).expect("an event");
    history(runs).lines().map(event).collect()
}

#[test]
fn a_stall_of_the_harness_is_recorded_before_what_was_read_after_it() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("stalled");
    let child = reach(&runs, "lock/fenced", "recovered");
    signal(&child, "STOP");
    std::thread::sleep(Duration::from_millis(200));
    let before = history(&runs).lines().count();
    std::thread::sleep(LONG);
    signal(&child, "CONT");
    let events = never_invalid(&runs, child);
    let time = |event: &Value| event["time"].as_u64().expect("nanoseconds");
    // An event that was being written when the program was stopped may follow, with its time before that.
    let later = time(&events[before - 1]) + 12_000_000_000;
    let stall = events.iter().find(|event| time(event) >= later).expect("a stall");
    assert_eq!(
        (&stall["process"], &stall["f"]),
        (&"run".into(), &"stall".into()),
        "{stall}"
    );
    let ms = stall["value"]["ms"].as_u64().expect("milliseconds");
    assert!((12_000..20_000).contains(&ms), "{stall}");
    let again = events.iter().filter(|event| event["f"] == "stall").count();
    assert!(again < 3, "{again} stalls of one stop");
}

#[test]
fn a_client_that_a_third_party_freezes_convicts_nobody() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("frozen-client");
    let child = reach(&runs, "election/epoch", "recover");
    let of = docker(&["ps", "--format", "{{.Names}}", "--filter", &runs.label()]);
    let client = of
        .lines()
        .find(|name| name.ends_with("-c2"))
        .expect("the container of c2");
    docker(&["pause", client]);
    std::thread::sleep(LONG + Duration::from_secs(3));
    docker(&["unpause", client]);
    let events = never_invalid(&runs, child);
    let recovers = events.iter().filter(|event| event["value"] == "recover").count();
    assert!(recovers > 1, "recovery began again: {recovers}");
}
