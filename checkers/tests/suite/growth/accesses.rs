//! Long histories of a register.

use super::{Long, grows, records_grow};
use serde_json::json;
use zooquake_history::{EventType, ServerSample};

#[test]
fn a_chain_of_unknown_compare_and_sets() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            let from = if k == 0 { json!(null) } else { json!(k) };
            long.invoke(k, 1, "cas", json!({"from": from, "to": k + 1}));
        }
        long.done(count, 2, "read", [json!({}), json!({"value": count})]);
    };
    grows(1, ("register", "quorum-read", 2), make, |_| vec![]);
}

/// What nobody wrote was found by all of them, each on a chain of its own.
#[test]
fn chains_that_begin_with_values_that_nobody_wrote() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.invoke(k, 1, "cas", json!({"from": 3 * k + 1, "to": 3 * k + 2}));
            long.done(count + 1, 2, "read", [json!({}), json!({"value": 3 * k + 2})]);
        }
    };
    grows(3, ("register", "quorum-read", 2), make, |_| {
        vec![("not-linearizable", 10)]
    });
}

/// They lead round in a circle, and from it to what was read.
#[test]
fn a_circle_of_unknown_compare_and_sets() {
    let make = |long: &mut Long, count: usize| {
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
    };
    grows(1, ("register", "quorum-read", 2), make, |_| {
        vec![("not-linearizable", 2)]
    });
}

#[test]
fn compare_and_sets_from_one_value() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            let asked = json!({"from": null, "to": k});
            long.done(1, 1, "cas", [asked.clone(), asked]);
        }
    };
    grows(2, ("register", "quorum-read", 2), make, |_| {
        vec![("not-linearizable", 1)]
    });
}

#[test]
fn values_that_were_written_twice() {
    let make = |long: &mut Long, count: usize| {
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
    };
    grows(8, ("register", "quorum-read", 2), make, |_| {
        vec![("not-linearizable", 1)]
    });
}

/// One server is stale in every other read; both servers have a sample after every second read.
#[test]
fn episodes_of_stale_reads() {
    let make = |count: usize| {
        let mut long = Long::default();
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
        let mut record = long.record("register", "read", 2);
        record.servers = Some(samples);
        record
    };
    records_grow(8, make, |count| vec![("stale-read", count)]);
}

#[test]
fn reads_that_never_end() {
    let make = |long: &mut Long, count: usize| {
        for k in 0..count {
            long.op(k, 1, EventType::Invoke, "read", json!({}));
        }
        long.phase("recovered");
        long.wait(20);
        long.phase("audit");
    };
    grows(1, ("register", "read", 2), make, |_| vec![]);
}
