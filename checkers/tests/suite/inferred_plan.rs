//! Histories without a plan: judged by what they show to be promised, and by no more.

use crate::expect::has_reason;
use crate::script::event;
use serde_json::{Value, json};
use zooquake_checkers::{Results, Verdict, inferred_plan};
use zooquake_history::{History, Node};

/// A history of `process type f`, a client each, with values.
fn history(lines: &[(&str, Value)]) -> History {
    let line = |(index, (words, value)): (usize, &(&str, Value))| {
        let words: Vec<&str> = words.split(' ').collect();
        let [process, kind, f] = words.as_slice() else {
            panic!("{words:?}")
        };
        let number = process.parse::<u64>().ok();
        let who = number.map_or((*process).to_owned(), |number| {
            Node::client(number as usize + 1).to_string()
        });
        let kind = serde_json::from_value(json!(kind)).expect("it is a type");
        event(index, 1_000_000 * index as u64, &who, number, kind, f, value.clone())
    };
    History {
        events: lines.iter().enumerate().map(line).collect(),
    }
}

#[track_caller]
fn check(lines: &[(&str, Value)]) -> Results {
    let history = history(lines);
    assert!(inferred_plan::is_ours(&history));
    inferred_plan::check(&history, Vec::new()).expect("it is of some family")
}

/// The anomalies that convict.
fn kinds(results: &Results) -> Vec<&str> {
    let convicting = results.anomalies.iter().filter(|anomaly| !anomaly.advisory);
    convicting.map(|anomaly| anomaly.kind.as_str()).collect()
}

#[track_caller]
fn told(results: &Results, what: &str) {
    has_reason(results, "plan.json is missing");
    assert!(results.reasons[0].contains(what), "{:?}", results.reasons);
}

/// Item 1 is delivered to `c2` and to `c3`.
fn delivered_twice() -> Vec<(&'static str, Value)> {
    vec![
        ("0 invoke enqueue", json!({"item":1})),
        ("0 ok enqueue", json!({"item":1})),
        ("1 invoke dequeue", json!({})),
        ("1 ok dequeue", json!({"item":1})),
        ("2 invoke dequeue", json!({})),
        ("2 ok dequeue", json!({"item":1})),
    ]
}

#[test]
fn items_that_are_acknowledged_may_be_delivered_again_before() {
    let mut lines = delivered_twice();
    lines.extend([
        ("2 invoke acknowledge", json!({"item":1})),
        ("2 ok acknowledge", json!({"item":1})),
    ]);
    let results = check(&lines);
    assert_eq!((results.verdict, kinds(&results)), (Verdict::Unknown, vec![]));
    told(&results, "queue/claimed promises");
    lines.extend([
        ("1 invoke acknowledge", json!({"item":1})),
        ("1 ok acknowledge", json!({"item":1})),
    ]);
    // An item is acknowledged once.
    assert_eq!(kinds(&check(&lines)), ["duplicate-delivery"]);
}

#[test]
fn of_a_queue_that_nothing_tells_of_only_what_all_promise_is_judged() {
    let mut lines = delivered_twice();
    let results = check(&lines);
    assert_eq!((results.verdict, kinds(&results)), (Verdict::Unknown, vec![]));
    told(&results, "nothing shows whether an item may be delivered again");
    lines.extend([("1 invoke dequeue", json!({})), ("1 ok dequeue", json!({"item":7}))]);
    assert_eq!(kinds(&check(&lines)), ["phantom-item"], "nobody sent it");
}

