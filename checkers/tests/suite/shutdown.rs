//! What is judged after recovery: lost wake-ups and orphans, each with its innocent twins.

use crate::script::{audited, history, kinds, only, record, silent, znode};
use zooquake_checkers::{Record, check};

const WAITS: &str = "
    1 c1 acquire g1
    2 c1 granted g1 czxid=10
    3 c2 acquire g2
    4 c1 release g1
    5 c1 released g1
    6 run recovered
    20 run audit
    21 run done";

#[test]
fn an_acquire_that_waits_though_nobody_holds_is_a_lost_wakeup() {
    let found = only(WAITS, "lost-wakeup");
    assert_eq!(found.witness, [2, 5, 6]);
    for word in ["14.000 s", "10.000 s", "c2", "g2"] {
        assert!(found.why.contains(word), "{}", found.why);
    }
}

#[test]
fn an_acquire_that_ends_by_its_timeout_after_recovery_counts_as_pending() {
    only(
        &WAITS.replace("20 run audit", "17 c2 failed acquire g2 timeout\n 20 run audit"),
        "lost-wakeup",
    );
    only(
        &WAITS.replace("20 run audit", "17 c2 unknown acquire g2 timeout\n 20 run audit"),
        "lost-wakeup",
    );
    // What the error says makes no difference.
    only(
        &WAITS.replace("20 run audit", "17 c2 unknown acquire g2 connection\n 20 run audit"),
        "lost-wakeup",
    );
    silent(&WAITS.replace("20 run audit", "15 c2 unknown acquire g2 connection\n 20 run audit"));
    let before = WAITS.replace("6 run recovered", "5 c2 failed acquire g2 timeout\n 6 run recovered");
    let results = check(&record(&before));
    assert_eq!(kinds(&results), [""; 0]);
    assert!(
        !results.reasons.iter().any(|reason| reason.contains("pending")),
        "{:?}",
        results.reasons
    );
}

#[test]
fn the_clock_stands_still_while_somebody_holds() {
    let held = WAITS
        .replace("4 c1 release g1\n    5 c1 released g1\n", "")
        .replace("20 run", "15 c1 release g1\n 20 run");
    let results = check(&record(&held));
    assert_eq!(kinds(&results), [""; 0]);
    assert!(
        results
            .reasons
            .iter()
            .any(|reason| reason.contains("for only 5.000 s of the 10.000 s")),
        "{:?}",
        results.reasons
    );
    only(&held.replace("20 run audit", "26 run audit"), "lost-wakeup");
}

#[test]
fn what_a_client_believed_ends_with_its_words_or_its_stream() {
    let held = WAITS
        .replace("4 c1 release g1\n    5 c1 released g1\n", "")
        .replace("20 run", "WORDS\n 20 run");
    silent(&held.replace("WORDS", "7 c2 session state=connected"));
    only(&held.replace("WORDS", "7 c1 lost g1"), "lost-wakeup");
    only(
        &held.replace("WORDS", "7 c1 write g1\n 7.1 c1 not-held g1"),
        "lost-wakeup",
    );
    only(&held.replace("WORDS", "7 c1 confirm\n 7.1 c1 holds-not"), "lost-wakeup");
    only(
        &held.replace("6 run", "5 c1 exit\n 6 run").replace("WORDS", ""),
        "lost-wakeup",
    );
}

#[test]
fn a_killed_clients_acquire_waits_no_more() {
    silent(&WAITS.replace(
        "6 run recovered",
        "5.1 c2 exit\n 5.2 c2 unknown acquire g2\n 6 run recovered",
    ));
    silent(&WAITS.replace("6 run recovered", "5.1 c2 exit\n 6 run recovered"));
}

#[test]
fn a_slow_run_has_a_later_bound() {
    let slow = "
        1 c1 acquire g1
        3 c1 granted g1
        4 c1 release g1
        5 c2 acquire g2
        6 run recovered
        20 run audit";
    silent(slow);
    only(&slow.replace("20 run", "26 run"), "lost-wakeup");
}

