//! Acknowledged writes that are gone: from the znode tree, from the transaction logs, or by their numbers.

use super::{held, plain};
use crate::expect::{edited, explains, has_reason, lacks_reason, none, proven_by};
use crate::script::{changed, txn};
use zooquake_checkers::{Verdict, check};
use zooquake_history::Record;

const WRITTEN: &str = "
    c1 invoke write value=1; c1 ok write value=1 mzxid=11
    c2 invoke write value=2; c2 ok write value=2 mzxid=12
    run audit";

/// The history with a register that holds this at last.
fn with_tree(text: &str, data: &str) -> Record {
    held(plain(text), data, 10 + data.parse().unwrap_or(0))
}

#[test]
fn what_the_register_holds_at_last_is_a_read_in_every_variant() {
    let found = proven_by(&with_tree(WRITTEN, "1"), "not-linearizable", &[1, 2, 3]);
    explains(&found, "reading of the znode tree");
    proven_by(&with_tree(WRITTEN, ""), "not-linearizable", &[1]);
    none(&with_tree(WRITTEN, "2"));
    none(&with_tree(&WRITTEN.replace("c2 ok", "c2 info"), "1"));
}

#[test]
fn a_tree_that_holds_what_nobody_sent_disagrees() {
    let found = "The reading of the znode tree that found 7 found a value that no client had sent";
    has_reason(&none(&with_tree(WRITTEN, "7")), &format!("evidence disagrees: {found}"));
}

fn agrees(record: &Record) {
    lacks_reason(&check(record), "evidence disagrees");
}

#[track_caller]
fn disagrees(record: &Record, what: &str) {
    let results = check(record);
    let said = |reason: &String| reason.starts_with("evidence disagrees: ") && reason.contains(what);
    assert!(results.reasons.iter().any(said), "{what}: {:?}", results.reasons);
}

#[test]
fn an_acknowledged_write_is_in_the_transaction_logs() {
    let logged = |second| {
        let txns = [11, second].map(|zxid| txn(zxid, "0x1", "setData", "/register"));
        changed(plain(WRITTEN), |record| record.txnlog = Some(txns.into()))
    };
    agrees(&logged(12));
    let unlogged = logged(13);
    let gone = "a write of 2 was acknowledged to c2 at 0.004 s as transaction 0xc, but the transaction log has no";
    disagrees(&unlogged, gone);
    assert_eq!(check(&unlogged).verdict, Verdict::Unknown);
    let other = changed(logged(12), |other| {
        other.txnlog.as_mut().expect("there is one")[1].op = "create".to_owned()
    });
    disagrees(&other, "there create of /register");
    // No log contains what came before the oldest one.
    agrees(&changed(logged(12), |young| {
        drop(young.txnlog.as_mut().expect("there is one").remove(0))
    }));
}

#[test]
fn transactions_go_on_counting() {
    agrees(&plain(WRITTEN));
    for (edits, said) in [
        (
            "mzxid=12 => mzxid=5",
            "as transaction 0x5, though it was sent after one had been acknowledged at 0.002 s as transaction 0xb",
        ),
        (
            "mzxid=12 => mzxid=11",
            "transaction 0xb is of 2, while c1 reported at 0.002 s that it is of 1",
        ),
        (
            "run audit => run audit; c3 invoke read; c3 ok read value=1 mzxid=12",
            "1 is of transaction 0xc, while c1 reported at 0.002 s that it is of 0xb",
        ),
    ] {
        disagrees(&plain(&edited(WRITTEN, edits)), said);
    }
}
