//! Evidence that is hidden, or that is promised and missing.

use crate::expect::{count, edited, found, one, says};
use crate::safety::OLD_WRITE;
use crate::script::{history, lock, logged, txn};
use zooquake_checkers::plan::Resource;
use zooquake_checkers::{Txn, check};

#[test]
fn what_stands_after_a_hidden_transaction_is_not_known() {
    let judged = |between: &[Txn], answer: &str, wanted: &[&str]| {
        let record = lock(&format!(
            "c1 acquire g1; c1 granted g1 czxid=10 path=/lock/one session=0x1
             c1 release g1; c1 released g1
             c3 confirm; c3 holds-not {answer}"
        ));
        let before = [
            txn(10, "0x1", "create", "/lock/one"),
            txn(11, "0x1", "delete", "/lock/one"),
            txn(12, "0x2", "create", "/lock/one"),
        ];
        let txns = [&before, between, &[txn(30, "0x1", "delete", "/lock/one")]].concat();
        found(&logged(record, txns), wanted);
    };
    let hidden = |op: &str, session: &str| Txn {
        paths: vec![],
        ..txn(20, session, op, "")
    };
    let unowned = ["unowned-release"];
    judged(&[], "", &unowned);
    judged(&[hidden("error", "0x1"), hidden("createSession", "0x3")], "", &unowned);
    judged(&[txn(20, "0x3", "multi", "/lock/two")], "", &[]);
    judged(&[hidden("multi", "0x1")], "", &[]);
    // Created again it is known again.
    judged(
        &[hidden("multi", "0x1"), txn(21, "0x2", "create", "/lock/one")],
        "",
        &unowned,
    );
    // The creator's session ended, whether its znodes are listed or not; or whose session ended is unknown.
    judged(&[txn(20, "0x2", "closeSession", "/lock/one")], "", &[]);
    judged(&[hidden("closeSession", "0x2")], "", &[]);
    judged(&[hidden("closeSession", "0x0")], "", &[]);
    judged(&[txn(20, "0x3", "closeSession", "/lock/two")], "", &unowned);
    // The log lacks a transaction that an answer names.
    judged(&[], "zxid=25", &[]);
    judged(&[], "zxid=35", &unowned);
}

#[test]
fn evidence_that_the_plan_promises_and_nobody_gives_is_unknown() {
    let mut fenced = lock(OLD_WRITE);
    assert_eq!(count(&check(&fenced), "told no token"), 0, "it is not fenced");
    fenced.plan.workload.fenced = true;
    one(&fenced, "stale-write");
    says(&check(&fenced), "2 of 2 grants told no token");
    fenced.history = history(&edited(
        OLD_WRITE,
        "czxid=10 => czxid=10 token=10 | czxid=20 => czxid=20 token=20",
    ));
    assert_eq!(count(&check(&fenced), "told no token"), 0);
    let mut inside = lock(&edited(OLD_WRITE, "c2 wrote g2 => c2 wrote g2 mzxid=25"));
    assert_eq!(count(&check(&inside), "mzxid"), 0, "the resource is outside");
    inside.plan.workload.resource = Resource::Zookeeper;
    says(&check(&inside), "1 of 2 accepted writes told no transaction");
}
