//! Long histories of counters.

use super::{Long, Run, grows};
use serde_json::json;
use zooquake_history::EventType;

const RUN: Run = ("counter", "versioned", 3);

#[test]
fn increments_that_wait_for_each_other() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.invoke(k, 1, "increment", json!({}));
        }
        for k in (0..count).rev() {
            long.ok(k, 1, "increment", json!({ "id": k + 1 }));
        }
    };
    grows(2, RUN, make, |_| vec![]);
}

#[test]
fn increments_of_unknown_outcome_and_reads() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.invoke(10 + k, 1, "increment", json!({}));
            long.op(10 + k, 1, EventType::Info, "increment", json!({}));
            long.confirmed(2, json!({}));
            long.done(2, 2, "get", [json!({}), json!({ "value": k + 1 })]);
        }
    };
    grows(6, RUN, make, |_| vec![]);
}

#[test]
fn ids_that_are_given_twice() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.invoke(1, 1, "increment", json!({}));
            long.invoke(2, 2, "increment", json!({}));
            long.ok(1, 1, "increment", json!({ "id": k + 1 }));
            long.ok(2, 2, "increment", json!({ "id": k + 1 }));
        }
        long.confirmed(3, json!({}));
        long.done(3, 3, "get", [json!({}), json!({ "value": count })]);
    };
    grows(4, RUN, make, |count| {
        vec![("duplicate-id", count), ("lost-increment", 1)]
    });
}

#[test]
fn values_that_nobody_made() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.done(1, 1, "increment", [json!({}), json!({ "id": 2 * k + 2 })]);
        }
    };
    grows(2, RUN, make, |count| vec![("phantom-increment", count)]);
}

#[test]
fn a_counter_that_goes_back_again_and_again() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            let value = json!({ "value": k + 1 });
            long.invoke(10 + k, 1, "increment", json!({}));
            long.op(10 + k, 1, EventType::Info, "increment", json!({}));
            long.done(2, 2, "get", [json!({}), value]);
            long.confirmed(3, json!({}));
            long.done(3, 3, "get", [json!({}), json!({ "value": 0 })]);
        }
    };
    grows(8, RUN, make, |count| vec![("lost-increment", count)]);
}
