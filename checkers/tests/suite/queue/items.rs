//! Anomalies of items, each beside its nearest innocent twin.

use super::{claimed, fifo};
use crate::expect::{edited, guilty, has_reason, innocent, none, proven, proven_by};
use zooquake_checkers::Verdict;

const DRAIN: &str = "
    run final
    c3 ask confirm; c3 answer confirm
    c3 invoke dequeue; c3 ok dequeue item=null
    run drained";

pub const STORED: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1";

pub fn drained(middle: &str) -> String {
    format!("{STORED}\n{middle}\n{DRAIN}")
}

#[test]
fn an_item_that_nobody_got_and_that_is_not_there_is_lost() {
    proven_by(&fifo(&drained("")), "lost-item", &[1, 3, 4, 5, 6, 7]);
    proven(&claimed(&drained("")), "lost-item");
    // It was delivered, or found in the drain, or its enqueue was not acknowledged.
    none(&fifo(&drained("c2 invoke dequeue; c2 ok dequeue item=1")));
    none(&fifo(&drained(
        "c3 ask confirm; c3 answer confirm; c3 invoke dequeue; c3 ok dequeue item=1",
    )));
    innocent(fifo, &drained(""), "c1 ok enqueue item=1 => c1 end enqueue");
}

/// The consumer was killed between its delete and its reply.
#[test]
fn an_item_named_by_a_dequeue_whose_end_is_unknown_is_not_lost() {
    let killed = drained("c2 invoke dequeue; c2 note taking item=1; c2 end dequeue; c2 note exit");
    none(&fifo(&killed));
    let table = "c2 note taking item=1 => c2 note taking item=2\n c2 note taking item=1 =>";
    guilty(fifo, "lost-item", &killed, table);
}

#[test]
fn an_item_that_only_such_an_operation_names_is_lost() {
    for named in [
        // Q1: the delete's reply is lost, and the retry's NoNode is read as somebody else's delete.
        "c1 invoke enqueue item=2; c1 ok enqueue item=2
         c2 invoke dequeue; c2 note taking item=1; c2 note taking item=2; c2 ok dequeue item=2",
        "c2 invoke dequeue; c2 note taking item=1; c2 fail dequeue",
        // A notice counts for the dequeue that it came in.
        "c2 invoke dequeue; c2 end dequeue; c2 note taking item=1",
        "c2 invoke dequeue; c2 note exit; c2 note taking item=1",
    ] {
        proven(&fifo(&drained(named)), "lost-item");
    }
}

#[test]
fn an_item_with_an_unknown_acknowledgement_is_not_lost() {
    let unknown = drained("c2 invoke acknowledge item=1; c2 end acknowledge");
    none(&claimed(&unknown));
    let table = "c2 end acknowledge => c2 fail acknowledge";
    guilty(claimed, "lost-item", &unknown, table);
}

#[test]
fn without_a_complete_drain_nothing_is_called_lost() {
    let edits = [
        "run drained =>",
        "c3 answer confirm => c3 note confirm",
        "c3 ok dequeue item=null => c3 end dequeue",
        "c3 answer confirm => c3 answer confirm; c3 note exit",
        "c3 answer confirm => c3 answer confirm; c3 note session session=0x4",
    ];
    let broken = edits.iter().map(|edit| edited(&drained(""), edit));
    for broken in broken.chain([format!("{DRAIN}\n{STORED}"), drained("c2 invoke dequeue")]) {
        let results = none(&fifo(&broken));
        assert_eq!(results.verdict, Verdict::Unknown);
        let told = |reason: &String| reason.contains("lost") || reason.contains("drain");
        assert!(results.reasons.iter().any(told), "{broken}: {:?}", results.reasons);
    }
}

pub const TWICE: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c1 invoke dequeue; c1 ok dequeue item=1
    c2 invoke dequeue; c2 ok dequeue item=1";

#[test]
fn at_most_once_means_that_no_item_is_delivered_twice() {
    proven_by(&fifo(TWICE), "duplicate-delivery", &[3, 5]);
    let table = "
        c2 ok dequeue item=1 => c2 end dequeue
        c2 ok dequeue item=1 => c2 note taking item=1";
    innocent(fifo, TWICE, table);
    none(&claimed(TWICE));
}

#[test]
fn at_least_once_means_that_no_item_is_acknowledged_twice() {
    let acks = "c1 invoke acknowledge item=1; c1 ok acknowledge item=1; c2 invoke acknowledge item=1; c2 ok acknowledge item=1";
    let twice = edited(TWICE, &format!("c2 invoke dequeue; c2 ok dequeue item=1 => {acks}"));
    assert_eq!(proven(&claimed(&twice), "duplicate-delivery").witness.len(), 2);
    let table = "
        c2 ok acknowledge item=1 => c2 fail acknowledge
        c2 ok acknowledge item=1 => c2 end acknowledge";
    innocent(claimed, &twice, table);
}

