//! Long histories of groups.

use super::{AnomalyGrowth, Run, grows, records_grow};
use crate::script::readings;
use serde_json::{Value, json};
use zooquake_history::evidence::Znode;

const RUN: Run = ("membership", "cached", 3);

/// An entry whose znode was created by the transaction 1.
fn entry(member: usize, mzxid: usize, value: usize) -> Value {
    let name = format!("m{member}");
    json!({"member": name, "path": format!("/members/{name}"), "czxid": 1, "mzxid": mzxid, "value": value})
}

fn view(n: usize, members: &[Value]) -> Value {
    json!({"n": n, "session": "0x2", "members": members})
}

#[test]
fn values_that_are_written_and_shown() {
    grows(3, RUN, &[], |long, count| {
        for k in 0..count {
            let asked = json!({ "value": k });
            long.done(1, 1, "update", [asked, json!({"path": "/members/m1", "mzxid": k + 1})]);
            long.note(2, "view", view(k, &[entry(1, k + 1, k)]));
        }
    });
}

#[test]
fn members_that_go_back_one_after_the_other() {
    grows(3, RUN, &[("view-regression", |count| count)], |long, count| {
        for k in 0..count {
            long.invoke(k, 1, "register", json!({"member": "m1", "value": k}));
            long.note(2, "view", view(2 * k, &[entry(k, 9, k)]));
            long.note(2, "view", view(2 * k + 1, &[entry(k, 5, k)]));
        }
    });
}

#[test]
fn values_that_nobody_asked_for() {
    grows(1, RUN, &[("phantom-member", |count| count)], |long, count| {
        for k in 0..count {
            long.note(2, "view", view(k, &[entry(k, 9, k)]));
        }
    });
}

/// Ten thousand answers that differ from the tree, and lag behind that which their clients have registered.
#[test]
fn answers_to_view_that_differ() {
    let wanted: [AnomalyGrowth; 2] = [("stale-view", |_| 1), ("lost-member", |_| 1)];
    records_grow(2, &wanted, |mut long, count| {
        let asked = json!({"member": "m1", "value": 7});
        long.done(
            1,
            1,
            "register",
            [asked, json!({"path": "/members/m1", "czxid": 2, "session": "0x1"})],
        );
        long.phase("recovered");
        long.phase("views");
        let first = long.events.len();
        for k in 0..count {
            long.named(2, zooquake_history::EventType::Invoke, "view", json!({}));
            let registered = json!({"member": "m2", "path": "/members/m2", "czxid": 1});
            let answer = json!({"zxid": 3, "view": view(3, &[entry(1, 1, 7)]), "registered": registered});
            long.named(2, zooquake_history::EventType::Ok, "view", answer);
            if k == count / 2 {
                long.wait(11);
            }
        }
        long.phase("audit");
        let mut record = long.record(RUN.0, RUN.1, RUN.2);
        record.plan.workload.contenders = vec!["/members".to_owned()];
        let last = record.history.events.len();
        let znode = Znode {
            path: "/members/m1".to_owned(),
            czxid: 2,
            mzxid: 2,
            data: "7".to_owned(),
            ..Znode::default()
        };
        record.tree = Some(readings([first, last, last].map(|at| (at, vec![znode.clone()]))));
        record
    });
}
