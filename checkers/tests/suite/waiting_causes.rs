//! Clients that wait behind what was left: what they inherit from it, and when they stand alone.

use crate::expect::edited;
use crate::script::{changed, holding, lock, standing, threatened, txn, znode};
use serde_json::json;
use zooquake_checkers::{Anomaly, Cause, check};
use zooquake_history::evidence::Znode;
use zooquake_history::{Record, Txn, plan::AcceptedAnomaly};

/// Two grants in the order of their znodes, a third one that ends with an unknown outcome while replies are lost, and
/// long after that a request that waits.
const BEHIND: &str = "
    1 c1 acquire g1; 1.1 c1 granted g1 czxid=2 path=/lock/x-0000000001 session=0x1; 1.2 c1 release g1; 1.3 c1 released g1
    1.4 c2 acquire g2; 1.5 c2 granted g2 czxid=4 path=/lock/x-0000000002 session=0x2; 1.6 c2 release g2; 1.7 c2 released g2
    3.9 nemesis drop-reply 1 begin; 4 c1 acquire g3; 4.1 nemesis drop-reply 1 on target=c1 verified=true
    4.2 nemesis drop-reply 1 off target=c1 verified=true; 4.5 c1 unknown acquire g3
    5 c1 ask confirm; 5.1 c1 answer confirm zxid=9
    20 c2 acquire g4
    30 run recovered; 60 run audit
    61 c1 quiesce; 61.1 c1 quiesced sessions=0x1
    61.2 c2 quiesce; 61.3 c2 quiesced sessions=0x2 znodes=/lock/x-0000000004@11
    run done";

fn left() -> Znode {
    znode("/lock/x-0000000003", 6, "0x1")
}

fn waits() -> Znode {
    znode("/lock/x-0000000004", 11, "0x2")
}

/// The record of a variant that declares these anomalies under `drop-reply`.
fn declaring(text: &str, znodes: Vec<Znode>, declared: &[&str]) -> Record {
    let record = threatened(standing(lock(text), znodes), 1, "drop-reply");
    let accepted = |anomaly: &&str| AcceptedAnomaly {
        anomaly: (*anomaly).to_owned(),
        faults: vec!["drop-reply".to_owned()],
        reason: String::new(),
        source: String::new(),
    };
    let accepted = declared.iter().map(accepted).collect();
    changed(record, |record| record.plan.workload.accepted = accepted)
}

/// Of each anomaly that is not advisory, in their order: its name, whether it is accepted, and its root.
fn outline(record: &Record) -> Vec<(String, bool, Option<usize>)> {
    let violations = check(record).anomalies.into_iter().filter(|anomaly| !anomaly.advisory);
    let root = |anomaly: &Anomaly| anomaly.cause.as_ref().and_then(|cause| cause.root);
    violations
        .map(|anomaly| (anomaly.kind.clone(), anomaly.accepted, root(&anomaly)))
        .collect()
}

/// The cause of the wait of a client.
fn cause(record: &Record, client: &str) -> Option<Cause> {
    let results = check(record);
    let wait = |anomaly: &&Anomaly| anomaly.kind == "lost-wakeup" && anomaly.why.starts_with(client);
    let found = results.anomalies.iter().find(wait);
    found.unwrap_or_else(|| panic!("{results:#?}")).cause.clone()
}

fn named(kind: &str, accepted: bool, root: Option<usize>) -> (String, bool, Option<usize>) {
    (kind.to_owned(), accepted, root)
}

