//! `stuck-queue`: operations that stay pending, each beside its nearest innocent twin; random ones; and long ones.

use super::{claimed, fifo, simulated_queues, stuck_queue_definition};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{edited, explains, guilty, has_reason, innocent, minimal_beside, none, of_kind, proven, proven_by};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Verdict, check};
use zooquake_history::{Event, EventType, Record};

/// Items 1 and 2 were acknowledged; nobody named item 2 before the drain.
const PENDING: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c1 invoke enqueue item=2; c1 ok enqueue item=2
    1 run recovered
    2 c2 invoke dequeue; c2 note taking item=1
    20 run audit";

#[test]
fn a_dequeue_beside_an_item_that_nobody_took_is_stuck() {
    let found = proven_by(&fifo(PENDING), "stuck-queue", &[3, 4, 5, 7]);
    explains(&found, "c2 was sent `dequeue` at 2.000 s");
    explains(&found, "Acknowledged had been the enqueues of item 2 at");
    proven(&claimed(PENDING), "stuck-queue");
    let table = "
        c2 note taking item=1 => c2 note connected # it names nothing
        20 run audit => 20 c3 invoke dequeue; c3 ok dequeue item=2; run audit # it was there until then
        2 c2 invoke dequeue => 2 c3 invoke dequeue; c3 note taking item=2; c3 fail dequeue; c2 invoke dequeue
        20 run audit => 15 c2 info dequeue; 20 run audit # it has timed out
        20 run audit => 15 c2 fail dequeue; 20 run audit
        20 run audit => 3 c1 invoke enqueue item=3; c1 ok enqueue item=3; 20 run audit
        1 run recovered => c3 invoke enqueue item=x; c3 info enqueue; 1 run recovered";
    guilty(fifo, "stuck-queue", PENDING, table);
}

#[test]
fn a_dequeue_is_not_stuck_where_it_is_not_certain_that_an_item_is_there() {
    let table = "
        c1 ok enqueue item=2 => c1 info enqueue # its enqueue is unknown
        c1 ok enqueue item=2 => c1 fail enqueue
        c2 note taking item=1 => c2 note taking item=1; c2 note taking item=2 # it may have taken it itself
        1 run recovered => c3 invoke dequeue; c3 note taking item=2; c3 info dequeue; 1 run recovered
        1 run recovered => c3 invoke dequeue; c3 note taking item=2; c3 note exit; 1 run recovered
        1 run recovered => c3 invoke dequeue; c3 ok dequeue item=2; 1 run recovered
        1 run recovered => c3 invoke dequeue; c3 ok dequeue item=null; 1 run recovered # the queue was empty
        1 run recovered => c3 invoke acknowledge item=2; c3 info acknowledge; 1 run recovered
        1 run recovered => c3 info dequeue; c3 note hello cannot=taking; 1 run recovered
        20 run audit => 9 c3 invoke dequeue; c3 ok dequeue item=2; 20 run audit # it was taken too early
        20 run audit => 11 run audit # for less than the bound
        20 run audit => 3 c2 ok dequeue item=1; 20 run audit
        20 run audit => 3 c2 ok dequeue item=null; 20 run audit
        20 run audit => 3 c2 fail dequeue; 4 c2 invoke dequeue; 5 c2 ok dequeue item=1; 20 run audit
        20 run audit => 11 c2 info dequeue; 20 run audit
        20 run audit => 19 c2 note exit; 20 run audit
        c1 invoke enqueue item=2; c1 ok enqueue item=2 => \
            | 20 run audit => 11 c1 invoke enqueue item=2; c1 ok enqueue item=2; 20 run audit # it was put in too late
        1 run recovered => run stall ms=1500 | 20 run audit => 20 run audit # nothing has recovered
        20 run audit => 10 run stall ms=1500; 20 run audit # the harness stood still";
    innocent(fifo, PENDING, table);
}

#[test]
fn what_convicts_nobody_is_a_reason() {
    let words = |edits: &str| {
        let results = none(&fifo(&edited(PENDING, edits)));
        assert_eq!(results.verdict, Verdict::Unknown, "{edits}");
        results
    };
    has_reason(
        &words("c1 ok enqueue item=2 => c1 info enqueue"),
        "it is not certain that an item lay in the queue",
    );
    has_reason(
        &words("20 run audit => 11 run audit"),
        "only 9.000 s of the 10.000 s after which that convicts",
    );
    has_reason(
        &words("c2 invoke dequeue; c2 note taking item=1 => c2 invoke enqueue item=7"),
        "the enqueue of c2",
    );
}

/// What is done for the drain may let it go on: it was pending until then all the same.
#[test]
fn a_dequeue_that_is_answered_in_the_drain_was_stuck_until_then() {
    let drain = "15 c3 ask confirm; c3 answer confirm
        16 c3 invoke dequeue; c3 ok dequeue item=2; 17 c2 ok dequeue item=1; 20 run audit";
    let drained = edited(PENDING, &format!("20 run audit => {drain}"));
    proven_by(&fifo(&drained), "stuck-queue", &[3, 4, 5, 12]);
    let table = "
        15 c3 ask confirm => 11 c3 ask confirm
        17 c2 ok dequeue item=1; => | 15 c3 ask confirm => 14 c2 ok dequeue item=1; 15 c3 ask confirm";
    innocent(fifo, &drained, table);
}

