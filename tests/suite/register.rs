//! Short real runs of registers, each client pinned to a server of a real ensemble.

use crate::common::{Ran, short, valid};
use serde_json::Value;
use std::collections::BTreeSet;

fn events(ran: &Ran) -> Vec<Value> {
    let history = std::fs::read_to_string(ran.folder.join("history.jsonl")).expect("the history");
    let line = |line: &str| serde_json::from_str(line).expect("an event");
    history.lines().map(line).collect()
}

/// Each client was answered by its own server and no other, and did every kind of operation.
fn pinned(ran: &Ran) {
    let events = events(ran);
    let answers = || {
        events
            .iter()
            .filter(|event| event["type"] == "ok" && event["value"]["server"].is_string())
    };
    for (client, server) in [("c1", "n1"), ("c2", "n2"), ("c3", "n3"), ("c4", "n1"), ("c5", "n2")] {
        let servers: BTreeSet<&str> = answers()
            .filter(|event| event["node"] == client)
            .map(|event| event["value"]["server"].as_str().expect("a name"))
            .collect();
        assert_eq!(servers, BTreeSet::from([server]), "{client}: {}", ran.story());
    }
    let kinds: BTreeSet<&str> = answers().map(|event| event["f"].as_str().expect("a name")).collect();
    assert_eq!(kinds, BTreeSet::from(["cas", "read", "write"]), "{}", ran.story());
}

/// A run of the variant under these faults is valid.
fn run(variant: &str, faults: &str, time: &str) {
    let name = format!("register/{variant}");
    let arguments = [name.as_str(), "--faults", faults, "--time", time, "--seed", "1"];
    short(&format!("register-{variant}"), &arguments, |ran| {
        valid(ran);
        pinned(ran);
    });
}

#[test]
fn register_read() {
    run("read", "none", "4s");
}

#[test]
fn register_sync_read() {
    run("sync-read", "none", "4s");
}

#[test]
fn register_quorum_read_is_valid_when_the_leader_is_frozen() {
    run("quorum-read", "pause", "9s");
}
