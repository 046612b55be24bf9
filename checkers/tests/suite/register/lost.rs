//! Acknowledged writes that are gone: from the znode tree, from the transaction logs, or by their numbers.

use super::told::{held, minimal, record};
use crate::script::txn;
use zooquake_checkers::{Anomaly, Record, Verdict, check};

const WRITTEN: &str = "
    c1 invoke write value=1
    c1 ok write value=1 mzxid=11
    c2 invoke write value=2
    c2 ok write value=2 mzxid=12
    run audit";

/// The history with a register that holds this at last.
fn with_tree(text: &str, data: &str) -> Record {
    held(record("read", text), data, 10 + data.parse().unwrap_or(0))
}

fn only(record: &Record) -> Anomaly {
    let results = check(record);
    assert_eq!(results.anomalies.len(), 1, "{results:#?}");
    minimal(record, &results.anomalies[0]);
    results.anomalies[0].clone()
}

#[test]
fn what_the_register_holds_at_last_is_a_read_in_every_variant() {
    let found = only(&with_tree(WRITTEN, "1"));
    assert_eq!(
        (found.kind.as_str(), found.witness.as_slice()),
        ("not-linearizable", &[1, 2, 3][..])
    );
    assert!(found.why.contains("reading of the znode tree"), "{}", found.why);
    assert_eq!(only(&with_tree(WRITTEN, "")).witness, [1]);
    for innocent in [
        with_tree(WRITTEN, "2"),
        with_tree(&WRITTEN.replace("c2 ok", "c2 info"), "1"),
    ] {
        let results = check(&innocent);
        assert!(results.anomalies.is_empty(), "{results:#?}");
    }
}

#[test]
fn a_tree_that_holds_what_nobody_sent_disagrees() {
    let results = check(&with_tree(WRITTEN, "7"));
    assert!(results.anomalies.is_empty(), "{results:#?}");
    disagrees(
        &results.reasons,
        "The reading of the znode tree that found 7 found a value that nobody had sent",
    );
}

#[track_caller]
fn disagrees(reasons: &[String], what: &str) {
    let said = |reason: &String| reason.starts_with("evidence disagrees: ") && reason.contains(what);
    assert!(reasons.iter().any(said), "{what}: {reasons:?}");
}

#[track_caller]
fn agrees(record: &Record) {
    let results = check(record);
    let said = |reason: &String| reason.contains("evidence disagrees");
    assert!(!results.reasons.iter().any(said), "{:?}", results.reasons);
}

#[test]
fn an_acknowledged_write_is_in_the_transaction_logs() {
    let logged = |second| {
        let mut record = record("read", WRITTEN);
        record.txnlog = Some(vec![
            txn(11, "0x1", "setData", "/register"),
            txn(second, "0x1", "setData", "/register"),
        ]);
        record
    };
    agrees(&logged(12));
    let results = check(&logged(13));
    disagrees(
        &results.reasons,
        "a write of 2 was acknowledged to c2 at 0.004 s as transaction 0xc, but the transaction log has no",
    );
    assert_eq!(results.verdict, Verdict::Unknown);
    let mut other = logged(12);
    other.txnlog.as_mut().expect("there is one")[1].op = "create".to_owned();
    disagrees(&check(&other).reasons, "there create of /register");
    // What came before the oldest log is told by none.
    let mut young = logged(12);
    young.txnlog.as_mut().expect("there is one").remove(0);
    agrees(&young);
}

#[test]
fn transactions_go_on_counting() {
    agrees(&record("read", WRITTEN));
    disagrees(
        &check(&record("read", &WRITTEN.replace("mzxid=12", "mzxid=5"))).reasons,
        "as transaction 0x5, though it was sent after one had been acknowledged at 0.002 s as transaction 0xb",
    );
    disagrees(
        &check(&record("read", &WRITTEN.replace("mzxid=12", "mzxid=11"))).reasons,
        "transaction 0xb is of 2, while c1 was told at 0.002 s that it is of 1",
    );
    let read = format!("{WRITTEN}\n c3 invoke read\n c3 ok read value=1 mzxid=12");
    disagrees(
        &check(&record("read", &read)).reasons,
        "1 is of transaction 0xc, while c1 was told at 0.002 s that it is of 0xb",
    );
}
