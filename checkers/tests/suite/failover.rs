//! How long nobody led after a fault, and what clients reported of their requests.

use crate::script::{lock, threatened};
use serde_json::{Value, json};
use zooquake_checkers::check;
use zooquake_history::{EventType, Record};

/// An election in which c1 leads from 1.1 s on, and is struck at 2 s until 5 s.
fn struck(fault: &str, text: &str) -> Record {
    let begun = "
        0.5 run ops; 1 c1 elect g1; 1 c2 elect g2
        1.1 c1 elected g1 czxid=10 path=/election/a
        1.2 c1 write g1; 1.3 c1 wrote g1";
    let mut record = lock("");
    record.history = crate::script::history(&format!("{begun}\n{text}"));
    record.plan.workload.family = "election".to_owned();
    threatened(record, 3, fault)
}

fn leaderless(record: &Record) -> Value {
    let results = check(record);
    assert_eq!(results, check(record), "the same each time");
    results.stats["leaderless"].clone()
}

#[test]
fn it_counts_from_the_fault_to_the_next_grant() {
    let text = "
        1.9 nemesis kill 3 begin; 1.95 c1 exit
        2 nemesis kill 3 on target=c1 verified=true
        4.5 c2 elected g2 czxid=20 path=/election/b
        4.9 nemesis kill 3 heal; 5 nemesis kill 3 off target=c1 verified=true";
    let expected = json!([{"window": 3, "fault": "kill", "ms": 2500.0, "session_timeouts": 1.25}]);
    assert_eq!(leaderless(&struck("kill", text)), expected);
}

#[test]
fn what_the_leader_surely_did_after_the_fault_came_counts_as_led() {
    // A confirm sent at 2.5 s was answered as leader: until then it led, whatever the cut.
    let text = "
        1.9 nemesis partition 3 begin; 2 nemesis partition 3 on target=c1,c2 verified=true
        2.5 c1 confirm; 2.6 c1 holds g1; 4 c1 lost g1
        4.5 c2 elected g2 czxid=20 path=/election/b
        5 nemesis partition 3 off target=c1,c2 verified=true";
    assert_eq!(leaderless(&struck("partition", text))[0]["ms"], 2000.0);
}

#[test]
fn a_fault_that_the_leader_outlived_left_nobody_without_one() {
    let text = "
        1.9 nemesis pause 3 begin; 2 nemesis pause 3 on target=c1 verified=true
        2.5 nemesis pause 3 off target=c1 verified=true
        2.6 c1 write g1; 2.7 c1 wrote g1
        3 c1 resign g1; 3.1 c1 resigned g1 removed=10
        3.2 c2 elected g2 czxid=20 path=/election/b";
    assert_eq!(leaderless(&struck("pause", text)), json!([]));
}

#[test]
fn a_fault_on_somebody_else_is_none_of_the_leaders() {
    let elsewhere = "1.9 nemesis kill 3 begin; 2 nemesis kill 3 on target=n1,c2 verified=true";
    assert_eq!(leaderless(&struck("kill", elsewhere)), json!([]));
    let too_late = "
        1.5 c1 resign g1; 1.6 c1 resigned g1 removed=10
        1.9 nemesis kill 3 begin; 2 nemesis kill 3 on target=c1 verified=true";
    assert_eq!(leaderless(&struck("kill", too_late)), json!([]));
}

#[test]
fn without_another_leader_there_is_no_time() {
    let text = "1.9 nemesis kill 3 begin; 2 nemesis kill 3 on target=c1 verified=true; 2.1 c1 exit";
    let expected = json!([{"window": 3, "fault": "kill", "ms": null, "session_timeouts": null}]);
    assert_eq!(leaderless(&struck("kill", text)), expected);
}

fn told(exit: &str, c2: &str) -> [Value; 2] {
    let mut record = lock(&format!(
        "{exit}; 1 c1 quiesce; 1 c2 quiesce; 1.1 c1 quiesced; 1.1 c2 quiesced; 2 c1 quiesce; 2.1 c1 quiesced"
    ));
    let all = [
        json!({"create": 1, "events": 1}),
        serde_json::from_str(c2).unwrap(),
        json!({"create": 2, "get": 3, "sync": 1, "events": 4, "pending": 9}),
    ];
    let answers = record
        .history
        .events
        .iter_mut()
        .filter(|event| event.kind == EventType::Ok);
    for (answer, counts) in answers.zip(all) {
        answer.value["counts"] = counts.into();
    }
    let stats = check(&record).stats;
    [stats["zk_requests"].clone(), stats["watch_events"].clone()]
}

#[test]
fn requests_are_those_that_every_client_told_last() {
    assert_eq!(told("", r#"{"set": 5, "events": 1}"#), [json!(11), json!(5)]);
    assert_eq!(told("", "null"), [Value::Null, Value::Null], "one client told nothing");
    let found = told("0.5 c1 exit", r#"{"set": 5}"#);
    assert_eq!(found, [Value::Null, Value::Null], "a process took its counts with it");
}
