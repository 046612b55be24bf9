//! Long histories of queues of others.

use super::{Long, judged_grow};
use crate::search::with_budget;
use serde_json::{Value, json};
use zooquake_checkers::search::{ModelKind, Notation, judge};
use zooquake_history::EventType;

/// The same of histories of a queue, judged by this model.
#[track_caller]
fn grows(
    each: usize,
    model: &str,
    tell: impl Fn(&mut Long, usize),
    wanted: impl Fn(usize) -> Vec<(&'static str, usize)>,
) {
    let kind: ModelKind = model.parse().expect("it is a model");
    let make = |count| {
        let mut long = Long::default();
        tell(&mut long, count);
        long.record("queue", "fifo", 3)
    };
    let judged = |record: &zooquake_history::Record| {
        with_budget(|budget| judge(&record.history, Vec::new(), kind, Notation::Maps, budget))
    };
    judged_grow(each, make, judged, wanted);
}

/// One value is put in often, comes out more often, and the last one is gone; so many drains find nothing.
#[test]
fn deliveries_of_one_value_that_repeat() {
    let make = |long: &mut Long, count| {
        for _ in 0..count {
            long.done(1, 1, "enqueue", [json!(7), json!(7)]);
            long.done(2, 2, "dequeue", [Value::Null, json!(7)]);
            long.done(2, 2, "dequeue", [Value::Null, json!(7)]);
        }
        long.done(1, 1, "enqueue", [json!(7), json!(7)]);
        for _ in 0..count {
            long.done(2, 2, "drain", [Value::Null, json!([])]);
        }
    };
    grows(8, "total-queue", make, |_| vec![("lost-item", 1)]);
}

/// Each item is drained at once; few values come back all the time.
#[test]
fn drains_in_the_middle() {
    let make = |long: &mut Long, count| {
        for k in 0..count {
            long.done(1, 1, "enqueue", [json!(k % 3), json!(k % 3)]);
            long.done(2, 2, "drain", [Value::Null, json!([k % 3])]);
        }
        long.done(2, 2, "dequeue", [Value::Null, json!(5)]);
    };
    grows(4, "total-queue", make, |_| vec![("phantom-item", 1)]);
    grows(4, "unordered-queue", make, |_| vec![("phantom-item", 1)]);
}

/// No completion of a process has an invocation, and no invocation a completion.
#[test]
fn completions_without_invocations() {
    let make = |long: &mut Long, count| {
        long.ok(1, 1, "enqueue", json!(0));
        for k in 0..count {
            long.op(1, 1, EventType::Info, "enqueue", json!(k));
            long.invoke(1, 1, "enqueue", json!(count + k));
            long.done(2, 2, "dequeue", [Value::Null, json!(k)]);
        }
        long.done(2, 2, "dequeue", [Value::Null, json!("none")]);
    };
    grows(4, "total-queue", make, |_| vec![("phantom-item", 1)]);
}
