//! Long histories of queues.

use super::{AnomalyGrowth, grows};
use serde_json::{Value, json};
use zooquake_history::EventType;

fn item(number: usize) -> Value {
    json!({ "item": number })
}

#[test]
fn deliveries_of_one_item() {
    grows(
        2,
        ("queue", "fifo", 3),
        &[("duplicate-delivery", |_| 1)],
        |long, count| {
            long.done(1, 1, "enqueue", [item(1), item(1)]);
            for k in 0..count {
                long.done(2, 2 + k % 5, "dequeue", [json!({}), item(1)]);
            }
        },
    );
}

#[test]
fn deliveries_that_nobody_enqueued() {
    grows(
        2,
        ("queue", "fifo", 3),
        &[("phantom-item", |count| count)],
        |long, count| {
            for k in 0..count {
                long.done(2, 2, "dequeue", [json!({}), item(k)]);
            }
        },
    );
}

/// Each item was given to one client and then to another; the former acknowledges it, and may have been given it again.
#[test]
fn acknowledgements_while_many_dequeues_are_unknown() {
    grows(
        11,
        ("queue", "claimed", 3),
        &[("duplicate-delivery", |count| count)],
        |long, count| {
            for k in 0..count {
                long.invoke(10 + k, 1, "dequeue", json!({}));
                long.op(10 + k, 1, EventType::Info, "dequeue", json!({}));
                long.done(1, 3, "enqueue", [item(k), item(k)]);
                long.done(2, 1, "dequeue", [json!({}), item(k)]);
                long.done(3, 2, "dequeue", [json!({}), item(k)]);
                long.done(2, 1, "acknowledge", [item(k), item(k)]);
            }
            for k in 0..count {
                long.invoke(10 + count + k, 2, "dequeue", json!({}));
            }
        },
    );
}

#[test]
fn notices_and_ends_that_are_not_known() {
    grows(10, ("queue", "fifo", 3), &[], |long, count| {
        for k in 0..count {
            long.done(1, 3, "enqueue", [item(k), item(k)]);
            long.invoke(10 + k, 1, "dequeue", json!({}));
            long.note(1, "taking", item(k));
            long.op(10 + k, 1, EventType::Info, "dequeue", json!({}));
        }
        for _ in 0..count {
            long.confirmed(2, json!({}));
            long.done(2, 2, "dequeue", [json!({}), json!({"item": null})]);
            long.note(2, "exit", json!({}));
        }
        long.phase("drained");
    });
}

#[test]
fn items_that_are_lost() {
    grows(
        2,
        ("queue", "fifo", 3),
        &[("lost-item", |count| count)],
        |long, count| {
            for k in 0..count {
                long.done(1, 1, "enqueue", [item(k), item(k)]);
            }
            long.confirmed(2, json!({}));
            long.done(2, 2, "dequeue", [json!({}), json!({"item": null})]);
            long.phase("drained");
        },
    );
}

/// Each item is named by a dequeue of its own that stays pending, but for the first.
#[test]
fn items_beside_dequeues_that_stay_pending() {
    grows(
        4,
        ("queue", "fifo", 3),
        &[("stuck-queue", |count| count - 1)],
        |long, count| {
            long.done(1, 1, "enqueue", [item(0), item(0)]);
            for k in 1..count {
                long.done(1, 1, "enqueue", [item(k), item(k)]);
            }
            long.phase("recovered");
            for k in 1..count {
                long.invoke(k + 1, k + 1, "dequeue", json!({}));
                long.note(k + 1, "taking", item(k));
            }
            long.late_audit();
        },
    );
}

/// One of the dequeues may have taken any item.
#[test]
fn items_of_which_one_may_have_been_taken_beside_dequeues_that_stay_pending() {
    let told: AnomalyGrowth = ("stuck-queue", |count| 1_000_000usize.div_ceil(count).min(count));
    grows(3, ("queue", "fifo", 3), &[told], |long, count| {
        long.note(2, "hello", json!({"pid": 1, "cannot": ["taking"]}));
        for k in 0..count {
            long.done(1, 1, "enqueue", [item(k), item(k)]);
        }
        long.phase("recovered");
        for k in 0..count {
            long.invoke(k + 2, k + 2, "dequeue", json!({}));
        }
        long.late_audit();
    });
}

/// There are many spells in which an item lay in the queue, and all are short.
#[test]
fn items_that_come_and_go_beside_dequeues_that_stay_pending() {
    grows(5, ("queue", "fifo", 2), &[], |long, count| {
        long.phase("recovered");
        for k in 0..count {
            long.invoke(k + 3, k + 3, "dequeue", json!({}));
            long.done(1, 1, "enqueue", [item(k), item(k)]);
            long.done(2, 2, "dequeue", [json!({}), item(k)]);
        }
        long.late_audit();
    });
}
