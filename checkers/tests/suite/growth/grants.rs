//! Long histories of locks.

use super::{Long, grows, records_grow};
use crate::script::{txn, window, znode};
use serde_json::json;
use std::num::NonZeroUsize;
use zooquake_history::{Event, EventType, Record, Txn, plan::Capabilities};

#[test]
fn processes_that_end() {
    let make = |long: &mut Long, count| {
        for k in 0..count {
            let grant = json!({"grant": format!("g{k}")});
            long.invoke(k, 1, "acquire", grant.clone());
            long.op(k, 1, EventType::Info, "acquire", grant);
            long.note(1, "exit", json!({}));
        }
    };
    grows(3, ("lock", "children", 1), make, |_| vec![]);
}

#[test]
fn processes_that_end_while_others_wait() {
    let make = |long: &mut Long, count| {
        for k in 0..count {
            long.invoke(k, k + 2, "acquire", json!({"grant": format!("g{k}")}));
        }
        for _ in 0..count {
            long.note(1, "exit", json!({}));
        }
    };
    grows(2, ("lock", "children", 1), make, |_| vec![]);
}

/// One client holds all of them at once.
fn held(long: &mut Long, count: usize) {
    for k in 0..count {
        let asked = json!({"grant": format!("g{k}")});
        let told = json!({"grant": format!("g{k}"), "czxid": k + 1, "path": "/lock/x", "token": k + 1});
        long.done(1, 1, "acquire", [asked, told]);
    }
}

#[test]
fn grants_that_are_open_at_once() {
    let make = |long: &mut Long, count| {
        held(long, count);
        for k in 0..count {
            let grant = json!({"grant": format!("g{k}")});
            long.done(1, 1, "release", [grant.clone(), grant]);
        }
    };
    grows(4, ("lock", "children", 1), make, |_| vec![]);
}

#[test]
fn denials_to_requests_that_are_older_than_the_grants() {
    let make = |long: &mut Long, count| {
        for _ in 0..count {
            long.named(1, EventType::Invoke, "confirm", json!({}));
        }
        held(long, count);
        for _ in 0..count {
            long.named(1, EventType::Ok, "confirm", json!({"holds": false}));
        }
    };
    grows(4, ("lock", "children", 1), make, |_| vec![]);
}

/// Each holds while all others do.
fn together(mut long: Long, count: usize) -> Record {
    for k in 1..=count {
        let asked = json!({"grant": format!("g{k}")});
        let told = json!({"grant": format!("g{k}"), "czxid": k, "path": format!("/lock/{k}")});
        long.done(k, k, "acquire", [asked, told]);
    }
    for k in 1..=count {
        long.confirmed(k, json!({"holds": true, "grant": format!("g{k}")}));
    }
    long.record("lock", "children", count)
}

#[test]
fn clients_that_all_hold() {
    let make = |count| together(Long::default(), count);
    records_grow(4, make, |count| vec![("double-grant", count - 1)]);
}

#[test]
fn clients_that_all_hold_one_of_a_few_leases() {
    let make = |count| {
        let mut record = together(Long::default(), count);
        record.plan.workload.capabilities = Some(Capabilities {
            capacity: NonZeroUsize::MIN.saturating_add(2),
            ..Capabilities::NONE
        });
        record
    };
    records_grow(4, make, |count| vec![("over-capacity", count - 3)]);
}

/// Every other one shares; none of the others releases.
#[test]
fn clients_that_hold_in_both_modes() {
    let make = |count| {
        let mut record = together(Long::default(), count);
        let asked = |event: &&mut Event| event.f == "acquire" && event.kind == EventType::Invoke;
        for event in record.history.events.iter_mut().filter(asked).step_by(2) {
            event.value["mode"] = json!("shared").into();
        }
        record
    };
    records_grow(4, make, |count| vec![("double-grant", count - 1)]);
}

/// All share, while others wait in both modes.
#[test]
fn clients_that_share_while_others_wait() {
    let make = |count: usize| {
        let mut long = Long::default();
        let name = |k: usize, mode: &str| json!({"grant": format!("g{k}"), "mode": mode});
        for k in 1..=count {
            let told = json!({"grant": format!("g{k}"), "czxid": k, "path": format!("/lock/{k}"), "token": k});
            long.done(k, k, "acquire", [name(k, "shared"), told]);
        }
        long.phase("recovered");
        for k in 1..=count {
            let other = count + k;
            long.invoke(other, other, "acquire", name(other, ["exclusive", "shared"][k % 2]));
            let grant = json!({"grant": format!("g{k}")});
            long.done(k, k, "release", [grant.clone(), grant]);
        }
        long.phase("audit");
        long.record("lock", "children", 2 * count)
    };
    records_grow(6, make, |_| vec![]);
}

