//! Answers about items that cannot be read, or that contradict what was answered before.

use super::items::{STORED, SWAPPED, TWICE, drained};
use super::{claimed, fifo};
use crate::expect::{edited, explains, guilty, has_reason, innocent, none, one, proven, proven_by};
use crate::script::run;
use zooquake_checkers::Verdict;

/// Only `null` means that the queue was empty.
#[test]
fn an_answer_that_names_no_item_is_no_empty_queue() {
    for answer in ["item=one", "", "item=x1"] {
        let broken = format!("c3 ok dequeue item=null => c3 ok dequeue {answer}");
        let results = none(&fifo(&edited(&drained(""), &broken)));
        assert_eq!(results.verdict, Verdict::Unknown);
        has_reason(&results, "the `dequeue` of c3, which names no one item");
    }
    // It may have been the item that is missing, unless that was enqueued only later.
    let took = "c2 invoke dequeue; c2 ok dequeue item=one";
    none(&fifo(&drained(took)));
    one(&fifo(&format!("{took}\n{}", drained(""))), "lost-item");
    none(&fifo(&drained(
        "c2 invoke dequeue; c2 note taking item=one; c2 end dequeue",
    )));
    let ended = "c2 invoke dequeue; c2 end dequeue; c2 invoke acknowledge item=1; c2 end acknowledge";
    none(&claimed(&drained(ended)));
}

#[test]
fn an_enqueue_that_names_no_item_may_be_of_any() {
    let given = "c2 invoke dequeue; c2 ok dequeue item=1";
    for text in [
        format!("c1 invoke enqueue item=one; {given}"),
        format!("c1 invoke enqueue; c1 ok enqueue; {given}"),
        // It answered for another one than it was asked for.
        format!("c1 invoke enqueue item=2; c1 ok enqueue item=1; {given}"),
        format!("c1 invoke enqueue item=one; {TWICE}"),
        format!("c3 invoke enqueue item=two; {SWAPPED}"),
    ] {
        none(&fifo(&text));
    }
    // It came too late, or certainly not.
    one(&fifo(&format!("{given}; c1 invoke enqueue item=one")), "phantom-item");
    let record = fifo(&format!("c1 invoke enqueue item=one; c1 fail enqueue; {given}"));
    one(&record, "phantom-item");
}

#[test]
fn an_item_whose_enqueue_certainly_failed_is_a_phantom() {
    let failed = "c1 invoke enqueue item=1; c1 fail enqueue";
    let given = "c2 invoke dequeue; c2 ok dequeue item=1";
    for variant in ["fifo", "claimed"] {
        let queue = |text: &str| run(variant, text);
        let text = format!("{failed}; {given}");
        let found = proven_by(&queue(&text), "phantom-item", &[3]);
        explains(&found, "Every enqueue of it certainly failed");
        let later =
            format!("c1 fail enqueue => | {given} => {given}; c1 fail enqueue # it may be read after the delivery");
        guilty(queue, "phantom-item", &text, &later);
        let stored = "c1 invoke enqueue item=1; c1 ok enqueue item=1";
        let table = format!("c1 fail => c1 end\n {given} => {stored}; {given}");
        innocent(queue, &text, &table);
    }
    let consumed = format!("{failed}; c2 invoke acknowledge item=1; c2 ok acknowledge item=1");
    explains(&proven(&claimed(&consumed), "phantom-item"), "was acknowledged by c2");
    innocent(claimed, &consumed, "c2 ok => c2 fail");
    // Tried again after it failed it was enqueued once, so twice is too often.
    one(&fifo(&format!("{failed}; {TWICE}")), "duplicate-delivery");
}

#[test]
fn an_item_is_not_delivered_after_its_acknowledgement() {
    let text = "
        c1 invoke enqueue item=1; c1 ok enqueue item=1
        c1 invoke dequeue; c1 ok dequeue item=1
        c1 invoke acknowledge item=1; c1 ok acknowledge item=1
        c2 invoke dequeue; c2 ok dequeue item=1";
    proven_by(&claimed(text), "duplicate-delivery", &[5, 6, 7]);
    // Its answer does not name the item.
    let bare = edited(text, "c1 ok acknowledge item=1 => c1 ok acknowledge");
    proven_by(&claimed(&bare), "duplicate-delivery", &[4, 5, 6, 7]);
    let table = "
        c2 invoke dequeue => | c1 ok dequeue => c2 invoke dequeue; c1 ok dequeue # it may have been delivered before
        c1 ok acknowledge => c1 fail acknowledge
        c1 ok acknowledge => c1 info acknowledge
        c2 ok dequeue item=1 => c2 note taking item=1; c2 end dequeue
        c1 invoke enqueue => c3 invoke enqueue item=one; c1 invoke enqueue";
    innocent(claimed, text, table);
    none(&claimed(&format!("{text}{STORED}")));
}