#[test]
fn barriers_are_told_by_who_joins() {
    let mut tutorial = vec![
        ("3 invoke enter", json!({"round":1,"members":2})),
        ("0 invoke join", json!({"round":1,"members":2,"member":1})),
        ("0 ok join", json!({"round":1,"czxid":1})),
        ("1 invoke join", json!({"round":1,"members":2,"member":2})),
        ("3 ok enter", json!({"round":1})),
    ];
    let results = check(&tutorial);
    assert_eq!(kinds(&results), Vec::<&str>::new(), "two joins were sent");
    told(&results, "tutorial's barrier");
    tutorial.swap(3, 4);
    assert_eq!(kinds(&check(&tutorial)), ["early-release"]);
    let mut double = vec![
        ("0 invoke enter", json!({"round":1,"members":2})),
        ("1 invoke enter", json!({"round":1,"members":2})),
        ("0 ok enter", json!({"round":1,"czxid":1})),
        ("1 ok enter", json!({"round":1,"czxid":2})),
        ("0 invoke leave", json!({"round":1})),
    ];
    let results = check(&double);
    assert_eq!(kinds(&results), Vec::<&str>::new());
    told(&results, "double barrier");
    double.swap(1, 2);
    assert_eq!(kinds(&check(&double)), ["early-release"]);
    let gate = [
        "2 invoke raise",
        "2 ok raise",
        "0 invoke wait",
        "2 invoke lift",
        "0 ok wait",
        "2 ok lift",
    ];
    let mut gate = gate.map(|event| (event, json!({"round":1}))).to_vec();
    let results = check(&gate);
    assert_eq!(kinds(&results), Vec::<&str>::new());
    told(&results, "judged as a gate");
    gate.swap(3, 4);
    assert_eq!(kinds(&check(&gate)), ["early-release"]);
}

/// Two grants whose writes were answered in the order opposite to their ages, with the fields of the answers about the
/// resource.
fn overtaken(answers: [Value; 2]) -> Vec<(&'static str, Value)> {
    let [old, new] = answers;
    let with = |grant: &str, more: Value| {
        let mut value = json!({"grant":grant,"value":1});
        for (name, content) in more.as_object().expect("fields") {
            value[name] = content.clone();
        }
        value
    };
    vec![
        ("1 invoke acquire", json!({"grant":"g1"})),
        ("1 ok acquire", json!({"grant":"g1","czxid":10})),
        ("2 invoke acquire", json!({"grant":"g2"})),
        ("2 ok acquire", json!({"grant":"g2","czxid":20})),
        ("2 invoke write", json!({"grant":"g2","value":1})),
        ("2 ok write", with("g2", new)),
        ("1 invoke write", json!({"grant":"g1","value":1})),
        ("1 ok write", with("g1", old)),
    ]
}

#[test]
fn where_the_resource_is_its_answers_tell() {
    let results = check(&overtaken([json!({"mzxid":80}), json!({"mzxid":90})]));
    assert_eq!(kinds(&results), Vec::<&str>::new(), "the older wrote first");
    told(&results, "in ZooKeeper");
    let results = check(&overtaken([json!({"mzxid":90}), json!({"mzxid":80})]));
    assert_eq!(kinds(&results), ["stale-write"]);
    let accepted = || json!({"accepted":true});
    let results = check(&overtaken([accepted(), accepted()]));
    let found = kinds(&results);
    assert_eq!(found, ["stale-write"], "replies are read in the order of the writes");
    told(&results, "outside ZooKeeper");
    let results = check(&overtaken([json!({}), json!({})]));
    assert_eq!(kinds(&results), Vec::<&str>::new());
    told(&results, "nothing shows where the resource is");
}

#[test]
fn requests_for_grants_that_name_modes_are_a_read_write_lock_s() {
    let lines = |mode: &str| {
        [
            ("1 invoke acquire", json!({"grant":"g1","mode":"shared"})),
            ("1 ok acquire", json!({"grant":"g1"})),
            ("2 invoke acquire", json!({"grant":"g2","mode":mode})),
            ("2 ok acquire", json!({"grant":"g2"})),
            ("c2 invoke confirm", json!({})),
            ("c3 invoke confirm", json!({})),
            ("c2 ok confirm", json!({"holds":true,"grant":"g1"})),
            ("c3 ok confirm", json!({"holds":true,"grant":"g2"})),
        ]
    };
    let results = check(&lines("shared"));
    assert_eq!(kinds(&results), Vec::<&str>::new());
    told(&results, "name modes, so it was judged as a read-write lock");
    assert_eq!(kinds(&check(&lines("exclusive"))), ["double-grant"]);
    told(&check(&overtaken([json!({}), json!({})])), "so it was judged as a lock");
}

#[test]
fn increments_that_are_given_ids_are_a_counter_s() {
    let results = check(&[
        ("0 invoke increment", json!({})),
        ("0 ok increment", json!({"id": 1})),
        ("1 invoke increment", json!({})),
        ("1 ok increment", json!({"id": 1})),
    ]);
    assert_eq!(kinds(&results), ["lost-increment", "duplicate-id"]);
    told(&results, "a counter that began at 0");
}

