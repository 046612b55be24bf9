//! Histories of each model as they are written down: what they mean, and what is found in them.

use super::judged::maps;
use zooquake_checkers::search::Kind;
use zooquake_checkers::{Results, Verdict};

fn judged(model: &str, lines: &str) -> Results {
    let kind: Kind = model.parse().expect("it is a model");
    maps(kind, &lines.split('|').map(str::trim).collect::<Vec<_>>())
}

#[track_caller]
fn valid(model: &str, lines: &str) {
    let results = judged(model, lines);
    assert_eq!(
        results.verdict,
        Verdict::Valid,
        "{lines}: {:?} {:?}",
        results.anomalies,
        results.reasons
    );
}

/// A history with one anomaly of this name, whose witness are these events.
#[track_caller]
fn broken(model: &str, lines: &str, kind: &str, witness: &[usize]) {
    let results = judged(model, lines);
    let [anomaly] = results.anomalies.as_slice() else {
        panic!("{lines}: {results:?}");
    };
    assert_eq!(
        (anomaly.kind.as_str(), anomaly.witness.as_slice()),
        (kind, witness),
        "{lines}: {}",
        anomaly.why
    );
}

#[track_caller]
fn unknown(model: &str, lines: &str, because: &str) {
    let results = judged(model, lines);
    assert_eq!(results.verdict, Verdict::Unknown, "{lines}: {:?}", results.anomalies);
    let said = results.reasons.iter().any(|reason| reason.contains(because));
    assert!(said, "{lines}: {:?}", results.reasons);
}

/// An operation that is answered at once with the same value.
fn at_once(process: u8, f: &str, asked: &str, answered: &str) -> String {
    format!("{process} invoke {f} {asked}|{process} ok {f} {answered}")
}

fn one_after_the_other(ops: &[(u8, &str, &str, &str)]) -> String {
    let ops: Vec<String> = ops
        .iter()
        .map(|(process, f, asked, answered)| at_once(*process, f, asked, answered))
        .collect();
    ops.join("|")
}

#[test]
fn names_and_numbers() {
    for name in ["semaphore:3", "fifo-queue", "unique-ids", "cas-register"] {
        assert!(name.parse::<Kind>().is_ok(), "{name}");
    }
    let wrong = |name: &str| name.parse::<Kind>().expect_err("it is none");
    assert!(wrong("semaphore").contains("semaphore:3"));
    assert!(wrong("semaphore:0").contains("no number from 1"));
    assert!(wrong("set:3").contains("takes no number"));
    assert!(wrong("pebble").contains("fifo-queue"));
    assert_eq!(
        "semaphore:3".parse::<Kind>().map(|kind| kind.to_string()),
        Ok("semaphore:3".to_owned())
    );
}

#[test]
fn fifo_queues() {
    let both = "0 invoke enqueue 1|0 ok enqueue 1|0 invoke enqueue 2|0 ok enqueue 2|";
    let out = |first: u8, second: u8| {
        format!("{both}1 invoke dequeue|1 ok dequeue {first}|1 invoke dequeue|1 ok dequeue {second}")
    };
    valid("fifo-queue", &out(1, 2));
    broken("fifo-queue", &out(2, 1), "reordered", &[0, 1, 4, 5]);
    valid("unordered-queue", &out(2, 1));
    broken("fifo-queue", &out(1, 1), "duplicate-delivery", &[4, 5, 6, 7]);
    broken("fifo-queue", &out(1, 3), "phantom-item", &[6, 7]);
    let skipped = format!("{both}1 invoke dequeue|1 ok dequeue 2");
    broken("fifo-queue", &skipped, "reordered", &[0, 1, 4, 5]);
    valid(
        "fifo-queue",
        &format!("{both}2 invoke dequeue|1 invoke dequeue|1 ok dequeue 2|2 info dequeue"),
    );
    broken(
        "fifo-queue",
        &format!("{both}2 invoke dequeue|2 fail dequeue|1 invoke dequeue|1 ok dequeue 2"),
        "reordered",
        &[0, 1, 6, 7],
    );
    broken(
        "fifo-queue",
        &format!("{both}1 invoke dequeue|1 ok dequeue nil"),
        "lost-item",
        &[0, 1, 4, 5],
    );
    let drained = format!("{both}1 invoke drain|1 ok drain [1 2]");
    unknown("fifo-queue", &drained, "order among each other");
    valid("unordered-queue", &drained);
}

