//! Requests and answers that do not pair, and answers about grants that do not fit together.

use crate::queue::told;
use crate::script::{kinds, record};
use serde_json::json;
use zooquake_checkers::{Record, Results, Verdict, check};

const PAIRED: &str = "
    run ops
    c1 acquire g1
    c1 granted g1 czxid=10
    c1 write g1
    c1 wrote g1
    c1 release g1
    c1 released g1
    c2 acquire g2
    c2 granted g2 czxid=20
    c2 release g2
    c2 released g2
    run recovered
    c1 acquire g3
    c1 granted g3 czxid=30
    c1 release g3
    c1 released g3
    c2 acquire g4
    c2 granted g4 czxid=40
    c2 release g4
    c2 released g4
    run audit
    c1 quiesce
    c1 quiesced sessions=0x1
    c2 quiesce
    c2 quiesced sessions=0x2
    run done";

#[track_caller]
fn unknown(record: &Record, reason: &str) -> Results {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    let said = results.reasons.iter().any(|text| text.contains(reason));
    assert!(said, "{reason:?} is not in {:#?}", results.reasons);
    results
}

fn valid(text: &str) {
    let results = check(&record(text));
    assert_eq!(results.verdict, Verdict::Valid, "{:#?}", results.reasons);
}

#[test]
fn a_process_has_one_operation_at_a_time_and_each_one_answer() {
    valid(PAIRED);
    let with = |from: &str, to: &str| record(&PAIRED.replace(from, to));
    let busy = "event 8 asks process 2 for `acquire` while its `acquire` of event 7 is not answered";
    unknown(&with("c2 acquire g2", "c2 acquire g0\n c2 acquire g2"), busy);
    let unasked = "do not pair at 1 events, so that it is not certain what happened: event 7 answers `acquire`";
    unknown(&with("    c2 acquire g2\n", ""), unasked);
    let twice = "event 9 answers the `acquire` of process 2 that event 8 had answered";
    unknown(
        &with(
            "c2 granted g2 czxid=20",
            "c2 granted g2 czxid=20\n c2 granted g2 czxid=21",
        ),
        twice,
    );
    let other = "event 8 answers `release` for process 2, which was asked for `acquire` at event 7";
    unknown(&with("c2 granted g2 czxid=20\n    c2 release g2\n", ""), other);
    unknown(
        &with("    c2 quiesce\n", ""),
        "answers `quiesce` for process c2, which was not asked for it",
    );
}

#[test]
fn a_process_that_ended_or_was_cut_off_pairs() {
    valid(&PAIRED.replace("c2 acquire g2", "c2 acquire g0\n c2 exit\n c2 acquire g2"));
    valid(&PAIRED.replace("c2 acquire g2", "c2 acquire g0\n c2 unknown acquire g0\n c2 acquire g2"));
    // The harness was killed while both waited.
    let cut = format!("{}\n c1 acquire g5\n c2 acquire g6", PAIRED.replace("run done", ""));
    let results = check(&record(&cut));
    assert!(
        !results.reasons.iter().any(|reason| reason.contains("do not pair")),
        "{:?}",
        results.reasons
    );
}

#[test]
fn what_never_pairs_waits_for_nobody() {
    let late = PAIRED
        .replace("run recovered", "1 run recovered")
        .replace("run audit", "30 run audit");
    let results = unknown(
        &record(&late.replace("c2 acquire g2", "c2 acquire g0\n c2 acquire g2")),
        "is not answered",
    );
    assert_eq!(kinds(&results), [""; 0]);
    // What rests on none of it convicts: another client's acquire stays pending.
    let stuck = late
        .replace("c2 acquire g2", "c2 acquire g0\n c2 acquire g2")
        .replace("30 run audit", "c1 acquire g5\n 30 run audit");
    assert_eq!(kinds(&check(&record(&stuck))), ["lost-wakeup"]);
}

#[test]
fn who_acts_under_a_grant_was_granted_it() {
    let acts = |asks: &str| record(&PAIRED.replace("run recovered", &format!("{asks}\n run recovered")));
    let wrote = "c1 write g9\n c1 wrote g9";
    unknown(&acts(wrote), "is a `write` under grant g9, which nobody had asked for");
    unknown(
        &acts(&format!("c1 acquire g9\n c1 failed acquire g9\n {wrote}")),
        "is a `write` under grant g9, whose `acquire` had failed at event 12",
    );
    unknown(
        &acts("c1 acquire g9\n c1 failed acquire g9\n c1 confirm\n c1 holds g9"),
        "is a `confirm` under grant g9, whose `acquire` had failed",
    );
    // Nobody knows what came of it, so it may hold; and who was refused has not acted.
    for fits in [
        format!("c1 acquire g9\n c1 unknown acquire g9\n {wrote}"),
        "c1 acquire g9\n c1 failed acquire g9\n c1 write g9\n c1 not-held g9".to_owned(),
    ] {
        let results = check(&acts(&fits));
        assert_eq!(results.verdict, Verdict::Valid, "{:?}", results.reasons);
    }
}

#[test]
fn a_write_was_accepted_or_it_was_not() {
    let with = |accepted: serde_json::Value, kind| {
        let mut record = record(PAIRED);
        let wrote = &mut record.history.events[4];
        wrote.kind = kind;
        wrote.value["accepted"] = accepted.into();
        record
    };
    use zooquake_checkers::EventType::{Fail, Ok};
    unknown(&with(json!(false), Ok), "is answered `ok` and was not accepted");
    unknown(&with(json!("yes"), Ok), "does not say whether it was accepted");
    unknown(&with(json!(true), Fail), "is answered `fail` and was accepted");
    for (accepted, kind) in [(json!(true), Ok), (json!(null), Ok), (json!(false), Fail)] {
        assert_eq!(check(&with(accepted, kind)).verdict, Verdict::Valid);
    }
}

/// The failure of one of two requests that were sent at once may be the other's.
#[test]
fn a_failure_that_may_be_another_ones_proves_nothing() {
    let given = "c2 invoke dequeue\n c2 ok dequeue item=7";
    told::only(
        "fifo",
        &format!("c1 invoke enqueue item=7\n c1 fail enqueue\n {given}"),
        "phantom-item",
    );
    for doubtful in [
        "c1 invoke enqueue item=6\n c1 invoke enqueue item=7\n c1 fail enqueue",
        "c1 invoke enqueue item=7\n c1 ok enqueue item=7\n c1 fail enqueue",
        "c1 invoke enqueue item=7\n c1 fail enqueue\n c1 ok enqueue item=7",
    ] {
        told::silent("fifo", &format!("{doubtful}\n {given}"));
    }
    // A dequeue that fails is no enqueue that does.
    told::silent("fifo", &format!("c1 invoke enqueue item=7\n c1 fail dequeue\n {given}"));
}
