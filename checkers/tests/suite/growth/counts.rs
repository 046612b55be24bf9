//! Long histories of counters.

use super::{AnomalyGrowth, Long, Run, grows, judged_grow};
use crate::script::{logged, txn};
use serde_json::json;
use zooquake_checkers::check;
use zooquake_history::{EventType, Record, Txn};

const RUN: Run = ("counter", "versioned", 3);

#[test]
fn increments_that_wait_for_each_other() {
    grows(2, RUN, &[], |long, count| {
        for k in 0..count {
            long.invoke(k, 1, "increment", json!({}));
        }
        for k in (0..count).rev() {
            long.ok(k, 1, "increment", json!({ "id": k + 1 }));
        }
    });
}

#[test]
fn increments_of_unknown_outcome_and_reads() {
    grows(6, RUN, &[], |long, count| {
        for k in 0..count {
            long.invoke(10 + k, 1, "increment", json!({}));
            long.op(10 + k, 1, EventType::Info, "increment", json!({}));
            long.confirmed(2, json!({}));
            long.done(2, 2, "get", [json!({}), json!({ "value": k + 1 })]);
        }
    });
}

#[test]
fn ids_that_are_given_twice() {
    let wanted: [AnomalyGrowth; 2] = [("duplicate-id", |count| count), ("lost-increment", |_| 1)];
    grows(4, RUN, &wanted, |long, count| {
        for k in 0..count {
            long.invoke(1, 1, "increment", json!({}));
            long.invoke(2, 2, "increment", json!({}));
            long.ok(1, 1, "increment", json!({ "id": k + 1 }));
            long.ok(2, 2, "increment", json!({ "id": k + 1 }));
        }
        long.confirmed(3, json!({}));
        long.done(3, 3, "get", [json!({}), json!({ "value": count })]);
    });
}

/// The logs show of each id the write that gave it again.
#[test]
fn ids_that_are_given_twice_beside_the_logs() {
    let make = |mut long: Long, count: usize| {
        let mut txns = Vec::new();
        for id in 1..=count {
            for client in [1, 2] {
                let zxid = 2 * (id - 1) + client;
                let told = json!({ "id": id, "mzxid": zxid });
                long.done(client, client, "increment", [json!({}), told]);
                let zxid = i64::try_from(zxid).expect("a small number");
                let write = txn(zxid, &format!("0x{client}"), "setData", "/counter");
                let data = Some(id.to_string());
                txns.push(Txn { data, ..write });
            }
        }
        logged(long.record("counter", "versioned", 3), txns)
    };
    let judge = |record: &Record| {
        let results = check(record);
        for anomaly in results.anomalies.iter().filter(|found| found.kind == "duplicate-id") {
            let second = record.history.events[anomaly.witness[1]].mzxid();
            let cause = anomaly.cause.as_ref().expect("the logs show it");
            assert_eq!(cause.transaction, second, "{}", cause.sentence);
        }
        results
    };
    let wanted: [AnomalyGrowth; 2] = [("duplicate-id", |count| count), ("lost-increment", |count| count)];
    judged_grow(4, &wanted, make, judge);
}

#[test]
fn values_that_nobody_made() {
    grows(2, RUN, &[("phantom-increment", |count| count)], |long, count| {
        for k in 0..count {
            long.done(1, 1, "increment", [json!({}), json!({ "id": 2 * k + 2 })]);
        }
    });
}

#[test]
fn a_counter_that_goes_back_again_and_again() {
    grows(8, RUN, &[("lost-increment", |count| count)], |long, count| {
        for k in 0..count {
            let value = json!({ "value": k + 1 });
            long.invoke(10 + k, 1, "increment", json!({}));
            long.op(10 + k, 1, EventType::Info, "increment", json!({}));
            long.done(2, 2, "get", [json!({}), value]);
            long.confirmed(3, json!({}));
            long.done(3, 3, "get", [json!({}), json!({ "value": 0 })]);
        }
    });
}