#[test]
fn total_queues() {
    let put = "0 invoke enqueue 1|0 ok enqueue 1|";
    let drain = |items: &str| format!("{put}1 invoke drain|1 ok drain {items}");
    valid("total-queue", &drain("[1]"));
    broken("total-queue", &drain("[]"), "lost-item", &[0, 1, 2, 3]);
    broken("total-queue", &drain("[1 2]"), "phantom-item", &[2, 3]);
    unknown("total-queue", put.trim_end_matches('|'), "no drain");
    // What nobody knows the outcome of may have taken it.
    valid(
        "total-queue",
        &format!("2 invoke dequeue|2 info dequeue|{}", drain("[]")),
    );
    let twice = format!("{put}1 invoke dequeue|1 ok dequeue 1|1 invoke drain|1 ok drain [1]");
    valid("total-queue", &twice);
    let said = judged("total-queue", &twice).reasons;
    assert!(said[0].contains("1 delivery repeated"), "{said:?}");
    broken("unordered-queue", &twice, "duplicate-delivery", &[2, 3, 4, 5]);
    // An enqueue that goes on while its item is drained.
    valid(
        "unordered-queue",
        "1 invoke drain|0 invoke enqueue 1|1 ok drain [1]|0 ok enqueue 1|1 invoke drain|1 ok drain []",
    );
}

#[test]
fn sets() {
    let add = |element: &str| at_once(0, "add", element, element);
    let read = |found: &str| at_once(1, "read", "nil", found);
    valid("set", &format!("{}|{}|{}", add("1"), read("#{1}"), add("2")));
    valid("set", &format!("{}|{}|{}", add("[1]"), add("2"), read("[2 (1)]")));
    broken(
        "set",
        &format!("{}|{}|{}", add("1"), add("2"), read("#{2}")),
        "lost-element",
        &[0, 1, 4, 5],
    );
    broken(
        "set",
        &format!("{}|{}", add("1"), read("#{1 2}")),
        "phantom-element",
        &[2, 3],
    );
    let apart =
        "0 invoke add 1|1 invoke add 2|2 invoke read|3 invoke read|2 ok read #{1}|3 ok read #{2}|0 ok add 1|1 ok add 2";
    broken("set", apart, "not-linearizable", &[2, 3, 4, 5]);
    valid(
        "set",
        &format!("0 invoke add 1|0 info add 1|{}|{}", read("#{}"), read("#{1}")),
    );
    unknown("set", "0 invoke read|0 ok read 3", "answered with no set");
}

#[test]
fn counters() {
    let adds = one_after_the_other(&[(0, "add", "1", "1"), (0, "add", "1", "1")]);
    let read = |found: &str| at_once(1, "read", "nil", found);
    valid("counter", &format!("{adds}|{}", read("2")));
    broken(
        "counter",
        &format!("{adds}|{}", read("1")),
        "lost-increment",
        &[0, 1, 2, 3, 4, 5],
    );
    broken(
        "counter",
        &format!("{adds}|{}", read("3")),
        "phantom-increment",
        &[4, 5],
    );
    broken(
        "counter",
        &format!("{adds}|{}|{}", read("2"), read("1")),
        "not-linearizable",
        &[4, 5, 6, 7],
    );
    valid(
        "counter",
        &format!("0 invoke add 5|0 info add 5|{}|{}", read("0"), read("5")),
    );
    broken(
        "counter",
        &format!("0 invoke add 5|0 info add 5|{}", read("3")),
        "not-linearizable",
        &[2, 3],
    );
}