/// Q5: it consumes after its claim was lost.
#[test]
fn only_the_last_owner_acknowledges() {
    let late = format!("{TWICE}; c1 invoke acknowledge item=1; c1 ok acknowledge item=1");
    proven_by(&claimed(&late), "duplicate-delivery", &[3, 4, 5, 7]);
    let table = "
        c1 invoke acknowledge => c2 invoke acknowledge | c1 ok ack => c2 ok ack
        c1 invoke ack => c1 invoke dequeue; c1 end dequeue; c1 invoke ack # it may have been given it back
        c1 ok ack => c1 fail ack
        c1 ok ack => c1 end ack";
    innocent(claimed, &late, table);
}

const CROSSED: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c1 invoke dequeue; c1 ok dequeue item=1
    c1 invoke acknowledge item=1
    c2 invoke dequeue; c2 ok dequeue item=1
    c1 ok acknowledge item=1";

/// Either the item was the second one's when it was acknowledged, or its life was over when it was delivered again.
#[test]
fn an_item_that_is_delivered_again_while_it_is_acknowledged_is_a_duplicate_in_either_order() {
    for (edits, witness) in [
        ("c1 => c1", [3, 5, 6, 7]),
        // Its acknowledgement is sent first, or its answer is read before the delivery.
        (
            "c1 invoke acknowledge item=1 => | c2 ok => c1 invoke acknowledge item=1; c2 ok",
            [3, 4, 6, 7],
        ),
        (
            "c2 ok dequeue item=1 => | c1 ok acknowledge item=1 => c1 ok acknowledge item=1; c2 ok dequeue item=1",
            [3, 5, 6, 7],
        ),
    ] {
        let found = proven(&claimed(&edited(CROSSED, edits)), "duplicate-delivery").witness;
        assert_eq!(found, witness, "{edits}");
    }
    let table = "
        c1 ok acknowledge => c1 fail acknowledge
        c1 ok acknowledge => c1 end acknowledge
        c2 ok dequeue item=1 => c2 end dequeue
        c1 invoke enqueue => c3 invoke enqueue item=x; c3 end enqueue; c1 invoke enqueue # nobody knows what this one put in
        c2 invoke dequeue => | c1 ok dequeue item=1 => c2 invoke dequeue; c1 ok dequeue item=1 # it may have come before";
    innocent(claimed, CROSSED, table);
    // The acknowledger was given the item again, by a dequeue that may have come last.
    let given_back = "
        c1 invoke dequeue; c1 ok dequeue item=1
        c1 invoke dequeue
        c2 invoke dequeue; c2 ok dequeue item=1
        c1 ok dequeue item=1
        c1 invoke acknowledge item=1; c1 ok acknowledge item=1";
    none(&claimed(&format!("{STORED}{given_back}")));
}

#[test]
fn an_item_enqueued_twice_is_not_judged() {
    has_reason(&none(&fifo(&format!("{STORED}{TWICE}"))), "enqueued 2 times");
}

#[test]
fn an_item_that_nobody_sent_is_a_phantom() {
    let given = "c2 invoke dequeue; c2 ok dequeue item=1";
    proven_by(&fifo(given), "phantom-item", &[1]);
    proven(&fifo(&format!("{given}{STORED}")), "phantom-item");
    none(&fifo(&format!("c1 invoke enqueue item=1; {given}")));
    none(&fifo(&format!("c1 invoke enqueue item=1; c1 end enqueue; {given}")));
    none(&fifo("c2 invoke dequeue; c2 note taking item=1; c2 end dequeue"));
}

pub const SWAPPED: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c1 invoke enqueue item=2; c1 ok enqueue item=2
    c2 invoke dequeue; c2 ok dequeue item=2
    c2 invoke dequeue; c2 ok dequeue item=1";

#[test]
fn an_item_delivered_before_an_earlier_one_is_out_of_order() {
    proven_by(&fifo(SWAPPED), "reordered", &[1, 2, 5, 6, 7]);
    proven(&claimed(SWAPPED), "reordered");
    let swapped = "c1 ok enqueue item=1 => | c1 invoke enqueue item=2 => c3 invoke enqueue item=2";
    let table = format!(
        "{swapped} | c1 ok enqueue item=2 => c3 ok enqueue item=2; c1 ok enqueue item=1 # the enqueues overlapped
         c2 invoke dequeue; c2 ok dequeue item=1 => c3 ok dequeue item=1 \
         | c2 ok dequeue item=2 => c3 invoke dequeue; c2 ok dequeue item=2 # the dequeues overlapped"
    );
    innocent(fifo, SWAPPED, &table);
}

#[test]
fn a_first_delivery_that_nobody_was_told_of_excuses_the_order() {
    let first = "c2 invoke dequeue; c2 ok dequeue item=2";
    let died = "c3 invoke dequeue; c3 note taking item=1; c3 end dequeue";
    let table = format!("{first} => {died}; {first}\n {first} => c3 invoke dequeue; {first}");
    innocent(claimed, SWAPPED, &table);
    let other = format!("{first} => {}; {first}", died.replace("item=1", "item=3"));
    guilty(claimed, "reordered", SWAPPED, &other);
}
