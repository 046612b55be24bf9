//! Anomalies of items, each beside its nearest innocent twin.

use super::told::{only, silent};
use zooquake_checkers::Verdict;

const DRAIN: &str = "
    run final
    c3 ask confirm
    c3 answer confirm
    c3 invoke dequeue
    c3 ok dequeue item=null
    run drained";

pub const STORED: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1";

pub fn drained(middle: &str) -> String {
    format!("{STORED}\n{middle}\n{DRAIN}")
}

#[test]
fn an_item_that_nobody_got_and_that_is_not_there_is_lost() {
    let found = only("fifo", &drained(""), "lost-item");
    assert_eq!(found.witness, [1, 3, 4, 5, 6, 7]);
    only("claimed", &drained(""), "lost-item");
}

#[test]
fn an_item_that_was_delivered_or_found_in_the_drain_is_not_lost() {
    silent("fifo", &drained("c2 invoke dequeue\n c2 ok dequeue item=1"));
    let found = "c3 ask confirm\n c3 answer confirm\n c3 invoke dequeue\n c3 ok dequeue item=1";
    silent("fifo", &drained(found));
}

/// The consumer was killed between its delete and its reply.
#[test]
fn an_item_named_by_a_dequeue_whose_end_is_unknown_is_not_lost() {
    let killed = "c2 invoke dequeue\n c2 note taking item=1\n c2 end dequeue\n c2 note exit";
    silent("fifo", &drained(killed));
    only("fifo", &drained(&killed.replace("item=1", "item=2")), "lost-item");
    only(
        "fifo",
        &drained(&killed.replace("c2 note taking item=1", "")),
        "lost-item",
    );
}

/// Q1: the delete's reply is lost, and the retry's NoNode is read as somebody else's delete.
#[test]
fn an_item_named_by_a_dequeue_that_was_answered_with_another_is_lost() {
    let other = "
        c1 invoke enqueue item=2
        c1 ok enqueue item=2
        c2 invoke dequeue
        c2 note taking item=1
        c2 note taking item=2
        c2 ok dequeue item=2";
    only("fifo", &drained(other), "lost-item");
    only(
        "fifo",
        &drained("c2 invoke dequeue\n c2 note taking item=1\n c2 fail dequeue"),
        "lost-item",
    );
}

#[test]
fn a_notice_counts_for_the_dequeue_that_it_came_in() {
    let before = "c2 invoke dequeue\n c2 end dequeue\n c2 note taking item=1";
    only("fifo", &drained(before), "lost-item");
    let cut = "c2 invoke dequeue\n c2 note exit\n c2 note taking item=1";
    only("fifo", &drained(cut), "lost-item");
}

#[test]
fn an_item_with_an_unknown_acknowledgement_is_not_lost() {
    silent("claimed", &drained("c2 invoke acknowledge item=1\n c2 end acknowledge"));
    only(
        "claimed",
        &drained("c2 invoke acknowledge item=1\n c2 fail acknowledge"),
        "lost-item",
    );
}

#[test]
fn an_enqueue_that_was_not_acknowledged_loses_nothing() {
    let unknown = drained("").replace("c1 ok enqueue item=1", "c1 end enqueue");
    silent("fifo", &unknown);
}

#[test]
fn without_a_complete_drain_nothing_is_called_lost() {
    for broken in [
        drained("").replace("run drained", ""),
        drained("").replace("c3 answer confirm", "c3 note confirm"),
        drained("").replace("c3 ok dequeue item=null", "c3 end dequeue"),
        drained("").replace("c3 answer confirm", "c3 answer confirm\n c3 note exit"),
        drained("").replace("c3 answer confirm", "c3 answer confirm\n c3 note session session=0x4"),
        format!("{DRAIN}\n{STORED}"),
        drained("c2 invoke dequeue"),
    ] {
        let results = silent("fifo", &broken);
        assert_eq!(results.verdict, Verdict::Unknown);
        let told = |reason: &&String| reason.contains("lost") || reason.contains("drain");
        assert!(
            results.reasons.iter().any(|reason| told(&reason)),
            "{:?}",
            results.reasons
        );
    }
}

pub const TWICE: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1
    c1 invoke dequeue
    c1 ok dequeue item=1
    c2 invoke dequeue
    c2 ok dequeue item=1";

#[test]
fn at_most_once_means_that_no_item_is_delivered_twice() {
    assert_eq!(only("fifo", TWICE, "duplicate-delivery").witness, [3, 5]);
    silent("fifo", &TWICE.replace("c2 ok dequeue item=1", "c2 end dequeue"));
    silent("fifo", &TWICE.replace("c2 ok dequeue item=1", "c2 note taking item=1"));
    silent("claimed", TWICE);
}

#[test]
fn at_least_once_means_that_no_item_is_acknowledged_twice() {
    let acks = "c1 invoke acknowledge item=1\n c1 ok acknowledge item=1\n c2 invoke acknowledge item=1\n";
    let twice =
        format!("{TWICE}\n{acks} c2 ok acknowledge item=1").replace("c2 invoke dequeue\n    c2 ok dequeue item=1", "");
    assert_eq!(only("claimed", &twice, "duplicate-delivery").witness.len(), 2);
    silent(
        "claimed",
        &twice.replace("c2 ok acknowledge item=1", "c2 fail acknowledge"),
    );
    silent(
        "claimed",
        &twice.replace("c2 ok acknowledge item=1", "c2 end acknowledge"),
    );
}