#[test]
fn generators_of_ids() {
    let ids =
        |one: &str, other: &str| one_after_the_other(&[(0, "generate", "nil", one), (1, "generate", "nil", other)]);
    valid("id-generator", &ids("1", "2"));
    broken("id-generator", &ids("\"a\"", "\"a\""), "duplicate-id", &[0, 1, 2, 3]);
}

#[test]
fn mutexes_with_tokens() {
    let holds = |one: &str, other: &str| {
        one_after_the_other(&[
            (0, "acquire", "nil", one),
            (0, "release", "nil", "nil"),
            (1, "acquire", "nil", other),
            (1, "release", "nil", "nil"),
        ])
    };
    valid("fenced-mutex", &holds("1", "2"));
    valid("fenced-mutex", &holds("{:fence 1}", "{:fence 7}"));
    broken("fenced-mutex", &holds("2", "1"), "fencing-regression", &[0, 1, 4, 5]);
    broken("fenced-mutex", &holds("2", "2"), "fencing-regression", &[0, 1, 4, 5]);
    unknown("fenced-mutex", &holds("2", "nil"), "name no token");
    broken(
        "fenced-mutex",
        "0 invoke acquire|0 ok acquire 1|1 invoke acquire|1 ok acquire 2|0 invoke release|0 ok release",
        "double-grant",
        &[0, 1, 2, 3, 4, 5],
    );
}

#[test]
fn permits() {
    let holds = |count: u8| {
        let acquire = (0..count).map(|process| at_once(process, "acquire", "nil", "nil"));
        let release = (0..count).map(|process| at_once(process, "release", "nil", "nil"));
        acquire.chain(release).collect::<Vec<_>>().join("|")
    };
    valid("semaphore:3", &holds(3));
    broken(
        "semaphore:2",
        &holds(3),
        "double-grant",
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    unknown(
        "semaphore:2",
        &at_once(0, "acquire", ":much", "nil"),
        "no number of permits",
    );
    let mode = |one: &str, other: &str| {
        one_after_the_other(&[
            (0, "acquire", one, one),
            (1, "acquire", other, other),
            (0, "release", one, one),
            (1, "release", "nil", "nil"),
        ])
    };
    valid("rwlock", &mode(":read", ":read"));
    broken("rwlock", &mode(":read", ":write"), "double-grant", &[0, 1, 2, 3, 4, 5]);
    broken("rwlock", &mode(":write", ":read"), "double-grant", &[0, 1, 2, 3, 4, 5]);
    unknown(
        "rwlock",
        &at_once(0, "acquire", "nil", "nil"),
        "names neither read nor write",
    );
}

#[test]
fn mutexes_that_are_acquired_again() {
    let again = "0 invoke acquire|0 ok acquire|0 invoke acquire|0 ok acquire|0 invoke release|0 ok release|";
    valid(
        "reentrant-mutex",
        &format!("{again}0 invoke release|0 ok release|1 invoke acquire|1 ok acquire"),
    );
    broken(
        "reentrant-mutex",
        &format!("{again}1 invoke acquire|1 ok acquire|0 invoke release|0 ok release"),
        "double-grant",
        &[0, 1, 6, 7, 8, 9],
    );
    // It may have been lost between the two.
    let lost = "0 invoke acquire|0 ok acquire|1 invoke acquire|1 ok acquire|0 invoke acquire|0 ok acquire|0 invoke release|0 ok release";
    valid("reentrant-mutex", lost);
}

#[test]
fn keys_are_objects_of_their_own() {
    let lines = "0 invoke add [1 7]|0 ok add [1 7]|1 invoke read [2 nil]|1 ok read [2 #{}]|1 invoke read [1 nil]|1 ok read [1 #{}]";
    broken("set", lines, "lost-element", &[0, 1, 4, 5]);
}
