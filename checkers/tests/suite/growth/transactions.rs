//! Long histories of two-phase commits.

use super::{Long, grows, records_grow};
use serde_json::json;
use zooquake_history::{EventType, Node};

/// The site never gets the decision; the coordinators die, and are started again or not.
fn blocked(mut long: Long, count: usize, back: bool) -> zooquake_history::Record {
    for k in 0..count {
        let tx = json!({"tx": format!("t{k}"), "sites": ["c1"]});
        let coordinator = k + 2;
        long.done(k, coordinator, "begin", [tx.clone(), tx.clone()]);
        long.invoke(k, coordinator, "decide", tx.clone());
        long.note(coordinator, "exit", json!({}));
        if back {
            long.note(coordinator, "hello", json!({}));
        }
        long.invoke(count + k, 1, "decided", tx);
    }
    long.phase("recovered");
    long.late_audit();
    long.record("commit", "atomic", 2)
}

#[test]
fn transactions_that_are_blocked() {
    records_grow(6, &[("blocked-transaction", |count| count)], |long, count| {
        blocked(long, count, true)
    });
}

#[test]
fn coordinators_that_stay_dead() {
    records_grow(5, &[], |long, count| blocked(long, count, false));
}

/// One transaction, and a site for each vote; the first votes no.
#[test]
fn votes_of_one_transaction() {
    grows(
        4,
        ("commit", "atomic", 2),
        &[("commit-without-votes", |_| 1)],
        |long, count| {
            let sites: Vec<String> = (1..=count).map(|site| Node::client(site).to_string()).collect();
            long.done(0, 0, "begin", [json!({"tx": "t", "sites": sites}), json!({"tx": "t"})]);
            for site in 1..=count {
                let word = if site == 1 { "no" } else { "yes" };
                let voted = json!({"tx": "t", "voted": word});
                long.done(site, site, "vote", [json!({"tx": "t", "vote": word}), voted]);
                let told = json!({"tx": "t", "decision": "commit"});
                long.done(site, site, "decided", [json!({"tx": "t"}), told]);
            }
            long.op(0, 0, EventType::Invoke, "decide", json!({"tx": "t"}));
        },
    );
}
