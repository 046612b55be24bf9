//! Long histories of a register.

use super::{Run, grows, records_grow};
use crate::script::changed;
use serde_json::json;
use zooquake_history::{EventType, ServerSample};

const RUN: Run = ("register", "quorum-read", 2);

#[test]
fn a_chain_of_unknown_compare_and_sets() {
    grows(1, RUN, &[], |long, count| {
        for k in 0..count {
            let from = if k == 0 { json!(null) } else { json!(k) };
            long.invoke(k, 1, "cas", json!({"from": from, "to": k + 1}));
        }
        long.done(count, 2, "read", [json!({}), json!({"value": count})]);
    });
}

/// What nobody wrote was found by all of them, each on a chain of its own.
#[test]
fn chains_that_begin_with_values_that_nobody_wrote() {
    grows(3, RUN, &[("not-linearizable", |_| 10)], |long, count| {
        for k in 0..count {
            long.invoke(k, 1, "cas", json!({"from": 3 * k + 1, "to": 3 * k + 2}));
            long.done(count + 1, 2, "read", [json!({}), json!({"value": 3 * k + 2})]);
        }
    });
}

/// They lead round in a circle, and from it to what was read.
#[test]
fn a_circle_of_unknown_compare_and_sets() {
    grows(1, RUN, &[("not-linearizable", |_| 2)], |long, count| {
        let half = count / 2;
        let mut set = |k: usize, from: usize, to: usize| {
            long.invoke(k, 1, "cas", json!({"from": from, "to": to}));
        };
        for k in 0..count {
            set(k, k, k + 1);
        }
        set(count, half, 0);
        long.done(count + 1, 2, "read", [json!({}), json!({"value": count})]);
        long.done(count + 1, 2, "read", [json!({}), json!({"value": 0})]);
    });
}

#[test]
fn compare_and_sets_from_one_value() {
    grows(2, RUN, &[("not-linearizable", |_| 1)], |long, count| {
        for k in 0..count {
            let asked = json!({"from": null, "to": k});
            long.done(1, 1, "cas", [asked.clone(), asked]);
        }
    });
}

#[test]
fn values_that_were_written_twice() {
    grows(8, RUN, &[("not-linearizable", |_| 1)], |long, count| {
        for k in 0..count {
            for client in 1..=2 {
                let asked = json!({ "value": k });
                long.done(client, client, "write", [asked.clone(), asked.clone()]);
                long.done(client, client, "read", [json!({}), asked]);
            }
        }
        let value = |value: usize| json!({ "value": value });
        long.done(1, 1, "write", [value(count), value(count)]);
        long.done(1, 1, "write", [value(count + 1), value(count + 1)]);
        long.done(1, 1, "read", [json!({}), value(count)]);
    });
}

/// One server is stale in every other read; both servers have a sample after every second read.
#[test]
fn episodes_of_stale_reads() {
    records_grow(8, &[("stale-read", |count| count)], |mut long, count| {
        let mut samples = Vec::new();
        for k in 0..count {
            for value in [2 * k, 2 * k + 1] {
                let written = json!({"value": value, "mzxid": value + 1, "server": "n2", "session": "0x2"});
                long.done(2, 2, "write", [json!({ "value": value }), written]);
            }
            for value in [2 * k, 2 * k + 1] {
                let session = json!({"value": value, "mzxid": value + 1, "server": "n1", "session": format!("0x{:x}", value + 3)});
                long.done(1, 1, "read", [json!({}), session]);
            }
            let time = long.now;
            samples.extend(["n1", "n2"].map(|server| ServerSample {
                time,
                server: server.to_owned(),
                mode: if server == "n1" { "follower" } else { "leader" }.to_owned(),
                epoch: 1,
                zxid: (k + usize::from(server == "n2")) as i64,
                ..ServerSample::default()
            }));
        }
        changed(long.record("register", "read", 2), |record| {
            record.servers = Some(samples)
        })
    });
}

#[test]
fn reads_that_never_end() {
    grows(1, ("register", "read", 2), &[], |long, count| {
        for k in 0..count {
            long.op(k, 1, EventType::Invoke, "read", json!({}));
        }
        long.phase("recovered");
        long.late_audit();
    });
}
