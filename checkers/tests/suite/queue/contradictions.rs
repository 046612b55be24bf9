//! Answers about items that cannot be read, or that contradict what was answered before.

use super::items::{STORED, SWAPPED, TWICE, drained};
use super::told::{kinds, only, record, silent};
use zooquake_checkers::{Verdict, check};

/// Only `null` says that the queue was empty.
#[test]
fn an_answer_that_names_no_item_is_no_empty_queue() {
    for answer in ["item=one", "", "item=x1"] {
        let broken = drained("").replace("c3 ok dequeue item=null", &format!("c3 ok dequeue {answer}"));
        let results = silent("fifo", &broken);
        assert_eq!(results.verdict, Verdict::Unknown);
        let said = |reason: &String| reason.contains("the `dequeue` of c3, which names no one item");
        assert!(results.reasons.iter().any(said), "{:?}", results.reasons);
    }
    // It may have been the item that is missing, unless that was enqueued only later.
    let took = "c2 invoke dequeue\n c2 ok dequeue item=one";
    silent("fifo", &drained(took));
    let before = format!("{took}\n{}", drained(""));
    let results = check(&record("fifo", &before));
    assert_eq!(kinds(&results), ["lost-item"], "{results:#?}");
    silent(
        "fifo",
        &drained("c2 invoke dequeue\n c2 note taking item=one\n c2 end dequeue"),
    );
    silent(
        "claimed",
        &drained("c2 invoke dequeue\n c2 end dequeue\n c2 invoke acknowledge item=1\n c2 end acknowledge"),
    );
}

#[test]
fn an_enqueue_that_names_no_item_may_be_of_any() {
    let given = "c2 invoke dequeue\n c2 ok dequeue item=1";
    silent("fifo", &format!("c1 invoke enqueue item=one\n{given}"));
    silent("fifo", &format!("c1 invoke enqueue\n c1 ok enqueue\n{given}"));
    // It answered for another one than it was asked for.
    silent(
        "fifo",
        &format!("c1 invoke enqueue item=2\n c1 ok enqueue item=1\n{given}"),
    );
    silent("fifo", &format!("c1 invoke enqueue item=one\n{TWICE}"));
    silent("fifo", &format!("c3 invoke enqueue item=two\n{SWAPPED}"));
    // It came too late, or certainly not.
    assert_eq!(
        kinds(&check(&record(
            "fifo",
            &format!("{given}\n c1 invoke enqueue item=one")
        ))),
        ["phantom-item"]
    );
    let failed = format!("c1 invoke enqueue item=one\n c1 fail enqueue\n{given}");
    assert_eq!(kinds(&check(&record("fifo", &failed))), ["phantom-item"]);
}

#[test]
fn an_item_whose_enqueue_certainly_failed_is_a_phantom() {
    let failed = "c1 invoke enqueue item=1\n c1 fail enqueue\n";
    let given = "c2 invoke dequeue\n c2 ok dequeue item=1\n";
    for variant in ["fifo", "claimed"] {
        let found = only(variant, &format!("{failed}{given}"), "phantom-item");
        assert_eq!(found.witness, [3]);
        assert!(
            found.why.contains("Every enqueue of it certainly failed"),
            "{}",
            found.why
        );
        // That it failed may be read after the delivery.
        only(
            variant,
            &format!("c1 invoke enqueue item=1\n{given}c1 fail enqueue"),
            "phantom-item",
        );
        silent(variant, &format!("{}{given}", failed.replace("c1 fail", "c1 end")));
        silent(variant, &format!("{failed}{STORED}\n{given}"));
    }
    let consumed = "c2 invoke acknowledge item=1\n c2 ok acknowledge item=1";
    let found = only("claimed", &format!("{failed}{consumed}"), "phantom-item");
    assert!(found.why.contains("was acknowledged by c2"), "{}", found.why);
    silent("claimed", &format!("{failed}{}", consumed.replace("c2 ok", "c2 fail")));
    // Tried again after it failed it was enqueued once, so twice is too often.
    let results = check(&record("fifo", &format!("{failed}{TWICE}")));
    assert_eq!(kinds(&results), ["duplicate-delivery"], "{results:#?}");
}

#[test]
fn an_item_is_not_delivered_after_its_acknowledgement() {
    let again = "
        c1 invoke dequeue
        c1 ok dequeue item=1
        c1 invoke acknowledge item=1
        c1 ok acknowledge item=1
        c2 invoke dequeue
        c2 ok dequeue item=1";
    let text = format!("{STORED}{again}");
    assert_eq!(only("claimed", &text, "duplicate-delivery").witness, [5, 6, 7]);
    // Its answer does not name the item.
    let bare = text.replace("c1 ok acknowledge item=1", "c1 ok acknowledge");
    assert_eq!(only("claimed", &bare, "duplicate-delivery").witness, [4, 5, 6, 7]);
    // It was asked for before the other's delivery was read, so it may have been delivered before that.
    let asked = text
        .replace("c2 invoke dequeue\n", "")
        .replace("c1 ok dequeue", "c2 invoke dequeue\n c1 ok dequeue");
    silent("claimed", &asked);
    silent("claimed", &text.replace("c1 ok acknowledge", "c1 fail acknowledge"));
    silent("claimed", &text.replace("c1 ok acknowledge", "c1 info acknowledge"));
    silent(
        "claimed",
        &text.replace("c2 ok dequeue item=1", "c2 note taking item=1\n c2 end dequeue"),
    );
    silent("claimed", &format!("c3 invoke enqueue item=one\n{text}"));
    silent("claimed", &format!("{text}{STORED}"));
}
