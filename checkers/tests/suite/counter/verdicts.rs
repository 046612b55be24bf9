//! Each anomaly by one history and its innocent twins, and what a run of a counter needs to be valid.

use super::told::{held, only, record, silent};
use crate::queue::told::{minimal, only_of, silent_of};
use zooquake_checkers::families::FAMILIES;
use zooquake_checkers::{Record, Verdict, check};

#[test]
fn an_id_that_two_increments_were_given() {
    let both = "c1 invoke increment\n c2 invoke increment\n c1 ok increment id=1\n c2 ok increment id=1";
    assert_eq!(only(both, "duplicate-id").witness, [2, 3]);
    silent(&both.replace("c2 ok increment id=1", "c2 ok increment id=2"));
    silent(&both.replace("c2 ok increment id=1", "c2 end increment"));
    // Whoever reads a value is given no id.
    silent(
        &both
            .replace("c2 invoke increment", "c2 invoke get")
            .replace("c2 ok increment id", "c2 ok get value"),
    );
}

#[test]
fn an_id_that_is_not_greater_than_what_was_read_before_it_was_asked_for() {
    let back = "
        c1 invoke increment
        c2 invoke increment
        c1 ok increment id=2
        c3 invoke increment
        c3 ok increment id=1
        c2 end increment";
    assert_eq!(only(back, "lost-increment").witness, [2, 3, 4]);
    // It was asked for in time, or nobody knows when.
    silent(&back.replace(
        "c1 ok increment id=2\n        c3 invoke increment",
        "c3 invoke increment\n c1 ok increment id=2",
    ));
    silent(&back.replace("c3 invoke increment\n", ""));
    let read = back
        .replace("c1 invoke increment", "c1 invoke get")
        .replace("c1 ok increment id=2", "c1 ok get value=1");
    assert_eq!(only(&read, "lost-increment").witness, [2, 3, 4]);
}

#[test]
fn a_plain_read_may_be_old_and_one_after_a_write_may_not() {
    let plain = "
        c1 invoke increment
        c1 ok increment id=1
        c2 ask confirm
        c2 answer confirm
        c2 invoke get
        c2 ok get value=0";
    let found = only(plain, "lost-increment");
    assert_eq!(found.witness, [1, 2, 3, 4, 5]);
    silent(&plain.replace("value=0", "value=1"));
    silent(&plain.replace("c2 ask confirm\n        c2 answer confirm\n", ""));
    silent(&plain.replace("c2 answer confirm", "c2 note confirm"));
    for turn in ["c2 note exit", "c2 note session state=connected session=0x9"] {
        silent(&plain.replace("c2 answer confirm", &format!("c2 answer confirm\n {turn}")));
    }
    // The write was sent before the increment was acknowledged.
    silent(
        &plain
            .replace("c2 ask confirm\n", "")
            .replace("c1 invoke", "c2 ask confirm\n c1 invoke"),
    );
}

#[test]
fn a_tree_that_holds_less_than_was_acknowledged() {
    let one = "c1 invoke increment\n c1 ok increment id=1\n run audit";
    let record = held(one, "0");
    let found = only_of(&record, "lost-increment");
    assert_eq!(found.witness, [1]);
    minimal(&record, &found);
    silent_of(&held(one, "1"));
    silent_of(&held(&one.replace("c1 ok increment id=1", "c1 end increment"), "0"));
    silent_of(&held(&one.replace("c1 ok increment id=1", "c1 end increment"), "1"));
}

#[test]
fn a_count_that_is_less_than_the_acknowledged_increments() {
    let twice = "
        c1 invoke increment
        c2 invoke increment
        c1 ok increment id=1
        c2 ok increment id=1
        run audit";
    let results = check(&held(twice, "1"));
    let kinds: Vec<&str> = results.anomalies.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["duplicate-id", "lost-increment"]);
    assert_eq!(results.anomalies[1].witness, [2, 3]);
    assert_eq!(check(&held(twice, "2")).anomalies.len(), 1);
}