#[test]
fn who_waits_behind_an_orphan_is_known_if_it_is_declared_under_a_fault_near_the_orphan() {
    let both = ["orphan-node", "lost-wakeup"];
    let record = declaring(BEHIND, vec![left(), waits()], &both);
    let expected = [named("orphan-node", true, None), named("lost-wakeup", true, Some(0))];
    assert_eq!(outline(&record), expected);
    let words = "It waits behind /lock/x-0000000003 (czxid 0x6), an orphan";
    let cause = cause(&record, "c2").expect("a cause");
    assert!(cause.sentence.starts_with(words) && cause.proven, "{cause:?}");

    // What a variant does not declare stays new, whatever stood before it.
    let record = declaring(BEHIND, vec![left(), waits()], &["orphan-node"]);
    let expected = [named("orphan-node", true, None), named("lost-wakeup", false, Some(0))];
    assert_eq!(outline(&record), expected);
    // Without an orphan it is near no fault.
    let record = declaring(BEHIND, vec![waits()], &both);
    assert_eq!(outline(&record), [named("lost-wakeup", false, None)]);
}

#[test]
fn where_order_age_or_place_is_not_proven_an_anomaly_stands_alone() {
    let both = ["orphan-node", "lost-wakeup"];
    let alone = |text: &str, znodes: Vec<Znode>| {
        let record = declaring(text, znodes, &both);
        let all = outline(&record);
        assert!(all.contains(&named("lost-wakeup", false, None)), "{all:?}");
        assert_eq!(cause(&record, "c2"), None);
    };
    // It stands behind the client that waits.
    alone(BEHIND, vec![waits(), znode("/lock/x-0000000005", 6, "0x1")]);
    // It is among others.
    alone(BEHIND, vec![waits(), znode("/lock/y/x-0000000003", 6, "0x1")]);
    // Grants were not let in by their numbers.
    let swapped = "x-0000000001 session => x-0000000007 session";
    alone(&edited(BEHIND, swapped), vec![left(), waits()]);
    // That it was there before recovery is not shown.
    alone(BEHIND, vec![znode("/lock/x-0000000003", 10, "0x1"), waits()]);
    // The client named no znode by which it waits, and there is no log to show that it made none.
    alone(&edited(BEHIND, " znodes=/lock/x-0000000004@11 =>"), vec![left()]);
}

#[test]
fn clients_that_wait_without_znodes_wait_for_a_place() {
    let both = ["orphan-node", "lost-wakeup"];
    let text = edited(BEHIND, " znodes=/lock/x-0000000004@11 =>");
    let create = |zxid, session: &str, number| txn(zxid, session, "create", &format!("/lock/x-000000000{number}"));
    let delete = |zxid, session: &str, number| txn(zxid, session, "delete", &format!("/lock/x-000000000{number}"));
    let other = |zxid| txn(zxid, "0x1", "setData", "/zooquake/scratch/c1");
    let until_nine = || -> Vec<Txn> {
        vec![
            other(1),
            create(2, "0x1", 1),
            delete(3, "0x1", 1),
            create(4, "0x2", 2),
            delete(5, "0x2", 2),
            create(6, "0x1", 3),
            other(7),
            other(8),
            other(9),
        ]
    };
    let mut record = declaring(&text, vec![left()], &both);
    record.txnlog = Some(until_nine());
    let expected = [named("orphan-node", true, None), named("lost-wakeup", true, Some(0))];
    assert_eq!(outline(&record), expected);
    // It made one, which somebody took from it.
    let mut more = until_nine();
    more.extend([create(10, "0x2", 4), delete(11, "0x1", 4)]);
    record.txnlog = Some(more);
    let found = cause(&record, "c2").expect("a cause");
    let words = "The znode /lock/x-0000000004 (czxid 0xa) by which c2 waited was deleted in transaction 0xb by the session 0x1 of c1.";
    assert!(found.sentence.starts_with(words) && found.proven, "{found:?}");
    assert_eq!((found.root, found.transaction), (None, Some(11)));
}

