//! Each anomaly of an election by one history, and silence on its nearest innocent twin.

use crate::election::retold;
use crate::expect::{count, edited, explains, found, guilty, has_reason, innocent, none, one, one_by};
use crate::script::{lock, standing, txn, znode};
use zooquake_checkers::check;
use zooquake_history::Record;

fn election(text: &str) -> Record {
    let mut record = lock(text);
    record.plan.workload.variant = "acknowledged".to_owned();
    record.plan.workload.contenders = vec!["/election".to_owned()];
    retold(&record)
}

const BOTH_LEAD: &str = "
    c1 elect g1; c1 elected g1 czxid=10
    c2 elect g2; c2 elected g2 czxid=20
    c1 confirm; c2 confirm
    c2 holds g2; c1 holds g1";

#[test]
fn two_confirmed_leaders() {
    let found = one(&election(BOTH_LEAD), "two-leaders");
    assert!(!found.advisory && found.witness == [1, 3, 4, 5, 6, 7]);
    explains(&found, "each holds the leadership");
    let table = "c1 holds => c1 resign g1; c1 holds # it was asked before it was to resign";
    guilty(election, "two-leaders", BOTH_LEAD, table);
    let table = "
        c1 confirm => c1 resign g1; c1 confirm
        c1 holds => c1 lost g1; c1 holds";
    innocent(election, BOTH_LEAD, table);
}

const STILL_WRITES: &str = "
    c1 elect g1; c1 elected g1 czxid=10
    c2 elect g2; c2 elected g2 czxid=20
    c1 write g1; c1 wrote g1
    c2 write g2; c2 wrote g2";

#[test]
fn a_leader_that_answers_after_the_next_was_elected_is_stale_and_that_is_advisory() {
    assert!(one(&election(STILL_WRITES), "stale-leader").advisory);
    innocent(election, STILL_WRITES, "c1 wrote => c1 not-held");
}

#[test]
fn a_deposed_leaders_write_is_stale_unless_the_epoch_stops_it() {
    let text = "
        c1 elect g1; c1 elected g1 czxid=10 token=1
        c1 write g1
        c2 elect g2; c2 elected g2 czxid=20 token=2
        c2 write g2; c2 wrote g2
        c1 wrote g1";
    one_by(&election(text), "stale-write", &[1, 4, 6, 7]);
    innocent(election, text, "c1 wrote => c1 refused");
}

#[test]
fn an_epoch_that_does_not_rise_is_a_regression() {
    let text = "
        c1 elect g1; c1 elected g1 czxid=10 token=7
        c2 elect g2; c2 elected g2 czxid=20 token=7";
    one_by(&election(text), "epoch-regression", &[1, 2, 3]);
    let table = "
        czxid=20 token=7 => czxid=20 token=8
        c2 elect g2 => | c1 elected => c2 elect g2; c1 elected # asked for before the other was elected, it may be the older term";
    innocent(election, text, table);
}

#[test]
fn a_resignation_that_removes_anothers_znode_is_unowned() {
    let text = "c1 elect g1; c1 elected g1 czxid=10; c1 resign g1; c1 resigned g1 removed=12";
    one_by(&election(text), "unowned-release", &[1, 3]);
    innocent(election, text, "removed=12 => removed=10");
}

#[test]
fn a_candidacy_that_waits_though_nobody_leads_is_no_leader() {
    let text = "
        1 c1 elect g1; 2 c1 elected g1 czxid=10
        3 c2 elect g2
        4 c1 resign g1; 5 c1 resigned g1
        6 run recovered; 20 run audit; 21 run done";
    let found = one_by(&election(text), "no-leader", &[2, 5, 6]);
    explains(&found, "nobody held the leadership for 14.000 s");
    let table = "20 run audit => 15 c2 elected g2 czxid=20; 20 run audit";
    innocent(election, text, table);
}

#[test]
fn a_candidates_znode_that_nobody_knows_is_an_orphan() {
    let text = "
        1 c1 hello session=0x1
        6 run recovered; 7 run audit
        8 c1 quiesce; 9 c1 quiesced sessions=0x1 znodes=/election/a@5
        10 run done";
    for (czxid, wanted) in [(5, &[][..]), (6, &["orphan-node"])] {
        let record = standing(election(text), vec![znode("/election/a", czxid, "0x1")]);
        found(&record, wanted);
    }
}

const TERM: &str = "
    c1 elect g1; c1 elected g1 czxid=10 ack=12
    c1 write g1; c1 wrote g1";

#[test]
fn a_write_without_an_acknowledgement_is_an_unacknowledged_leaders() {
    let none_told = election(&edited(TERM, "c1 wrote g1 => c1 wrote g1 ack=none"));
    one_by(&none_told, "unacknowledged-leader", &[3]);
    none(&election(TERM));
    let table = "
        ack=12 => ack=none | c1 wrote g1 => c1 wrote g1 ack=12
        c1 wrote g1 => c1 refused g1 ack=none # it was refused
        c1 wrote g1 => c1 unknown write g1 ack=none # its outcome is unknown
        ack=12 => ack=none # who was elected without one may have it by the time it writes";
    innocent(election, TERM, table);
}

#[test]
fn an_acknowledgement_of_an_earlier_term_is_none() {
    let earlier = TERM.replace("ack=12", "ack=8");
    one_by(&election(&earlier), "unacknowledged-leader", &[1, 3]);
    innocent(election, &earlier, "czxid=10 =>\n c1 wrote g1 => c1 wrote g1 ack=12");
}

#[test]
fn acknowledgements_that_no_reply_tells_of_are_a_reason() {
    let reason = "no reply contains its leader's acknowledgement";
    has_reason(&check(&election(&TERM.replace("ack=12", ""))), reason);
    assert_eq!(count(&check(&election(TERM)), reason), 0);
}

#[test]
fn an_acknowledgement_that_the_log_does_not_have_is_a_disagreement() {
    let mut record = election(&TERM.replace("ack=12", "ack=12 path=/election/a"));
    for (ack, disagree) in [("/election-ack/x", 0), ("/election-ack/y", 1)] {
        record.txnlog = Some(vec![
            txn(10, "0x1", "create", "/election/a"),
            txn(12, "0x1", "create", ack),
            txn(13, "0x1", "createSession", ""),
        ]);
        let found = count(&check(&record), "evidence disagrees: grant g1");
        assert_eq!(found, disagree, "{ack}");
    }
}
