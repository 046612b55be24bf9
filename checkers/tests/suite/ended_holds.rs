//! What had ended a hold in the ensemble whose client went on: a stale write names it, and never what came later.

use crate::expect::edited;
use crate::script::{changed, lock, txn};
use zooquake_checkers::{Cause, check};
use zooquake_history::Txn;

/// A write under an older grant after one of a newer grant, and a confirm of the newer one's client in between.
const STALE: &str = "
    1 c1 acquire g1; 1.1 c1 granted g1 czxid=2 path=/lock/x-0000000001 session=0x1
    1.5 c1 write g1
    1.6 nemesis pause 1 begin; 1.7 nemesis pause 1 on target=c1 verified=true
    4 c2 acquire g2; 4.1 c2 granted g2 czxid=4 path=/lock/x-0000000002 session=0x2
    4.2 c2 confirm; 4.3 c2 holds g2 zxid=5
    4.4 c2 write g2; 4.5 c2 wrote g2
    5 nemesis pause 1 off target=c1 verified=true; 5.1 c1 wrote g1
    6 run recovered; 7 run audit; 7.1 run done";

fn other(zxid: i64) -> Txn {
    txn(zxid, "0x2", "setData", "/zooquake/scratch/c2")
}

fn create(zxid: i64, session: &str, number: u8) -> Txn {
    txn(zxid, session, "create", &format!("/lock/x-000000000{number}"))
}

fn removed(zxid: i64, session: &str, op: &str) -> Txn {
    txn(zxid, session, op, "/lock/x-0000000001")
}

#[track_caller]
fn cause(text: &str, txns: Vec<Txn>) -> Option<Cause> {
    let results = check(&changed(lock(text), |record| record.txnlog = Some(txns)));
    let found = results.anomalies.iter().find(|anomaly| anomaly.kind == "stale-write");
    found.unwrap_or_else(|| panic!("{results:#?}")).cause.clone()
}

#[test]
fn a_stale_write_names_the_end_of_the_session_that_let_the_next_one_in() {
    let before = |removal: Txn| vec![other(1), create(2, "0x1", 1), removal, create(4, "0x2", 2), other(5)];
    let found = cause(STALE, before(removed(3, "0x1", "closeSession"))).expect("the log has the end of the session");
    let words = "Grant g1 rested on /lock/x-0000000001. The session 0x1 of c1 ended (transaction 0x3), while pause of c1 (window 1, 1.700 \
                 s to 5.000 s) was on. This let in grant g2 of c2, while c1 still took itself for the holder. The write was sent at \
                 1.500 s and made after pause of c1 (window 1, 1.700 s to 5.000 s): a lease does not keep a client that was frozen \
                 from writing.";
    assert_eq!(found.sentence, words);
    assert_eq!(
        (found.proven, found.window, found.transaction),
        (true, Some(1), Some(3))
    );
    let stolen = cause(STALE, before(removed(3, "0x2", "delete"))).expect("a delete");
    let words = "Another session, 0x2 of c2, deleted it in transaction 0x3";
    assert!(stolen.sentence.contains(words), "{}", stolen.sentence);
}

#[test]
fn the_first_grant_is_named_that_the_end_let_in_not_the_one_that_wrote() {
    let several = edited(
        STALE,
        "4.4 c2 write g2; 4.5 c2 wrote g2 => 4.4 c2 release g2; 4.5 c2 released g2",
    );
    let several = edited(
        &several,
        "5 nemesis pause 1 off => 4.6 c3 acquire g3; 4.7 c3 granted g3 czxid=7 path=/lock/x-0000000003 session=0x3
         4.8 c3 write g3; 4.9 c3 wrote g3; 5 nemesis pause 1 off",
    );
    let txns = vec![
        other(1),
        create(2, "0x1", 1),
        removed(3, "0x1", "closeSession"),
        create(4, "0x2", 2),
        other(5),
        txn(6, "0x2", "delete", "/lock/x-0000000002"),
        create(7, "0x3", 3),
    ];
    let found = cause(&several, txns).expect("a cause");
    assert!(
        found.proven && found.sentence.contains("This let in grant g2 of c2,"),
        "{found:?}"
    );
}

#[test]
fn what_may_have_come_later_is_not_proven_and_what_did_is_no_cause() {
    // It went after the newer znode had come: the recipe may have let both in.
    let later = |removal: i64| {
        let mut all = vec![other(1), create(2, "0x1", 1), other(3), create(4, "0x2", 2)];
        all.extend((5..removal).map(other));
        all.push(removed(removal, "0x1", "closeSession"));
        all
    };
    let unconfirmed = edited(STALE, "4.2 c2 confirm; 4.3 c2 holds g2 zxid=5 =>");
    let found = cause(&unconfirmed, later(5)).expect("it may have let the newer one in");
    assert!(
        !found.proven && found.sentence.contains("This may have let in grant g2"),
        "{found:?}"
    );
    // A write that was asked for after the newer grant was read came before it.
    assert_eq!(cause(STALE, later(6)), None);
    // Incomplete logs may lack an earlier removal.
    assert_eq!(cause(STALE, later(6).split_off(1)), None);
}

#[test]
fn a_client_that_noticed_late_is_told_from_the_hazard_of_every_lease() {
    let txns = || {
        vec![
            other(1),
            create(2, "0x1", 1),
            removed(3, "0x1", "closeSession"),
            create(4, "0x2", 2),
            other(5),
        ]
    };
    let cut = STALE.replace("pause", "disconnect");
    // Sent when its session had been over for 0.4 s, and noticed 3.2 s after the cut.
    let late = edited(&cut, "1.5 c1 write g1 => 4.5 c1 write g1");
    let late = edited(
        &late,
        "6 run recovered => 4.9 c1 note session session=0x1 state=disconnected; 6 run recovered",
    );
    let found = cause(&late, txns()).expect("a cause");
    let words = "The write was sent at 4.500 s, at least 0.400 s after that, and c1 noticed late: c1 reported `disconnected` at 4.900 s, \
                 3.200 s after disconnect of c1 (window 1, 1.700 s to 5.000 s) had struck.";
    assert!(found.sentence.ends_with(words), "{}", found.sentence);
    // It reports nothing at all.
    let never = edited(&late, "4.9 c1 note session session=0x1 state=disconnected =>");
    let found = cause(&never, txns()).expect("a cause");
    assert!(
        found
            .sentence
            .ends_with("c1 noticed late: c1 never reported that it is not connected."),
        "{}",
        found.sentence
    );
    // Sent while the session may still have lived: neither is claimed.
    let found = cause(&cut, txns()).expect("a cause");
    assert!(
        found.sentence.ends_with("still took itself for the holder."),
        "{}",
        found.sentence
    );
}
