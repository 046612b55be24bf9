//! Requests and answers that do not pair, and answers about grants that do not fit together.

use crate::expect::{count, edited, innocent, kinds, lacking, one, proven, unknown, valid};
use crate::queue::fifo;
use crate::script::lock;
use serde_json::json;
use zooquake_checkers::check;
use zooquake_history::EventType::{Fail, Ok};

const PAIRED: &str = "
    run ops
    c1 acquire g1; c1 granted g1 czxid=10
    c1 write g1; c1 wrote g1
    c1 release g1; c1 released g1
    c2 acquire g2; c2 granted g2 czxid=20
    c2 release g2; c2 released g2
    run recovered
    c1 acquire g3; c1 granted g3 czxid=30; c1 release g3; c1 released g3
    c2 acquire g4; c2 granted g4 czxid=40; c2 release g4; c2 released g4
    run audit
    c1 quiesce; c1 quiesced sessions=0x1
    c2 quiesce; c2 quiesced sessions=0x2
    run done";

#[test]
fn a_process_has_one_operation_at_a_time_and_each_one_answer() {
    valid(&lock(PAIRED));
    lacking(
        lock,
        PAIRED,
        &[
            (
                "c2 acquire g2 => c2 acquire g0; c2 acquire g2",
                "event 8 asks process 2 for `acquire` while its `acquire` of event 7 is not answered",
            ),
            (
                "c2 acquire g2 =>",
                "do not pair at 1 events, so that it is not certain what happened: event 7 answers `acquire`",
            ),
            (
                "c2 granted g2 czxid=20 => c2 granted g2 czxid=20; c2 granted g2 czxid=21",
                "event 9 answers the `acquire` of process 2 that event 8 had answered",
            ),
            (
                "c2 granted g2 czxid=20 => | c2 release g2 =>",
                "event 8 answers `release` for process 2, which was asked for `acquire` at event 7",
            ),
            (
                "c2 quiesce; =>",
                "answers `quiesce` for process c2, which was not asked for it",
            ),
        ],
    );
}

#[test]
fn a_process_that_ended_or_was_cut_off_pairs() {
    valid(&lock(&edited(
        PAIRED,
        "c2 acquire g2 => c2 acquire g0; c2 exit; c2 acquire g2",
    )));
    valid(&lock(&edited(
        PAIRED,
        "c2 acquire g2 => c2 acquire g0; c2 unknown acquire g0; c2 acquire g2",
    )));
    // The harness was killed while both waited.
    let cut = edited(PAIRED, "run done => c1 acquire g5; c2 acquire g6");
    assert_eq!(count(&check(&lock(&cut)), "do not pair"), 0);
}

#[test]
fn what_never_pairs_waits_for_nobody() {
    let late = "run recovered => 1 run recovered | run audit => 30 run audit";
    let edits = format!("{late} | c2 acquire g2 => c2 acquire g0; c2 acquire g2");
    let busy = edited(PAIRED, &edits);
    assert_eq!(kinds(&unknown(&lock(&busy), "is not answered")), [""; 0]);
    // What rests on none of it convicts: another client's acquire stays pending.
    let record = lock(&edited(&busy, "30 run audit => c1 acquire g5; 30 run audit"));
    one(&record, "lost-wakeup");
}

#[test]
fn who_acts_under_a_grant_was_granted_it() {
    let acts = |asks: &str| lock(&edited(PAIRED, &format!("run recovered => {asks}; run recovered")));
    let failed = "c1 acquire g9; c1 failed acquire g9";
    let wrote = "c1 write g9; c1 wrote g9";
    unknown(
        &acts(wrote),
        "is a `write` under grant g9, which no client had requested",
    );
    let reason = "is a `write` under grant g9, whose `acquire` had failed at event 12";
    unknown(&acts(&format!("{failed}; {wrote}")), reason);
    let reason = "is a `confirm` under grant g9, whose `acquire` had failed";
    unknown(&acts(&format!("{failed}; c1 confirm; c1 holds g9")), reason);
    // Its outcome is unknown, so it may hold; and who was refused has not acted.
    valid(&acts(&format!("c1 acquire g9; c1 unknown acquire g9; {wrote}")));
    valid(&acts(&format!("{failed}; c1 write g9; c1 not-held g9")));
}

#[test]
fn a_write_was_accepted_or_it_was_not() {
    let with = |accepted: serde_json::Value, kind| {
        let mut record = lock(PAIRED);
        let wrote = &mut record.history.events[4];
        wrote.kind = kind;
        wrote.value["accepted"] = accepted.into();
        record
    };
    unknown(&with(json!(false), Ok), "is answered `ok` and was not accepted");
    unknown(&with(json!("yes"), Ok), "does not state whether it was accepted");
    unknown(&with(json!(true), Fail), "is answered `fail` and was accepted");
    for (accepted, kind) in [(json!(true), Ok), (json!(null), Ok), (json!(false), Fail)] {
        valid(&with(accepted, kind));
    }
}

/// The failure of one of two requests that were sent at once may be the other's.
#[test]
fn a_failure_that_may_be_another_ones_proves_nothing() {
    let failed = "c1 invoke enqueue item=7; c1 fail enqueue; c2 invoke dequeue; c2 ok dequeue item=7";
    proven(&fifo(failed), "phantom-item");
    let table = "
        c1 invoke enqueue item=7 => c1 invoke enqueue item=6; c1 invoke enqueue item=7
        c1 fail enqueue => c1 ok enqueue item=7; c1 fail enqueue
        c1 fail enqueue => c1 fail enqueue; c1 ok enqueue item=7
        c1 fail enqueue => c1 fail dequeue # a dequeue that fails is no enqueue that does";
    innocent(fifo, failed, table);
}