/// A client that waits by a znode of its own behind another client's, while it is cut off.
const STRANDED: &str = "
    1 c1 acquire g1; 1.1 c1 granted g1 czxid=2 path=/lock/x-0000000001 session=0x1
    1.2 c2 note hello session=0x2; 1.3 c2 acquire g2
    3 nemesis disconnect 1 begin target=c2; 3.1 nemesis disconnect 1 on target=c2 verified=true
    3.2 c2 note session session=0x2 state=disconnected
    3.3 c1 release g1; 3.4 c1 released g1; 3.5 c1 ask confirm; 3.6 c1 answer confirm zxid=5
    4 nemesis disconnect 1 heal target=c2; 4.2 nemesis disconnect 1 off target=c2 verified=true
    4.3 c2 note session session=0x2 state=connected
    30 run recovered; 60 run audit
    61 c1 quiesce; 61.1 c1 quiesced sessions=0x1
    61.2 c2 quiesce; 61.3 c2 quiesced sessions=0x2 znodes=/lock/x-0000000002@3
    run done";

/// The record of [`STRANDED`], with these transactions after the creation of both znodes.
fn stranded(text: &str, stand: Vec<Znode>, after: Vec<Txn>) -> Record {
    let create = |zxid, session: &str, number| txn(zxid, session, "create", &format!("/lock/x-000000000{number}"));
    let mut record = threatened(standing(lock(text), stand), 1, "disconnect");
    let mut txns = vec![
        txn(1, "0x1", "createSession", ""),
        create(2, "0x1", 1),
        create(3, "0x2", 2),
    ];
    txns.extend(after);
    record.txnlog = Some(txns);
    record
}

fn first_gone() -> Vec<Txn> {
    let scratch = txn(5, "0x1", "setData", "/zooquake/scratch/c1");
    vec![txn(4, "0x1", "delete", "/lock/x-0000000001"), scratch]
}

#[test]
fn a_client_whose_znode_is_the_first_waits_since_it_was_not_connected() {
    let own = || vec![znode("/lock/x-0000000002", 3, "0x2")];
    let found = cause(&stranded(STRANDED, own(), first_gone()), "c2").expect("a cause");
    let words = "Its znode /lock/x-0000000002 (czxid 0x3) stands, and nothing has stood before it since transaction 0x4 removed \
                 /lock/x-0000000001 (the session 0x1 of c1). c2 was not connected from 3.200 s to 4.300 s, while disconnect of c2 \
                 (window 1, 3.100 s to 4.000 s) was on, after it had made that znode";
    assert!(found.sentence.starts_with(words) && found.proven, "{found:?}");
    assert_eq!((found.window, found.root), (Some(1), None));

    // Connected throughout: it was not informed, or did not look.
    let text = edited(STRANDED, "3.2 c2 note session session=0x2 state=disconnected =>");
    let text = edited(&text, "4.3 c2 note session session=0x2 state=connected =>");
    let found = cause(&stranded(&text, own(), first_gone()), "c2").expect("a cause");
    assert!(found.sentence.ends_with("c2 was connected throughout."), "{found:?}");
    assert_eq!(found.window, None);

    // Another client's znode stands before it, and nothing shows since when: no cause.
    let mut both = own();
    both.push(znode("/lock/x-0000000001", 2, "0x1"));
    let late = vec![
        txn(4, "0x1", "setData", "/zooquake/scratch/c1"),
        txn(5, "0x1", "setData", "/zooquake/scratch/c1"),
    ];
    let text = edited(
        STRANDED,
        "61.1 c1 quiesced sessions=0x1 => 61.1 c1 quiesced sessions=0x1 znodes=/lock/x-0000000001@2",
    );
    assert_eq!(cause(&stranded(&text, both, late), "c2"), None);
}

