//! Long histories of queues.

use super::{Long, grows};
use serde_json::{Value, json};
use zooquake_checkers::history::EventType;

fn item(number: usize) -> Value {
    json!({ "item": number })
}

#[test]
fn deliveries_of_one_item() {
    let make = |long: &mut Long, count| {
        long.done(1, 1, "enqueue", [item(1), item(1)]);
        for k in 0..count {
            long.done(2, 2 + k % 5, "dequeue", [json!({}), item(1)]);
        }
    };
    grows(2, ("queue", "fifo", 3), make, |_| vec![("duplicate-delivery", 1)]);
}

#[test]
fn deliveries_that_nobody_enqueued() {
    let make = |long: &mut Long, count| {
        for k in 0..count {
            long.done(2, 2, "dequeue", [json!({}), item(k)]);
        }
    };
    grows(2, ("queue", "fifo", 3), make, |count| vec![("phantom-item", count)]);
}

/// Each item was given to one client and then to another; the former acknowledges it, and may have been given it again.
#[test]
fn acknowledgements_while_many_dequeues_are_unknown() {
    let make = |long: &mut Long, count| {
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
    };
    grows(11, ("queue", "claimed", 3), make, |count| {
        vec![("duplicate-delivery", count)]
    });
}

#[test]
fn notices_and_ends_that_are_not_known() {
    let make = |long: &mut Long, count| {
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
    };
    grows(10, ("queue", "fifo", 3), make, |_| vec![]);
}

#[test]
fn items_that_are_lost() {
    let make = |long: &mut Long, count| {
        for k in 0..count {
            long.done(1, 1, "enqueue", [item(k), item(k)]);
        }
        long.confirmed(2, json!({}));
        long.done(2, 2, "dequeue", [json!({}), json!({"item": null})]);
        long.phase("drained");
    };
    grows(2, ("queue", "fifo", 3), make, |count| vec![("lost-item", count)]);
}