#[test]
fn releases_of_one_path() {
    let make = |count| {
        let mut long = Long::default();
        long.note(1, "hello", json!({"session": "0x1"}));
        long.note(2, "hello", json!({"session": "0x2"}));
        held(&mut long, count);
        long.phase("done");
        let mut record = long.record("lock", "children", 2);
        let first = count as i64 + 1;
        let pairs = (0..count as i64).flat_map(|k| {
            let zxid = first + 2 * k;
            [
                txn(zxid, "0x2", "create", "/lock/x"),
                txn(zxid + 1, "0x1", "delete", "/lock/x"),
            ]
        });
        record.txnlog = Some(pairs.collect());
        record
    };
    records_grow(2, make, |_| vec![("unowned-release", 1)]);
}

#[test]
fn orphans_that_the_answers_of_all_clients_prove() {
    let make = |count: usize| {
        let mut long = Long::default();
        long.phase("recovered");
        long.phase("audit");
        for client in 1..=count {
            long.named(client, EventType::Invoke, "quiesce", json!({}));
            let value = json!({"sessions": [format!("0x{client:x}")], "znodes": [], "counts": {"get": 1}});
            long.named(client, EventType::Ok, "quiesce", value);
        }
        let mut record = long.record("lock", "children", count);
        let znodes: Vec<_> = (0..count)
            .map(|k| znode(&format!("/lock/{k}"), k as i64 + 1, "0xffffff"))
            .collect();
        for reading in &mut record.tree.as_mut().expect("it was read").readings {
            reading.znodes = znodes.clone();
        }
        record
    };
    // Each witness has an event more than twice the clients; beyond a million events no more witnesses are listed.
    let told = |count: usize| 1_000_000usize.div_ceil(2 * count).min(count);
    records_grow(2, make, |count| vec![("orphan-node", told(count))]);
}

#[test]
fn windows_while_one_client_leads() {
    let make = |count: usize| {
        let mut long = Long::default();
        let grant = json!({"grant": "g"});
        long.done(1, 1, "acquire", [grant.clone(), json!({"grant": "g", "czxid": 1})]);
        for window in 0..count {
            long.fault(window, "begin", "c1");
            long.fault(window, "on", "c1");
            long.done(1, 1, "write", [grant.clone(), json!({"grant": "g", "accepted": true})]);
            long.fault(window, "off", "c1");
        }
        long.invoke(1, 1, "write", grant);
        let mut record = long.record("lock", "children", 1);
        record.plan.windows = (0..count).map(|id| window(id, "pause")).collect();
        record
    };
    records_grow(5, make, |_| vec![]);
}

/// All hold together, while many windows are on.
#[test]
fn anomalies_while_windows_are_on() {
    let make = |count: usize| {
        let mut long = Long::default();
        for id in 0..count {
            long.fault(id, "on", "n1");
        }
        let windows = (0..count).map(|id| window(id, "pause")).collect();
        let mut record = together(long, count);
        record.plan.windows = windows;
        record
    };
    records_grow(5, make, |count| vec![("double-grant", count - 1)]);
}

/// The transaction that all of them name touched as many znodes, and none of theirs.
#[test]
fn grants_of_one_transaction() {
    let make = |count: usize| {
        let mut long = Long::default();
        for k in 0..count {
            let asked = json!({"grant": format!("g{k}")});
            let told = json!({"grant": format!("g{k}"), "czxid": 7, "path": "/lock/x"});
            long.done(1, 1, "acquire", [asked, told]);
        }
        let mut record = long.record("lock", "children", 1);
        let paths = (0..count).map(|k| format!("/lock/{k}")).collect();
        record.txnlog = Some(vec![Txn {
            paths,
            ..txn(7, "0x1", "create", "")
        }]);
        record
    };
    records_grow(2, make, |_| vec![]);
}

/// All clients wait, and none has answered in the recovery.
#[test]
fn clients_that_are_silent_in_the_recovery() {
    let make = |count: usize| {
        let mut long = Long::default();
        long.phase("recover");
        for client in 1..=count {
            long.named(client, EventType::Invoke, "quiesce", json!({}));
        }
        long.phase("recovered");
        for client in 1..=count {
            long.invoke(client, client, "acquire", json!({"grant": format!("g{client}")}));
        }
        long.wait(20);
        long.phase("audit");
        long.record("lock", "children", count)
    };
    records_grow(2, make, |_| vec![("idle-lock", 1)]);
}