#[test]
fn dequeues_that_are_refused_again_and_again_are_stuck() {
    let refused: String = (0..20)
        .map(|at| format!("{} c2 invoke dequeue; {} c2 fail dequeue\n", 2 + at, 3 + at))
        .collect();
    let text = edited(
        PENDING,
        "2 c2 invoke dequeue; c2 note taking item=1 => | 20 run audit => 30 run audit",
    );
    let text = text.replace("30 run audit", &format!("{refused}30 run audit"));
    explains(&proven(&fifo(&text), "stuck-queue"), "was refused again and again");
    innocent(fifo, &text, "21 c2 fail dequeue => 21 c2 ok dequeue item=1");
}

const ACKNOWLEDGING: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    1 run recovered
    2 c2 invoke dequeue; c2 ok dequeue item=1
    3 c2 invoke acknowledge item=1
    20 run audit";

#[test]
fn an_acknowledge_that_stays_pending_is_stuck_whatever_lies_in_the_queue() {
    let found = proven_by(&claimed(ACKNOWLEDGING), "stuck-queue", &[2, 5, 6]);
    explains(&found, "c2 was sent `acknowledge` at 3.000 s");
    let table = "
        20 run audit => 12 run audit
        20 run audit => 4 c2 ok acknowledge item=1; 20 run audit
        20 run audit => 4 c2 fail acknowledge; 20 run audit
        20 run audit => 19 c2 fail acknowledge; 20 run audit
        20 run audit => 19 c2 note exit; 20 run audit";
    innocent(claimed, ACKNOWLEDGING, table);
    guilty(
        claimed,
        "stuck-queue",
        ACKNOWLEDGING,
        "20 run audit => 15 c2 info acknowledge; 20 run audit",
    );
}

/// Each of its dequeues may have taken one item.
#[test]
fn of_clients_that_cannot_name_what_they_take_each_dequeue_takes_an_item_away() {
    let nameless = |text: &str| fifo(&format!("c2 note hello cannot=taking; {text}"));
    let pending = edited(PENDING, "c2 note taking item=1 => c2 note connected");
    let found = check(&nameless(&pending));
    explains(
        of_kind(&found, "stuck-queue")[0],
        "1 dequeue of clients that cannot name what they take",
    );
    innocent(nameless, &pending, "c1 invoke enqueue item=2; c1 ok enqueue item=2 =>");
}

/// What such a client's dequeue was refused shows that it took nothing, so that the refusals are of the witness.
#[test]
fn refusals_of_clients_that_cannot_name_what_they_take_are_shown() {
    let refused = |answers: &str| {
        let edits = format!(
            "c2 invoke dequeue; c2 note taking item=1 => c2 invoke dequeue; {answers} | c1 invoke enqueue item=2; c1 ok enqueue item=2 =>"
        );
        fifo(&format!("c2 note hello cannot=taking; {}", edited(PENDING, &edits)))
    };
    let shown = |record: &Record| {
        let anomaly = of_kind(&check(record), "stuck-queue")[0].clone();
        minimal(record, &anomaly);
        let events = anomaly.witness.iter().map(|&at| &record.history.events[at]);
        events.filter(|event| event.f == "dequeue").count()
    };
    assert_eq!(shown(&refused("15 c2 fail dequeue")), 2);
    let again = "7 c2 fail dequeue; c2 invoke dequeue; 9 c2 fail dequeue; c2 invoke dequeue; 15 c2 fail dequeue";
    assert_eq!(shown(&refused(again)), 4);
    // Where it is not answered it may have taken the one item.
    assert!(of_kind(&check(&refused("c2 note connected")), "stuck-queue").is_empty());
}

/// The witness convicts beside all that excuses, and none of it can be left out.
fn minimal(record: &Record, anomaly: &Anomaly) {
    let nameless = |event: &&Event| stuck_queue_definition::may_take_any(record, event);
    let hello = |event: &&Event| event.f == "hello" || nameless(event);
    let mut beside: BTreeSet<usize> = record
        .history
        .events
        .iter()
        .filter(hello)
        .map(|event| event.index)
        .collect();
    beside.retain(|at| !anomaly.witness.contains(at));
    let about = |anomaly: &Anomaly| anomaly.why.split(" and ").next().map(str::to_owned);
    minimal_beside(record, anomaly, &beside, |other| {
        other.kind == anomaly.kind && about(other) == about(anomaly)
    });
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_queues::pending(seed, seed.is_multiple_of(4));
    let results = check(&record);
    let found = of_kind(&results, "stuck-queue");
    let about = |anomaly: &&Anomaly| {
        let words: Vec<&str> = anomaly.why.split(' ').collect();
        (
            words[0].to_owned(),
            if words[3] == "`dequeue`" {
                "dequeue"
            } else {
                "acknowledge"
            },
        )
    };
    let told: BTreeSet<(String, &str)> = found.iter().map(about).collect();
    assert_eq!(
        told,
        stuck_queue_definition::stuck(&record),
        "seed {seed}\n{}",
        crate::doubtful_evidence::lines(&record)
    );
    for f in ["dequeue", "acknowledge"] {
        count(counts, f, told.iter().any(|(_, stuck)| *stuck == f));
    }
    let longer = |anomaly: &&&Anomaly| anomaly.why.contains(" The bound is 10.000 s");
    found
        .iter()
        .filter(longer)
        .filter(|_| seed.is_multiple_of(10))
        .for_each(|anomaly| {
            if std::panic::catch_unwind(|| minimal(&record, anomaly)).is_err() {
                panic!("seed {seed}\n{}", crate::doubtful_evidence::lines(&record));
            }
        });
    let answered = record
        .history
        .events
        .iter()
        .filter(|event| event.kind == EventType::Ok)
        .count();
    count(counts, "nothing", answered > 4 && told.is_empty());
}

#[test]
fn random_histories() {
    spread(100, drawn(agree));
}
