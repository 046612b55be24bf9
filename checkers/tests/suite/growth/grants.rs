//! Long histories of locks.

use super::{AnomalyGrowth, Long, grows, records_grow};
use crate::script::{changed, standing, txn, window, znode};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use zooquake_history::{Event, EventType, Record, Txn, plan::Capabilities};

#[test]
fn processes_that_end() {
    grows(3, ("lock", "children", 1), &[], |long, count| {
        for k in 0..count {
            long.invoke(k, 1, "acquire", grant(k));
            long.op(k, 1, EventType::Info, "acquire", grant(k));
            long.note(1, "exit", json!({}));
        }
    });
}

#[test]
fn processes_that_end_while_others_wait() {
    grows(2, ("lock", "children", 1), &[], |long, count| {
        for k in 0..count {
            long.invoke(k, k + 2, "acquire", grant(k));
        }
        for _ in 0..count {
            long.note(1, "exit", json!({}));
        }
    });
}

/// What names a grant.
fn grant(k: usize) -> Value {
    json!({"grant": format!("g{k}")})
}

/// One client holds all of them at once.
fn held(long: &mut Long, count: usize) {
    for k in 0..count {
        let told = json!({"grant": format!("g{k}"), "czxid": k + 1, "path": "/lock/x", "token": k + 1});
        long.done(1, 1, "acquire", [grant(k), told]);
    }
}

#[test]
fn grants_that_are_open_at_once() {
    grows(4, ("lock", "children", 1), &[], |long, count| {
        held(long, count);
        for k in 0..count {
            long.done(1, 1, "release", [grant(k), grant(k)]);
        }
    });
}

#[test]
fn denials_to_requests_that_are_older_than_the_grants() {
    grows(4, ("lock", "children", 1), &[], |long, count| {
        for _ in 0..count {
            long.named(1, EventType::Invoke, "confirm", json!({}));
        }
        held(long, count);
        for _ in 0..count {
            long.named(1, EventType::Ok, "confirm", json!({"holds": false}));
        }
    });
}

/// Each holds while all others do.
fn together(mut long: Long, count: usize) -> Record {
    for k in 1..=count {
        let told = json!({"grant": format!("g{k}"), "czxid": k, "path": format!("/lock/{k}")});
        long.done(k, k, "acquire", [grant(k), told]);
    }
    for k in 1..=count {
        long.confirmed(k, json!({"holds": true, "grant": format!("g{k}")}));
    }
    long.record("lock", "children", count)
}

#[test]
fn clients_that_all_hold() {
    records_grow(4, &[("double-grant", |count| count - 1)], together);
}

#[test]
fn clients_that_all_hold_one_of_a_few_leases() {
    records_grow(4, &[("over-capacity", |count| count - 3)], |long, count| {
        let capabilities = Capabilities {
            capacity: NonZeroUsize::MIN.saturating_add(2),
            ..Capabilities::NONE
        };
        changed(together(long, count), |record| {
            record.plan.workload.capabilities = Some(capabilities)
        })
    });
}

/// Every other one shares; none of the others releases.
#[test]
fn clients_that_hold_in_both_modes() {
    records_grow(4, &[("double-grant", |count| count - 1)], |long, count| {
        let mut record = together(long, count);
        let asked = |event: &&mut Event| event.f == "acquire" && event.kind == EventType::Invoke;
        for event in record.history.events.iter_mut().filter(asked).step_by(2) {
            event.value["mode"] = json!("shared").into();
        }
        record
    });
}

/// All share, while others wait in both modes.
#[test]
fn clients_that_share_while_others_wait() {
    records_grow(6, &[], |mut long, count| {
        let name = |k: usize, mode: &str| json!({"grant": format!("g{k}"), "mode": mode});
        for k in 1..=count {
            let told = json!({"grant": format!("g{k}"), "czxid": k, "path": format!("/lock/{k}"), "token": k});
            long.done(k, k, "acquire", [name(k, "shared"), told]);
        }
        long.phase("recovered");
        for k in 1..=count {
            let other = count + k;
            long.invoke(other, other, "acquire", name(other, ["exclusive", "shared"][k % 2]));
            long.done(k, k, "release", [grant(k), grant(k)]);
        }
        long.phase("audit");
        long.record("lock", "children", 2 * count)
    });
}