/// Q5: it consumes after its claim was lost.
#[test]
fn only_the_last_owner_acknowledges() {
    let late = format!("{TWICE}\n c1 invoke acknowledge item=1\n c1 ok acknowledge item=1");
    assert_eq!(only("claimed", &late, "duplicate-delivery").witness, [3, 4, 5, 7]);
    let second = late
        .replace("c1 invoke acknowledge", "c2 invoke acknowledge")
        .replace("c1 ok ack", "c2 ok ack");
    silent("claimed", &second);
    // A dequeue of its own that nobody knows the end of may have given it back.
    let again = "c1 invoke dequeue\n c1 end dequeue\n c1 invoke ack";
    silent("claimed", &late.replace("c1 invoke ack", again));
    silent("claimed", &late.replace("c1 ok ack", "c1 fail ack"));
    silent("claimed", &late.replace("c1 ok ack", "c1 end ack"));
}

const CROSSED: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1
    c1 invoke dequeue
    c1 ok dequeue item=1
    c1 invoke acknowledge item=1
    c2 invoke dequeue
    c2 ok dequeue item=1
    c1 ok acknowledge item=1";

/// Either the item was the second one's when it was acknowledged, or its life was over when it was delivered again.
#[test]
fn an_item_that_is_delivered_again_while_it_is_acknowledged_is_a_duplicate_in_either_order() {
    assert_eq!(only("claimed", CROSSED, "duplicate-delivery").witness, [3, 5, 6, 7]);
    let sent_first = CROSSED.replace("c1 invoke acknowledge item=1\n", "").replace(
        "c2 ok dequeue item=1",
        "c1 invoke acknowledge item=1\n c2 ok dequeue item=1",
    );
    assert_eq!(only("claimed", &sent_first, "duplicate-delivery").witness, [3, 4, 6, 7]);
    let read_last = CROSSED.replace("    c2 ok dequeue item=1\n", "").replace(
        "c1 ok acknowledge item=1",
        "c1 ok acknowledge item=1\n c2 ok dequeue item=1",
    );
    assert_eq!(only("claimed", &read_last, "duplicate-delivery").witness, [3, 5, 6, 7]);
    for unknown in ["c1 fail acknowledge", "c1 end acknowledge"] {
        silent("claimed", &CROSSED.replace("c1 ok acknowledge", unknown));
    }
    silent("claimed", &CROSSED.replace("c2 ok dequeue item=1", "c2 end dequeue"));
    // Nobody knows what this one put in.
    let hidden = format!("c3 invoke enqueue item=x\n c3 end enqueue\n {CROSSED}");
    silent("claimed", &hidden);
}

#[test]
fn a_delivery_that_may_have_come_before_the_acknowledger_s_own_takes_nothing_from_it() {
    let asked_before = CROSSED
        .replace("c2 invoke dequeue\n", "")
        .replace("c1 ok dequeue item=1", "c2 invoke dequeue\n c1 ok dequeue item=1");
    silent("claimed", &asked_before);
    // It was given the item again, by a dequeue that may have come last.
    let given_back = "
        c1 invoke dequeue
        c1 ok dequeue item=1
        c1 invoke dequeue
        c2 invoke dequeue
        c2 ok dequeue item=1
        c1 ok dequeue item=1
        c1 invoke acknowledge item=1
        c1 ok acknowledge item=1";
    silent("claimed", &format!("{STORED}{given_back}"));
}

#[test]
fn an_item_enqueued_twice_is_not_judged() {
    let results = silent("fifo", &format!("{STORED}{TWICE}"));
    assert!(results.reasons.iter().any(|reason| reason.contains("enqueued 2 times")));
}

#[test]
fn an_item_that_nobody_sent_is_a_phantom() {
    let given = "c2 invoke dequeue\n c2 ok dequeue item=1";
    assert_eq!(only("fifo", given, "phantom-item").witness, [1]);
    only("fifo", &format!("{given}{STORED}"), "phantom-item");
    silent("fifo", &format!("c1 invoke enqueue item=1\n{given}"));
    silent("fifo", &format!("c1 invoke enqueue item=1\n c1 end enqueue\n{given}"));
    silent("fifo", "c2 invoke dequeue\n c2 note taking item=1\n c2 end dequeue");
}

pub const SWAPPED: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1
    c1 invoke enqueue item=2
    c1 ok enqueue item=2
    c2 invoke dequeue
    c2 ok dequeue item=2
    c2 invoke dequeue
    c2 ok dequeue item=1";

#[test]
fn an_item_delivered_before_an_earlier_one_is_out_of_order() {
    assert_eq!(only("fifo", SWAPPED, "reordered").witness, [1, 2, 5, 6, 7]);
    only("claimed", SWAPPED, "reordered");
    // The enqueues overlapped.
    let overlap = SWAPPED
        .replace("c1 ok enqueue item=1\n", "")
        .replace("c1 invoke enqueue item=2", "c3 invoke enqueue item=2");
    silent(
        "fifo",
        &overlap.replace("c1 ok enqueue item=2", "c3 ok enqueue item=2\n c1 ok enqueue item=1"),
    );
    // The dequeues overlapped.
    silent(
        "fifo",
        &SWAPPED
            .replace("c2 ok dequeue item=2", "c3 invoke dequeue\n c2 ok dequeue item=2")
            .replace("c2 invoke dequeue\n    c2 ok dequeue item=1", "c3 ok dequeue item=1"),
    );
}

#[test]
fn a_first_delivery_that_nobody_was_told_of_excuses_the_order() {
    let died = "c3 invoke dequeue\n c3 note taking item=1\n c3 end dequeue\n c2 invoke dequeue";
    silent("claimed", &SWAPPED.replacen("c2 invoke dequeue", died, 1));
    only(
        "claimed",
        &SWAPPED.replacen("c2 invoke dequeue", &died.replace("item=1", "item=3"), 1),
        "reordered",
    );
    silent(
        "claimed",
        &SWAPPED.replacen("c2 invoke dequeue", "c3 invoke dequeue\n c2 invoke dequeue", 1),
    );
}
