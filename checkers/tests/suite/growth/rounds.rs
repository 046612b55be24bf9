//! Long histories of barriers.

use super::{AnomalyGrowth, Long, grows, records_grow};
use serde_json::json;
use zooquake_history::{EventType, Record};

#[test]
fn members_that_come_and_go() {
    grows(
        5,
        ("barrier", "double", 10),
        &[("early-release", |_| 1)],
        |long, count| {
            for k in 0..count {
                let client = k % 10 + 1;
                let session = json!({"state": "expired", "session": format!("0x{k:x}")});
                let asked = json!({"round": 1, "members": 2});
                long.done(client, client, "enter", [asked, json!({"round": 1, "czxid": k})]);
                long.note(client, "session", session);
                let removed = json!({"round": 1, "removed": {"czxid": k}});
                long.done(client, client, "leave", [json!({"round": 1}), removed]);
            }
            long.phase("recovered");
            long.invoke(11, 11, "enter", json!({"round": 1, "members": 2}));
            long.late_audit();
        },
    );
}

/// One client joins for all members, and closes its sessions.
#[test]
fn members_whose_sessions_are_closed() {
    grows(5, ("barrier", "tutorial", 2), &[], |long, count| {
        for k in 0..count {
            let session = format!("0x{:x}", k + 1);
            let told = json!({"round": 1, "session": session});
            long.done(1, 1, "join", [json!({"round": 1, "members": 2, "member": k}), told]);
            long.note(1, "session", json!({"state": "expired", "session": session}));
            long.done(1, 1, "close", [json!({"round": 2}), json!({"round": 2})]);
        }
        long.phase("recovered");
        long.invoke(2, 2, "enter", json!({"round": 1, "members": 2}));
        long.late_audit();
    });
}

#[test]
fn rounds_of_their_own() {
    grows(8, ("barrier", "double", 2), &[], |long, count| {
        for k in 0..count {
            for client in 1..=2 {
                long.invoke(client, client, "enter", json!({"round": k, "members": 2}));
            }
            for client in 1..=2 {
                long.ok(client, client, "enter", json!({"round": k, "czxid": k}));
                long.op(client, client, EventType::Invoke, "leave", json!({"round": k}));
            }
            for client in 1..=2 {
                long.ok(client, client, "leave", json!({"round": k, "removed": {"czxid": k}}));
            }
        }
    });
}

/// What `ends` does with the enters of one round comes after a recovery and the bound of liveness; each client has one
/// enter.
fn entered(mut long: Long, count: usize, members: usize, ends: impl Fn(&mut Long, usize)) -> Record {
    long.phase("recovered");
    for k in 1..=count {
        long.invoke(k, k, "enter", json!({"round": 1, "members": members}));
    }
    long.wait(20);
    for k in 1..=count {
        ends(&mut long, k);
    }
    long.phase("audit");
    long.record("barrier", "double", count)
}

#[test]
fn members_that_all_wait() {
    records_grow(1, &[("stuck-barrier", |count| count)], |long, count| {
        entered(long, count, 2, |_, _| {})
    });
    // Each names all others; beyond a million names no more anomalies are listed.
    let told: AnomalyGrowth = ("stuck-barrier", |count| 1_000_000usize.div_ceil(count).min(count));
    records_grow(1, &[told], |long, count| entered(long, count, count, |_, _| {}));
}

#[test]
fn members_that_all_wait_to_leave() {
    records_grow(3, &[("stuck-barrier", |count| count)], |mut long, count| {
        for (f, kind) in [
            ("enter", EventType::Invoke),
            ("enter", EventType::Ok),
            ("leave", EventType::Invoke),
        ] {
            for k in 1..=count {
                long.op(k, k, kind, f, json!({"round": 1, "members": count, "czxid": k}));
            }
        }
        long.phase("recovered");
        long.late_audit();
        long.record("barrier", "double", count)
    });
}

#[test]
fn members_that_are_all_refused() {
    let refuse = |long: &mut Long, k| long.op(k, k, EventType::Fail, "enter", json!({"round": 1}));
    records_grow(2, &[("stuck-barrier", |count| count)], |long, count| {
        entered(long, count, 2, refuse)
    });
}

/// Each asks again, so that it is asked at as many moments who was there.
#[test]
fn enters_whose_ends_are_not_known() {
    records_grow(3, &[], |long, count| {
        let again = |long: &mut Long, k| {
            long.op(k, k, EventType::Info, "enter", json!({"round": 1}));
            long.invoke(count + k, k, "enter", json!({"round": 1, "members": count + 1}));
        };
        entered(long, count, count + 1, again)
    });
}