#[test]
fn clients_that_register_as_members_are_a_group() {
    let view = |n: u64, mzxid: i64, value: i64| {
        let member = json!({"member":"m1","path":"/members/m1","czxid":5,"mzxid":mzxid,"value":value});
        json!({"n":n,"session":"0x2","members":[member]})
    };
    let results = check(&[
        ("0 invoke register", json!({"member":"m1","value":11})),
        ("0 ok register", json!({"path":"/members/m1","czxid":5,"session":"0x1"})),
        ("0 invoke update", json!({"value":12})),
        ("c2 info view", view(1, 7, 12)),
        ("c2 info view", view(2, 5, 11)),
    ]);
    assert_eq!(kinds(&results), ["view-regression"]);
    told(&results, "what every variant of a group promises");
}

#[test]
fn no_register_without_a_plan_promises_linearizable_reads() {
    let mut lines = vec![
        ("0 invoke write", json!({"value":1})),
        ("0 ok write", json!({"value":1,"mzxid":1,"session":"0x1"})),
        ("0 invoke write", json!({"value":2})),
        ("0 ok write", json!({"value":2,"mzxid":2,"session":"0x1"})),
        ("1 invoke read", json!({})),
        ("1 ok read", json!({"value":1,"mzxid":1,"session":"0x2"})),
    ];
    let results = check(&lines);
    let judged = (results.verdict, kinds(&results));
    assert_eq!(judged, (Verdict::Unknown, vec![]), "an old value may be read");
    told(&results, "what every variant of a register promises");
    lines.extend([
        ("0 invoke cas", json!({"from":1,"to":3})),
        ("0 ok cas", json!({"from":1,"to":3,"mzxid":3,"session":"0x1"})),
    ]);
    assert_eq!(kinds(&check(&lines)), ["not-linearizable"], "but none is compared with");
}

#[test]
fn a_needless_abort_depends_on_a_plan() {
    let lines = [
        ("0 invoke begin", json!({"tx":"t1","sites":["c2"]})),
        ("0 ok begin", json!({"tx":"t1"})),
        ("1 invoke vote", json!({"tx":"t1","vote":"yes"})),
        ("1 ok vote", json!({"tx":"t1","voted":"yes"})),
        ("0 invoke decide", json!({"tx":"t1","sites":["c2"]})),
        ("0 ok decide", json!({"tx":"t1","decision":"abort"})),
    ];
    let results = check(&lines);
    let judged = (results.verdict, kinds(&results));
    assert_eq!(judged, (Verdict::Unknown, vec![]), "{:?}", results.reasons);
    let split = [
        ("1 invoke decided", json!({"tx":"t1"})),
        ("1 ok decided", json!({"tx":"t1","decision":"commit"})),
    ];
    let results = check(&[&lines[..], &split].concat());
    let found = kinds(&results);
    assert_eq!(found, ["wrong-outcome"], "but not what it says of the decision");
}

#[test]
fn faults_are_taken_from_the_history() {
    let mut lines = overtaken([json!({"accepted":true}), json!({"accepted":true})]);
    for phase in ["begin", "on"] {
        lines.insert(
            2,
            (
                "nemesis info pause",
                json!({"window":1,"phase":phase,"target":"c2","verified":true}),
            ),
        );
    }
    let why = &check(&lines).anomalies[0].why;
    assert!(why.contains("pause of c2 (window 1"), "{why}");
}

#[test]
fn what_is_of_no_family_is_named() {
    let of = |lines: &[(&str, Value)]| {
        let history = history(lines);
        assert!(!inferred_plan::is_ours(&history));
        inferred_plan::check(&history, Vec::new()).expect_err("it is of none")
    };
    assert!(of(&[("0 invoke txn", json!([[":r", 1, null]]))]).contains("no checker judges the operations txn"));
    assert!(
        of(&[("0 invoke enqueue", json!(3))]).contains("operations enqueue"),
        "it has no item"
    );
    assert!(of(&[("run info phase", json!("ops"))]).contains("holds no operation"));
}
