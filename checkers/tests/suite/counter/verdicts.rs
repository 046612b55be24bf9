//! Each anomaly by one history and its innocent twins, and what a run of a counter needs to be valid.

use super::{counter, held};
use crate::expect::{edited, found, guilty, innocent, none, of_family, one, proven_by, unknown, valid};
use crate::script::{changed, number};
use zooquake_history::Record;

#[test]
fn an_id_that_two_increments_were_given() {
    let both = "c1 invoke increment; c2 invoke increment; c1 ok increment id=1; c2 ok increment id=1";
    proven_by(&counter(both), "duplicate-id", &[2, 3]);
    let table = "
        c2 ok increment id=1 => c2 ok increment id=2
        c2 ok increment id=1 => c2 end increment
        c2 invoke increment => c2 invoke get | c2 ok increment id => c2 ok get value # a reader is given no id";
    innocent(counter, both, table);
}

#[test]
fn an_id_that_is_not_greater_than_what_was_read_before_it_was_asked_for() {
    let back = "
        c1 invoke increment
        c2 invoke increment
        c1 ok increment id=2
        c3 invoke increment; c3 ok increment id=1
        c2 end increment";
    proven_by(&counter(back), "lost-increment", &[2, 3, 4]);
    let table = "
        c3 invoke increment => | c1 ok increment id=2 => c3 invoke increment; c1 ok increment id=2 # asked for in time
        c3 invoke increment => # nobody knows when it was asked for";
    innocent(counter, back, table);
    let edits = "c1 invoke increment => c1 invoke get | c1 ok increment id=2 => c1 ok get value=1";
    proven_by(&counter(&edited(back, edits)), "lost-increment", &[2, 3, 4]);
}

#[test]
fn a_plain_read_may_be_old_and_one_after_a_write_may_not() {
    let plain = "
        c1 invoke increment; c1 ok increment id=1
        c2 ask confirm; c2 answer confirm
        c2 invoke get; c2 ok get value=0";
    proven_by(&counter(plain), "lost-increment", &[1, 2, 3, 4, 5]);
    let table = "
        value=0 => value=1
        c2 ask confirm; c2 answer confirm =>
        c2 answer confirm => c2 note confirm
        c2 answer confirm => c2 answer confirm; c2 note exit
        c2 answer confirm => c2 answer confirm; c2 note session state=connected session=0x9
        c2 ask confirm => | c1 invoke => c2 ask confirm; c1 invoke # the write was sent before it was acknowledged";
    innocent(counter, plain, table);
}

#[test]
fn a_tree_that_holds_less_than_was_acknowledged() {
    let one = "c1 invoke increment; c1 ok increment id=1; run audit";
    proven_by(&held(one, "0"), "lost-increment", &[1]);
    none(&held(one, "1"));
    for data in ["0", "1"] {
        innocent(|text| held(text, data), one, "c1 ok increment id=1 => c1 end increment");
    }
}

#[test]
fn a_count_that_is_less_than_the_acknowledged_increments() {
    let twice = "c1 invoke increment; c2 invoke increment; c1 ok increment id=1; c2 ok increment id=1; run audit";
    let results = found(&held(twice, "1"), &["duplicate-id", "lost-increment"]);
    assert_eq!(results.anomalies[1].witness, [2, 3]);
    one(&held(twice, "2"), "duplicate-id");
}

#[test]
fn a_value_that_nobody_can_have_made() {
    let jump = "c1 invoke increment; c1 ok increment id=2";
    proven_by(&counter(jump), "phantom-increment", &[1]);
    proven_by(&counter("c1 invoke get; c1 ok get value=1"), "phantom-increment", &[1]);
    let table = "
        c1 invoke => c2 invoke increment; c2 end increment; c1 invoke
        c1 invoke => c2 invoke increment; c1 invoke
        c1 invoke => c2 invoke increment; c2 ok increment id=1; c1 invoke";
    innocent(counter, jump, table);
    let table = "
        c1 invoke => c2 invoke increment; c2 fail increment; c1 invoke
        id=2 => id=2; c2 invoke increment; c2 end increment # it was sent too late";
    guilty(counter, "phantom-increment", jump, table);
    // One that was given a greater id is not among those below.
    let above = "c1 invoke increment; c2 invoke increment; c1 ok increment id=2; c2 ok increment id=3";
    proven_by(&counter(above), "phantom-increment", &[2]);
}

#[test]
fn a_tree_that_holds_more_than_was_sent() {
    let one = "c1 invoke increment; c1 ok increment id=1; run audit";
    let two = |text: &str| held(text, "2");
    proven_by(&two(one), "phantom-increment", &[]);
    let table = "c1 invoke => c2 invoke increment; c2 end increment; c1 invoke";
    innocent(two, one, table);
    let table = "c1 invoke => c2 invoke increment; c2 fail increment; c1 invoke";
    guilty(two, "phantom-increment", one, table);
}

/// Which of two requests was answered is unknown.
#[test]
fn an_answer_that_may_be_another_ones_convicts_nobody() {
    for text in [
        "c1 invoke increment; c1 invoke increment; c1 ok increment id=2",
        "c1 invoke increment; c1 ok increment id=1; c1 fail increment; c2 invoke get; c2 ok get value=1",
        "c1 invoke increment; c1 ok increment id=1; c1 ok increment id=1",
    ] {
        none(&counter(text));
    }
}

const GOOD: &str = "
    run ops
    c1 invoke increment; c1 ok increment id=1
    c2 invoke increment; c2 end increment
    c3 invoke get; c3 ok get value=1
    run recovered
    c1 invoke increment; c1 ok increment id=2
    c2 invoke increment; c2 ok increment id=3
    c3 invoke get; c3 ok get value=2
    c3 ask confirm; c3 answer confirm
    c3 invoke get; c3 ok get value=3
    run audit; run done";

fn good() -> Record {
    held(GOOD, "3")
}

#[test]
fn a_run_with_progress_and_recovery_is_valid() {
    of_family(&valid(&good()), "counter");
}

#[test]
fn what_was_not_looked_at_is_unknown() {
    unknown(
        &counter(GOOD),
        "in 2 readings of the znode tree /counter has no value that can be read",
    );
    unknown(&held(GOOD, "three"), "/counter has no value");
    let mut blind = changed(good(), |blind| blind.tree = None);
    unknown(&blind, "what the counter held at last was not looked at");
    blind.history.events.retain(|event| event.f != "confirm");
    number(&mut blind.history.events);
    unknown(&blind, "no client read the counter after it had answered a confirm");
    unknown(
        &blind,
        "3 increments were answered after the counter was looked at for the last time",
    );
    for (edits, data, reason) in [
        ("c3 ok get => c3 end get", "3", "there was no progress"),
        ("increment id=2 => increment id=null", "3", "gives no id of a counter"),
        ("get value=2 => get value=-1", "3", "gives no value of a counter"),
        // What is pending after recovery is too little evidence.
        (
            "run audit => c1 invoke increment; run audit",
            "3",
            "the increment of c1 sent at",
        ),
        (
            "c2 ok increment id=3 => c2 fail increment | get value=3 => get value=2",
            "2",
            "after recovery",
        ),
    ] {
        unknown(&held(&edited(GOOD, edits), data), reason);
    }
}
