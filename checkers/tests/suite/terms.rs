//! Each anomaly of an election by one history, and silence on its nearest innocent twin.

use crate::election::retold;
use crate::script::{audited, history, kinds, record, txn, znode};
use zooquake_checkers::{Anomaly, Record, Results, check};

fn election(text: &str) -> Record {
    let mut record = record(text);
    record.plan.workload.variant = "acknowledged".to_owned();
    record.plan.workload.contenders = vec!["/election".to_owned()];
    retold(&record)
}

fn results(text: &str) -> Results {
    check(&election(text))
}

#[track_caller]
fn only(text: &str, kind: &str) -> Anomaly {
    let results = results(text);
    assert_eq!(kinds(&results), [kind], "{results:#?}");
    results.anomalies.into_iter().next().expect("there is one")
}

#[track_caller]
fn silent(text: &str) {
    let results = results(text);
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
}

const BOTH_LEAD: &str = "
    c1 elect g1
    c1 elected g1 czxid=10
    c2 elect g2
    c2 elected g2 czxid=20
    c1 confirm
    c2 confirm
    c2 holds g2
    c1 holds g1";

#[test]
fn two_confirmed_leaders() {
    let found = only(BOTH_LEAD, "two-leaders");
    assert!(!found.advisory && found.witness == [1, 3, 4, 5, 6, 7]);
    assert!(found.why.contains("each holds the leadership"), "{}", found.why);
    // The leader of before answers only after it has resigned.
    silent(&BOTH_LEAD.replace("c1 holds", "c1 resign g1\nc1 holds"));
}

const STILL_WRITES: &str = "
    c1 elect g1
    c1 elected g1 czxid=10
    c2 elect g2
    c2 elected g2 czxid=20
    c1 write g1
    c1 wrote g1
    c2 write g2
    c2 wrote g2";

#[test]
fn a_leader_that_answers_after_the_next_was_elected_is_stale_and_that_is_advisory() {
    assert!(only(STILL_WRITES, "stale-leader").advisory);
    silent(&STILL_WRITES.replace("c1 wrote", "c1 not-held"));
}

#[test]
fn a_deposed_leaders_write_is_stale_unless_the_epoch_stops_it() {
    let text = "
        c1 elect g1
        c1 elected g1 czxid=10 token=1
        c1 write g1
        c2 elect g2
        c2 elected g2 czxid=20 token=2
        c2 write g2
        c2 wrote g2
        c1 wrote g1";
    assert_eq!(only(text, "stale-write").witness, [1, 4, 6, 7]);
    silent(&text.replace("c1 wrote", "c1 refused"));
}

#[test]
fn an_epoch_that_does_not_rise_is_a_regression() {
    let text = "
        c1 elect g1
        c1 elected g1 czxid=10 token=7
        c2 elect g2
        c2 elected g2 czxid=20 token=7";
    assert_eq!(only(text, "epoch-regression").witness, [1, 2, 3]);
    silent(&text.replace("czxid=20 token=7", "czxid=20 token=8"));
    // Asked for before the other was elected, it may be the older term.
    silent(
        &text
            .replace("c2 elect g2\n", "")
            .replace("c1 elected", "c2 elect g2\n c1 elected"),
    );
}

#[test]
fn a_resignation_that_removes_anothers_znode_is_unowned() {
    let text = "
        c1 elect g1
        c1 elected g1 czxid=10
        c1 resign g1
        c1 resigned g1 removed=12";
    assert_eq!(only(text, "unowned-release").witness, [1, 3]);
    silent(&text.replace("removed=12", "removed=10"));
}

#[test]
fn a_candidacy_that_waits_though_nobody_leads_is_no_leader() {
    let text = "
        1 c1 elect g1
        2 c1 elected g1 czxid=10
        3 c2 elect g2
        4 c1 resign g1
        5 c1 resigned g1
        6 run recovered
        20 run audit
        21 run done";
    let found = only(text, "no-leader");
    assert_eq!(found.witness, [2, 5, 6]);
    assert!(
        found.why.contains("nobody held the leadership for 14.000 s"),
        "{}",
        found.why
    );
    silent(&text.replace("20 run audit", "15 c2 elected g2 czxid=20\n 20 run audit"));
}

#[test]
fn a_candidates_znode_that_nobody_knows_is_an_orphan() {
    let text = "
        1 c1 hello session=0x1
        6 run recovered
        7 run audit
        8 c1 quiesce
        9 c1 quiesced sessions=0x1 znodes=/election/a@5
        10 run done";
    let mut record = election(text);
    for (czxid, wanted) in [(5, vec![]), (6, vec!["orphan-node"])] {
        let znodes = || vec![znode("/election/a", czxid, "0x1")];
        record.tree = Some(audited(&history(text), znodes(), znodes()));
        assert_eq!(kinds(&check(&record)), wanted);
    }
}

const TERM: &str = "
    c1 elect g1
    c1 elected g1 czxid=10 ack=12
    c1 write g1
    c1 wrote g1";

#[test]
fn a_write_without_an_acknowledgement_is_an_unacknowledged_leaders() {
    let found = only(
        &TERM.replace("c1 wrote g1", "c1 wrote g1 ack=none"),
        "unacknowledged-leader",
    );
    assert_eq!(found.witness, [3]);
    silent(TERM);
    silent(
        &TERM
            .replace("ack=12", "ack=none")
            .replace("c1 wrote g1", "c1 wrote g1 ack=12"),
    );
}

#[test]
fn an_acknowledgement_of_an_earlier_term_is_none() {
    let earlier = TERM.replace("ack=12", "ack=8");
    assert_eq!(only(&earlier, "unacknowledged-leader").witness, [1, 3]);
    silent(&earlier.replace("czxid=10", ""));
    silent(&earlier.replace("c1 wrote g1", "c1 wrote g1 ack=12"));
}

#[test]
fn a_write_that_was_refused_or_whose_outcome_is_unknown_is_no_leaders() {
    let none = TERM.replace("c1 wrote g1", "c1 wrote g1 ack=none");
    silent(&none.replace("c1 wrote", "c1 refused"));
    silent(&none.replace("c1 wrote", "c1 unknown write"));
}

#[test]
fn who_was_elected_without_one_may_have_it_by_the_time_it_writes() {
    silent(&TERM.replace("ack=12", "ack=none"));
    let untold = results(&TERM.replace("ack=12", ""));
    let reason = "no reply tells of its leader's acknowledgement";
    assert!(
        untold.reasons.iter().any(|text| text.starts_with(reason)),
        "{:?}",
        untold.reasons
    );
    assert!(!results(TERM).reasons.iter().any(|text| text.starts_with(reason)));
}

#[test]
fn an_acknowledgement_that_the_log_does_not_have_is_a_disagreement() {
    let mut record = election(&TERM.replace("ack=12", "ack=12 path=/election/a"));
    let log = |ack: &str| {
        vec![
            txn(10, "0x1", "create", "/election/a"),
            txn(12, "0x1", "create", ack),
            txn(13, "0x1", "createSession", ""),
        ]
    };
    let disagrees = |record: &Record| {
        let results = check(record);
        results
            .reasons
            .iter()
            .any(|reason| reason.starts_with("evidence disagrees: grant g1"))
    };
    record.txnlog = Some(log("/election-ack/x"));
    assert!(!disagrees(&record));
    record.txnlog = Some(log("/election-ack/y"));
    assert!(disagrees(&record));
}