#[test]
fn releases_of_one_path() {
    records_grow(2, &[("unowned-release", |_| 1)], |mut long, count| {
        long.note(1, "hello", json!({"session": "0x1"}));
        long.note(2, "hello", json!({"session": "0x2"}));
        held(&mut long, count);
        long.phase("done");
        let first = count as i64 + 1;
        let pairs = (0..count as i64).flat_map(|k| {
            let zxid = first + 2 * k;
            [
                txn(zxid, "0x2", "create", "/lock/x"),
                txn(zxid + 1, "0x1", "delete", "/lock/x"),
            ]
        });
        changed(long.record("lock", "children", 2), |record| {
            record.txnlog = Some(pairs.collect())
        })
    });
}

#[test]
fn orphans_that_the_answers_of_all_clients_prove() {
    // Each witness has an event more than twice the clients; beyond a million events no more witnesses are listed.
    let told: AnomalyGrowth = ("orphan-node", |count| 1_000_000usize.div_ceil(2 * count).min(count));
    records_grow(2, &[told], |mut long, count| {
        long.phase("recovered");
        long.phase("audit");
        for client in 1..=count {
            long.named(client, EventType::Invoke, "quiesce", json!({}));
            let value = json!({"sessions": [format!("0x{client:x}")], "znodes": [], "counts": {"get": 1}});
            long.named(client, EventType::Ok, "quiesce", value);
        }
        let left = (0..count).map(|k| znode(&format!("/lock/{k}"), k as i64 + 1, "0xffffff"));
        standing(long.record("lock", "children", count), left.collect())
    });
}

/// The record whose plan has so many pauses.
fn windows(record: Record, count: usize) -> Record {
    let windows = (0..count).map(|id| window(id, "pause")).collect();
    changed(record, |record| record.plan.windows = windows)
}

#[test]
fn windows_while_one_client_leads() {
    records_grow(5, &[], |mut long, count| {
        let grant = json!({"grant": "g"});
        long.done(1, 1, "acquire", [grant.clone(), json!({"grant": "g", "czxid": 1})]);
        for window in 0..count {
            long.fault(window, "begin", "c1");
            long.fault(window, "on", "c1");
            long.done(1, 1, "write", [grant.clone(), json!({"grant": "g", "accepted": true})]);
            long.fault(window, "off", "c1");
        }
        long.invoke(1, 1, "write", grant);
        windows(long.record("lock", "children", 1), count)
    });
}

/// All hold together, while many windows are on.
#[test]
fn anomalies_while_windows_are_on() {
    records_grow(5, &[("double-grant", |count| count - 1)], |mut long, count| {
        for id in 0..count {
            long.fault(id, "on", "n1");
        }
        windows(together(long, count), count)
    });
}

/// The transaction that all of them name touched as many znodes, and none of theirs.
#[test]
fn grants_of_one_transaction() {
    records_grow(2, &[], |mut long, count| {
        for k in 0..count {
            let told = json!({"grant": format!("g{k}"), "czxid": 7, "path": "/lock/x"});
            long.done(1, 1, "acquire", [grant(k), told]);
        }
        let create = Txn {
            paths: (0..count).map(|k| format!("/lock/{k}")).collect(),
            ..txn(7, "0x1", "create", "")
        };
        changed(long.record("lock", "children", 1), |record| {
            record.txnlog = Some(vec![create])
        })
    });
}

/// All clients wait, and none has answered in the recovery.
#[test]
fn clients_that_are_silent_in_the_recovery() {
    records_grow(2, &[("idle-lock", |_| 1)], |mut long, count| {
        long.phase("recover");
        for client in 1..=count {
            long.named(client, EventType::Invoke, "quiesce", json!({}));
        }
        long.phase("recovered");
        for client in 1..=count {
            long.invoke(client, client, "acquire", grant(client));
        }
        long.late_audit();
        long.record("lock", "children", count)
    });
}
