//! Evidence that is hidden, or that is promised and missing.

use crate::safety::OLD_WRITE;
use crate::script::{history, kinds, record, txn};
use zooquake_checkers::check;
use zooquake_checkers::plan::Resource;

#[test]
fn what_stands_after_a_hidden_transaction_is_not_known() {
    let text = "
        c1 acquire g1
        c1 granted g1 czxid=10 path=/lock/one session=0x1
        c1 release g1
        c1 released g1";
    let judged = |between: Vec<zooquake_checkers::Txn>, zxids: &str| {
        let mut record = record(&format!("{text}\n c3 confirm\n c3 holds-not {zxids}"));
        if let Ok(zxid) = zxids.trim_start_matches("zxid=").parse::<i64>() {
            record.history.events[5].value["zxid"] = zxid.into();
        }
        let mut log = vec![
            txn(10, "0x1", "create", "/lock/one"),
            txn(11, "0x1", "delete", "/lock/one"),
            txn(12, "0x2", "create", "/lock/one"),
        ];
        log.extend(between);
        log.push(txn(30, "0x1", "delete", "/lock/one"));
        record.txnlog = Some(log);
        kinds(&check(&record))
            .iter()
            .map(|kind| (*kind).to_owned())
            .collect::<Vec<_>>()
    };
    let hidden = |op: &str, session: &str| {
        let mut hidden = txn(20, session, op, "");
        hidden.paths.clear();
        hidden
    };
    assert_eq!(judged(vec![], ""), ["unowned-release"]);
    assert_eq!(
        judged(vec![hidden("error", "0x1"), hidden("createSession", "0x3")], ""),
        ["unowned-release"]
    );
    assert_eq!(judged(vec![txn(20, "0x3", "multi", "/lock/two")], ""), [""; 0]);
    assert_eq!(judged(vec![hidden("multi", "0x1")], ""), [""; 0]);
    // Created again it is known again.
    let again = vec![hidden("multi", "0x1"), txn(21, "0x2", "create", "/lock/one")];
    assert_eq!(judged(again, ""), ["unowned-release"]);
    // The creator's session ended, whether its znodes are listed or not; or nobody knows whose did.
    assert_eq!(judged(vec![txn(20, "0x2", "closeSession", "/lock/one")], ""), [""; 0]);
    assert_eq!(judged(vec![hidden("closeSession", "0x2")], ""), [""; 0]);
    assert_eq!(judged(vec![hidden("closeSession", "0x0")], ""), [""; 0]);
    assert_eq!(
        judged(vec![txn(20, "0x3", "closeSession", "/lock/two")], ""),
        ["unowned-release"]
    );
    // The log lacks a transaction that an answer names.
    assert_eq!(judged(vec![], "zxid=25"), [""; 0]);
    assert_eq!(judged(vec![], "zxid=35"), ["unowned-release"]);
}

#[test]
fn evidence_that_the_plan_promises_and_nobody_gives_is_unknown() {
    let reasons = |record: &zooquake_checkers::Record| check(record).reasons;
    let said =
        |record: &zooquake_checkers::Record, what: &str| reasons(record).iter().any(|reason| reason.contains(what));
    let mut fenced = record(OLD_WRITE);
    assert!(!said(&fenced, "tell no token"), "it is not fenced");
    fenced.plan.workload.fenced = true;
    assert!(said(&fenced, "2 of 2 grants told no token"), "{:?}", reasons(&fenced));
    assert_eq!(kinds(&check(&fenced)), ["stale-write"]);
    fenced.history = history(
        &OLD_WRITE
            .replace("czxid=10", "czxid=10 token=10")
            .replace("czxid=20", "czxid=20 token=20"),
    );
    assert!(!said(&fenced, "tell no token"), "{:?}", reasons(&fenced));
    let mut inside = record(&OLD_WRITE.replace("c2 wrote g2", "c2 wrote g2 mzxid=25"));
    assert!(!said(&inside, "mzxid"), "the resource is outside");
    inside.plan.workload.resource = Resource::Zookeeper;
    assert!(
        said(&inside, "1 of 2 accepted writes told no transaction"),
        "{:?}",
        reasons(&inside)
    );
}
