//! Short real runs of registers, each client pinned to a server of a real ensemble.

use crate::common::{RunFiles, short, valid};
use std::collections::BTreeSet;

/// Each client was answered by its own server and no other, and did every kind of operation.
fn pinned(ran: &RunFiles) {
    let events = ran.lines("history.jsonl");
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
    let line = format!("register/{variant} --faults {faults} --time {time} --seed 1");
    short(&format!("register-{variant}"), &line, |ran| {
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