#[test]
fn a_value_that_nobody_can_have_made() {
    let jump = "c1 invoke increment\n c1 ok increment id=2";
    assert_eq!(only(jump, "phantom-increment").witness, [1]);
    assert_eq!(
        only("c1 invoke get\n c1 ok get value=1", "phantom-increment").witness,
        [1]
    );
    let other = |line: &str| format!("{line}\n {jump}");
    silent(&other("c2 invoke increment\n c2 end increment"));
    silent(&other("c2 invoke increment"));
    silent(&other("c2 invoke increment\n c2 ok increment id=1"));
    only(&other("c2 invoke increment\n c2 fail increment"), "phantom-increment");
    // One that was given a greater id is not among those below.
    let above = "c1 invoke increment\n c2 invoke increment\n c1 ok increment id=2\n c2 ok increment id=3";
    assert_eq!(only(above, "phantom-increment").witness, [2]);
    // It was sent too late.
    only(
        &format!("{jump}\n c2 invoke increment\n c2 end increment"),
        "phantom-increment",
    );
}

#[test]
fn a_tree_that_holds_more_than_was_sent() {
    let one = "c1 invoke increment\n c1 ok increment id=1\n run audit";
    let record = held(one, "2");
    let found = only_of(&record, "phantom-increment");
    assert_eq!(found.witness, [0; 0]);
    minimal(&record, &found);
    silent_of(&held(&format!("c2 invoke increment\n c2 end increment\n {one}"), "2"));
    only_of(
        &held(&format!("c2 invoke increment\n c2 fail increment\n {one}"), "2"),
        "phantom-increment",
    );
}

/// Which of two requests was answered nobody knows.
#[test]
fn an_answer_that_may_be_another_ones_convicts_nobody() {
    silent("c1 invoke increment\n c1 invoke increment\n c1 ok increment id=2");
    silent("c1 invoke increment\n c1 ok increment id=1\n c1 fail increment\n c2 invoke get\n c2 ok get value=1");
    silent("c1 invoke increment\n c1 ok increment id=1\n c1 ok increment id=1");
}

const GOOD: &str = "
    run ops
    c1 invoke increment
    c1 ok increment id=1
    c2 invoke increment
    c2 end increment
    c3 invoke get
    c3 ok get value=1
    run recovered
    c1 invoke increment
    c1 ok increment id=2
    c2 invoke increment
    c2 ok increment id=3
    c3 invoke get
    c3 ok get value=2
    c3 ask confirm
    c3 answer confirm
    c3 invoke get
    c3 ok get value=3
    run audit
    run done";

fn good() -> Record {
    held(GOOD, "3")
}

#[track_caller]
fn unknown(record: &Record, reason: &str) {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    let said = results.reasons.iter().any(|text| text.contains(reason));
    assert!(said, "{:?}", results.reasons);
}

#[test]
fn a_run_with_progress_and_recovery_is_valid() {
    let results = check(&good());
    assert_eq!(results.verdict, Verdict::Valid, "{results:#?}");
    let family = FAMILIES
        .iter()
        .find(|family| family.name == "counter")
        .expect("it is there");
    for checker in results.checkers.keys() {
        assert!(family.checkers.contains(&checker.as_str()), "{checker}");
    }
}

#[test]
fn what_was_not_looked_at_is_unknown() {
    unknown(
        &record(GOOD),
        "in 2 readings of the znode tree /counter has no value that can be read",
    );
    unknown(&held(GOOD, "three"), "/counter has no value");
    let mut blind = good();
    blind.tree = None;
    unknown(&blind, "what the counter held at last was not looked at");
    blind.history.events.retain(|event| event.f != "confirm");
    for (index, event) in blind.history.events.iter_mut().enumerate() {
        event.index = index;
    }
    unknown(&blind, "no client read the counter after it had answered a confirm");
    unknown(
        &blind,
        "3 increments were answered after the counter was looked at for the last time",
    );
    unknown(
        &held(&GOOD.replace("c3 ok get", "c3 end get"), "3"),
        "there was no progress",
    );
    unknown(
        &held(&GOOD.replace("increment id=2", "increment id=null"), "3"),
        "tells no id of a counter",
    );
    unknown(
        &held(&GOOD.replace("get value=2", "get value=-1"), "3"),
        "tells no value of a counter",
    );
}

#[test]
fn what_is_pending_after_recovery_says_too_little() {
    let hangs = GOOD.replace("run audit", "c1 invoke increment\n run audit");
    unknown(&held(&hangs, "3"), "the increment of c1 sent at");
    let fails = GOOD
        .replace("c2 ok increment id=3", "c2 fail increment")
        .replace("get value=3", "get value=2");
    unknown(&held(&fails, "2"), "after recovery");
}