#[test]
fn without_recovery_nothing_waits_too_long() {
    silent(&WAITS.replace("run recovered", "run not-recovered leaders-changed"));
}

#[test]
fn a_release_that_never_ends_is_unknown() {
    let results = check(&record(&WAITS.replace("5 c1 released g1\n", "")));
    assert_eq!(kinds(&results), ["lost-wakeup"]);
    assert!(
        results
            .reasons
            .iter()
            .any(|reason| reason.contains("the release of c1")),
        "{:?}",
        results.reasons
    );
}

const AUDIT: &str = "
    1 c1 hello session=0x1
    1 c2 hello session=0x2
    6 run recovered
    7 run audit
    8 c1 quiesce
    8 c2 quiesce
    9 c1 quiesced sessions=0x1 znodes=/lock/a@5
    9 c2 quiesced sessions=0x2
    10 run done";

fn tree(text: &str, first: i64, second: i64, owner: &str) -> Record {
    let mut record = record(text);
    let znodes = |czxid| vec![znode("/lock/a", czxid, owner), znode("/other/b", 7, owner)];
    record.tree = Some(audited(&history(text), znodes(first), znodes(second)));
    record
}

#[test]
fn a_znode_that_nobody_knows_is_an_orphan() {
    let results = check(&tree(AUDIT, 6, 6, "0x1"));
    assert_eq!(kinds(&results), ["orphan-node"]);
    assert_eq!(results.anomalies[0].witness, [4, 6]);
    assert!(results.anomalies[0].why.contains("/lock/a"));
}

#[test]
fn a_znode_that_is_named_or_goes_or_comes_is_none() {
    assert_eq!(kinds(&check(&tree(AUDIT, 5, 5, "0x1"))), [""; 0]);
    assert_eq!(kinds(&check(&tree(AUDIT, 6, 7, "0x1"))), [""; 0]);
    let mut gone = tree(AUDIT, 6, 6, "0x1");
    gone.tree.as_mut().expect("a tree").readings[1].znodes.clear();
    assert_eq!(kinds(&check(&gone)), [""; 0]);
}

#[test]
fn the_sessions_of_a_silent_client_are_not_judged() {
    let silent = AUDIT.replace("9 c1 quiesced sessions=0x1 znodes=/lock/a@5\n", "");
    let results = check(&tree(&silent, 6, 6, "0x1"));
    assert_eq!(kinds(&results), [""; 0]);
    assert!(
        results
            .reasons
            .iter()
            .any(|reason| reason.starts_with("c1 answered no quiesce")),
        "{:?}",
        results.reasons
    );
    assert_eq!(kinds(&check(&tree(&silent, 6, 6, "0x9"))), [""; 0]);
    assert_eq!(kinds(&check(&tree(&silent, 6, 6, "0x2"))), ["orphan-node"]);
}

#[test]
fn an_unknown_session_is_judged_when_all_have_answered() {
    let results = check(&tree(AUDIT, 6, 6, "0x9"));
    assert_eq!(kinds(&results), ["orphan-node"]);
    assert_eq!(results.anomalies[0].witness, [2, 4, 5, 6, 7]);
}

#[test]
fn an_earlier_session_is_judged_only_after_recovery() {
    let earlier = AUDIT.replace("sessions=0x1 ", "sessions=0x3 ");
    assert_eq!(kinds(&check(&tree(&earlier, 6, 6, "0x1"))), ["orphan-node"]);
    let not = earlier.replace("recovered", "not-recovered");
    assert_eq!(kinds(&check(&tree(&not, 6, 6, "0x1"))), [""; 0]);
    let died = earlier.replace("7 run", "6.5 c1 exit\n 6.6 c1 hello session=0x3\n 7 run");
    assert_eq!(kinds(&check(&tree(&died, 6, 6, "0x1"))), [""; 0]);
}

#[test]
fn a_quiesce_that_is_not_between_the_readings_tells_nothing() {
    let mut late = tree(AUDIT, 6, 6, "0x1");
    late.tree.as_mut().expect("a tree").readings[1].index = 6;
    assert_eq!(kinds(&check(&late)), [""; 0]);
}
