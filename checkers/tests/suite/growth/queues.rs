//! Long histories of queues of others.

use super::{AnomalyGrowth, Long, judged_grow};
use crate::search::told;
use serde_json::{Value, json};
use zooquake_checkers::search::ModelKind;
use zooquake_history::EventType;

/// The same of histories of a queue, judged by this model.
#[track_caller]
fn grows(each: usize, model: &str, wanted: &[AnomalyGrowth], tell: impl Fn(&mut Long, usize)) {
    let kind: ModelKind = model.parse().expect("it is a model");
    let make = |mut long: Long, count| {
        tell(&mut long, count);
        long.record("queue", "fifo", 3)
    };
    judged_grow(each, wanted, make, |record| told(&record.history, kind));
}

/// One value is put in often, comes out more often, and the last one is gone; so many drains find nothing.
#[test]
fn deliveries_of_one_value_that_repeat() {
    grows(8, "total-queue", &[("lost-item", |_| 1)], |long, count| {
        for _ in 0..count {
            long.done(1, 1, "enqueue", [json!(7), json!(7)]);
            long.done(2, 2, "dequeue", [Value::Null, json!(7)]);
            long.done(2, 2, "dequeue", [Value::Null, json!(7)]);
        }
        long.done(1, 1, "enqueue", [json!(7), json!(7)]);
        for _ in 0..count {
            long.done(2, 2, "drain", [Value::Null, json!([])]);
        }
    });
}

/// Each item is drained at once; few values come back all the time.
#[test]
fn drains_in_the_middle() {
    for model in ["total-queue", "unordered-queue"] {
        grows(4, model, &[("phantom-item", |_| 1)], |long, count| {
            for k in 0..count {
                long.done(1, 1, "enqueue", [json!(k % 3), json!(k % 3)]);
                long.done(2, 2, "drain", [Value::Null, json!([k % 3])]);
            }
            long.done(2, 2, "dequeue", [Value::Null, json!(5)]);
        });
    }
}

/// No completion of a process has an invocation, and no invocation a completion.
#[test]
fn completions_without_invocations() {
    grows(4, "total-queue", &[("phantom-item", |_| 1)], |long, count| {
        long.ok(1, 1, "enqueue", json!(0));
        for k in 0..count {
            long.op(1, 1, EventType::Info, "enqueue", json!(k));
            long.invoke(1, 1, "enqueue", json!(count + k));
            long.done(2, 2, "dequeue", [Value::Null, json!(k)]);
        }
        long.done(2, 2, "dequeue", [Value::Null, json!("none")]);
    });
}