#[test]
fn a_client_whose_session_ended_names_that_as_the_cause() {
    let text = edited(
        STRANDED,
        "4.3 c2 note session session=0x2 state=connected => 4.3 c2 note session session=0x2 state=expired",
    );
    let text = edited(
        &text,
        "61.3 c2 quiesced sessions=0x2 znodes=/lock/x-0000000002@3 => 61.3 c2 quiesced sessions=0x3",
    );
    let ended = vec![
        txn(4, "0x2", "closeSession", "/lock/x-0000000002"),
        txn(5, "0x1", "delete", "/lock/x-0000000001"),
    ];
    let found = cause(&stranded(&text, vec![], ended), "c2").expect("a cause");
    let words = "The znode /lock/x-0000000002 (czxid 0x3) by which c2 waited went with its session 0x2, which ended in transaction 0x4";
    assert!(found.sentence.starts_with(words), "{found:?}");
    assert!(found.sentence.contains("while disconnect of c2 (window 1"), "{found:?}");
    assert_eq!(
        (found.window, found.proven, found.session.as_deref()),
        (Some(1), true, Some("0x2"))
    );

    // Without logs the client's own report may explain it.
    let mut record = stranded(&text, vec![], vec![]);
    record.txnlog = None;
    let found = cause(&record, "c2").expect("a cause");
    assert!(
        found
            .sentence
            .starts_with("The session 0x2 that c2 had when it asked ended"),
        "{found:?}"
    );
    assert_eq!((found.proven, found.window), (false, Some(1)));

    // A session of another client is nobody's cause, nor is one that the client closed itself.
    let text = edited(&text, "state=expired => state=closed");
    let mut record = stranded(&text, vec![], vec![]);
    record.txnlog = None;
    assert_eq!(cause(&record, "c2"), None);
}

#[test]
fn clients_behind_one_znode_that_nobody_removes_have_one_root() {
    let text = edited(
        BEHIND,
        "4.5 c1 unknown acquire g3 => 4.4 c1 granted g3 czxid=6 path=/lock/x-0000000003 session=0x1; 4.5 c1 exit",
    );
    let text = edited(&text, "20 c2 acquire g4 => 20 c2 acquire g4; 20.1 c1 acquire g5");
    let text = edited(
        &text,
        "61.1 c1 quiesced sessions=0x1 => 61.1 c1 quiesced sessions=0x3 znodes=/lock/x-0000000005@12",
    );
    let stays = Znode {
        czxid: 6,
        mzxid: 6,
        ..holding("/lock/x-0000000003", "")
    };
    let record = declaring(&text, vec![stays, waits(), znode("/lock/x-0000000005", 12, "0x3")], &[]);
    let expected = [named("lost-wakeup", false, None), named("lost-wakeup", false, Some(0))];
    assert_eq!(outline(&record), expected);
    let cause = cause(&record, "c2").expect("a cause");
    let words = "It waits behind /lock/x-0000000003 (czxid 0x6), which no client named, a persistent znode, which stood there throughout.";
    assert_eq!((cause.sentence.as_str(), cause.root), (words, None));
}

#[test]
fn an_orphan_of_a_lost_reply_names_its_window_unless_a_client_names_the_znode_later() {
    let lost = |text: &str| {
        let mut record = declaring(text, vec![left()], &["orphan-node"]);
        let on = |event: &&mut zooquake_history::Event| event.is_of("nemesis") && event.phase() == Some("on");
        let event = record.history.events.iter_mut().find(on).expect("the window");
        event.value["evidence"] = json!({"lost": "reply", "outcome": "applied", "zxid": 6, "session": "0x1"}).into();
        record.txnlog = Some(vec![txn(6, "0x1", "create", "/lock/x-0000000003")]);
        let results = check(&record);
        let orphan = results
            .anomalies
            .into_iter()
            .find(|anomaly| anomaly.kind == "orphan-node");
        orphan.and_then(|orphan| orphan.cause).expect("a cause")
    };
    let text = edited(BEHIND, "20 c2 acquire g4 =>");
    let cause = lost(&text);
    let words = "Window 1 (drop-reply of c1) lost the reply to the request of c1 that created it (transaction 0x6) during its `acquire` of \
                 g3, and no client named the znode after that.";
    assert_eq!(
        (cause.sentence.as_str(), cause.window, cause.proven),
        (words, Some(1), true)
    );
    let later = edited(&text, "5 c1 ask confirm => 4.8 c1 note seen czxid=6; 5 c1 ask confirm");
    assert_eq!(lost(&later).window, None);
}
