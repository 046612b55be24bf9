//! What left an orphan, and what deleted a lost item, in the words of the anomalies.

use crate::expect::{edited, one};
use crate::script::{history, lock, logged, record, run, standing, txn, znode};
use zooquake_checkers::check;
use zooquake_history::Txn;

const END: &str = "
    9.0 run recovered; run audit
    c1 quiesce; c1 quiesced sessions=0x1
    c2 quiesce; c2 quiesced sessions=0x2
    run done";

/// The cause of a znode of the first client's session that stands at the end and that nobody names.
fn left(text: &str, czxid: i64) -> String {
    let results = check(&standing(
        lock(&format!("{text}{END}")),
        vec![znode("/lock/x", czxid, "0x1")],
    ));
    let orphan = results.anomalies.iter().find(|anomaly| anomaly.kind == "orphan-node");
    let cause = orphan.unwrap_or_else(|| panic!("{results:#?}")).cause.as_ref();
    cause.map_or_else(String::new, |cause| cause.sentence.clone())
}

/// Three grants of one session, the second of which was asked for when replies were lost.
const THREE: &str = "
    1.0 c1 acquire g1; 1.1 c1 granted g1 czxid=10 path=/lock/a session=0x1; 1.2 c1 release g1; 1.3 c1 released g1
    1.9 nemesis drop-reply 1 begin; 1.9 nemesis drop-reply 1 on target=c1 verified=true
    2.0 c1 acquire g2; 2.5 c1 unknown acquire g2
    2.9 nemesis drop-reply 1 off target=c1 verified=true
    3.0 c1 acquire g3; 3.1 c1 granted g3 czxid=30 path=/lock/c session=0x1
    3.2 c1 release g3; 3.3 c1 unknown release g3";

const SECOND: &str = "the `acquire` of g2 sent at 2.000 s, answered `info` (connection loss) at 2.500 s; meanwhile on: drop-reply of c1 \
                      (window 1, 1.900 s to 2.900 s)";

#[test]
fn an_orphan_names_the_operations_that_can_have_made_it_and_the_faults_then_on() {
    let third = "the `acquire` of g3 sent at 3.000 s, answered `ok` at 3.100 s; no fault was on meanwhile";
    let first = "the `acquire` of g1 sent at 1.000 s, answered `ok` at 1.100 s; no fault was on meanwhile";
    let found = left(THREE, 20);
    assert_eq!(
        found,
        format!("What left it may be one of: {first}; or {SECOND}; or {third}.")
    );
    let fourth =
        "the `release` of g3 sent at 3.200 s, answered `info` (connection loss) at 3.300 s; no fault was on meanwhile";
    assert_eq!(
        left(THREE, 40),
        format!("What left it may be one of: {third}; or {fourth}.")
    );
    let told = "3.0 c1 => 2.6 c2 acquire g9; 2.7 c2 granted g9 czxid=25 path=/lock/b session=0x2; 3.0 c1";
    let told = edited(THREE, told);
    assert_eq!(
        left(&told, 20),
        format!(
            "What left it may be one of: {first}; or the `release` of g1 sent at 1.200 s, answered `ok` at 1.300 s; no fault was on meanwhile; or {SECOND}."
        ),
        "a later transaction was read before"
    );
}

#[test]
fn an_orphan_that_a_grant_rests_on_names_its_release() {
    assert_eq!(
        left(THREE, 30),
        "Grant g3 rests on it. What left it there: the `release` of g3 sent at 3.200 s, answered `info` (connection loss) at 3.300 s; no \
         fault was on meanwhile."
    );
    let found = left(&edited(THREE, "3.2 c1 release g3; 3.3 c1 unknown release g3 =>"), 30);
    assert_eq!(found, "Grant g3 rests on it, which was never sent its `release`.");
}

#[test]
fn a_lost_item_names_the_delete_in_the_log() {
    let text = "
        c2 note hello session=0x2
        c1 invoke enqueue item=1; c1 ok enqueue item=1 path=/queue/item-1 czxid=2
        c3 ask confirm; c3 answer confirm
        c3 invoke dequeue; c3 ok dequeue item=null
        run drained";
    let record = run("fifo", text);
    assert_eq!(one(&record, "lost-item").cause, None);
    let txns = vec![
        txn(1, "0x2", "delete", "/queue/item-1"),
        txn(2, "0x1", "create", "/queue/item-1"),
        txn(3, "0x2", "delete", "/queue/item-2"),
        txn(4, "0x2", "delete", "/queue/item-1"),
        txn(5, "0x1", "delete", "/queue/item-1"),
    ];
    let record = logged(record, txns);
    let cause = one(&record, "lost-item").cause.expect("the log has its delete");
    let told =
        "The transaction log shows that the session 0x2 of c2 deleted its znode /queue/item-1 in transaction 0x4.";
    assert_eq!(
        (cause.sentence.as_str(), cause.transaction, cause.proven),
        (told, Some(4), true)
    );
}

#[test]
fn a_lost_item_is_matched_by_the_data_of_its_znode() {
    let text = "
        c2 note hello session=0x2
        c1 invoke enqueue item=5; c1 ok enqueue item=5
        c3 ask confirm; c3 answer confirm
        c3 invoke dequeue; c3 ok dequeue item=null
        run drained";
    let create = |zxid, path: &str, data: &str| Txn {
        data: Some(data.to_owned()),
        ephemeral: Some(false),
        ..txn(zxid, "0x1", "create", path)
    };
    let txns = vec![
        txn(1, "0x2", "createSession", ""),
        create(2, "/queue/entry-1", "5"),
        create(3, "/queue/entry-2", "6"),
        txn(4, "0x2", "delete", "/queue/entry-1"),
    ];
    let cause = |txns: Vec<Txn>| one(&logged(run("fifo", text), txns), "lost-item").cause;
    let found = cause(txns.clone()).expect("the log has its znode, by its data, and its delete");
    assert_eq!((found.transaction, found.proven), (Some(4), true));
    assert!(
        found.sentence.contains("of c2 deleted its znode /queue/entry-1"),
        "{found:?}"
    );
    // Of two znodes with its data neither is known to be the item's.
    let mut twice = txns;
    twice.push(create(5, "/queue/entry-3", "5"));
    assert_eq!(cause(twice), None);
}

#[test]
fn an_orphan_of_a_group_names_the_update_that_left_it_and_when_its_client_named_it_last() {
    let text = "
        1.0 c1 invoke register member=m1 value=1; 1.1 c1 ok register path=/members/m1 czxid=10 mzxid=10 session=0x1
        1.2 c1 ask confirm; 1.3 c1 answer confirm zxid=12
        2.0 c1 invoke update value=2; 2.2 c1 ok update path=/members/m1b mzxid=20
        3.0 c1 ask confirm; 3.1 c1 answer confirm zxid=30
        9.0 run recovered; run audit
        c1 quiesce; c1 quiesced sessions=0x1
        run done";
    let record = record("membership", "cached", &["/members"], 1, history(text));
    let results = check(&standing(record, vec![znode("/members/m1b", 15, "0x1")]));
    let orphan = results.anomalies.iter().find(|anomaly| anomaly.kind == "orphan-node");
    let cause = orphan
        .unwrap_or_else(|| panic!("{results:#?}"))
        .cause
        .as_ref()
        .expect("a cause");
    let words = "What left it may be the `update` sent at 2.000 s, answered `ok` at 2.200 s";
    assert!(cause.sentence.starts_with(words), "{cause:?}");
}
