//! What is judged after recovery: lost wake-ups and orphans, each with its innocent twins.

use crate::expect::{count, edited, explains, explains_all, found, guilty, has_reason, innocent, none, one, one_by};
use crate::script::{audited, changed, lock, standing, znode};
use zooquake_checkers::check;
use zooquake_history::Record;

const WAITS: &str = "
    1 c1 acquire g1; 2 c1 granted g1 czxid=10
    3 c2 acquire g2
    4 c1 release g1; 5 c1 released g1
    6 run recovered; 20 run audit; 21 run done";

#[test]
fn an_acquire_that_waits_though_nobody_holds_is_a_lost_wakeup() {
    let found = one_by(&lock(WAITS), "lost-wakeup", &[2, 5, 6]);
    explains_all(&found, &["14.000 s", "10.000 s", "c2", "g2"]);
}

#[test]
fn an_acquire_that_ends_by_its_timeout_after_recovery_counts_as_pending() {
    let table = "
        20 run audit => 17 c2 failed acquire g2 timeout; 20 run audit
        20 run audit => 17 c2 unknown acquire g2 timeout; 20 run audit
        20 run audit => 17 c2 unknown acquire g2 connection; 20 run audit # what the error says makes no difference";
    guilty(lock, "lost-wakeup", WAITS, table);
    let table = "
        20 run audit => 15 c2 unknown acquire g2 connection; 20 run audit
        6 run recovered => 5.1 c2 exit; 5.2 c2 unknown acquire g2; 6 run recovered # a killed client's acquire waits no more
        6 run recovered => 5.1 c2 exit; 6 run recovered
        run recovered => run not-recovered leaders-changed # without recovery nothing waits too long";
    innocent(lock, WAITS, table);
    let edits = "6 run recovered => 5 c2 failed acquire g2 timeout; 6 run recovered";
    let before = edited(WAITS, edits);
    assert_eq!(count(&none(&lock(&before)), "pending"), 0);
}

#[test]
fn the_clock_stands_still_while_somebody_holds() {
    let edits = "4 c1 release g1; 5 c1 released g1 => | 20 run => 15 c1 release g1; 20 run";
    let held = edited(WAITS, edits);
    has_reason(&none(&lock(&held)), "for only 5.000 s of the 10.000 s");
    guilty(lock, "lost-wakeup", &held, "20 run audit => 26 run audit");
}

#[test]
fn what_a_client_believed_ends_with_its_words_or_its_stream() {
    let held = edited(WAITS, "4 c1 release g1; 5 c1 released g1 =>");
    innocent(lock, &held, "20 run => 7 c2 session state=connected; 20 run");
    let table = "
        20 run => 7 c1 lost g1; 20 run
        20 run => 7 c1 write g1; 7.1 c1 not-held g1; 20 run
        20 run => 7 c1 confirm; 7.1 c1 holds-not; 20 run
        6 run => 5 c1 exit; 6 run";
    guilty(lock, "lost-wakeup", &held, table);
}

#[test]
fn a_slow_run_has_a_later_bound() {
    let slow = "
        1 c1 acquire g1; 3 c1 granted g1; 4 c1 release g1
        5 c2 acquire g2
        6 run recovered; 20 run audit";
    none(&lock(slow));
    guilty(lock, "lost-wakeup", slow, "20 run => 26 run");
}

#[test]
fn a_release_that_never_ends_is_unknown() {
    let results = found(&lock(&edited(WAITS, "5 c1 released g1 =>")), &["lost-wakeup"]);
    has_reason(&results, "the release of c1");
}

const AUDIT: &str = "
    1 c1 hello session=0x1; 1 c2 hello session=0x2
    6 run recovered; 7 run audit
    8 c1 quiesce; 8 c2 quiesce
    9 c1 quiesced sessions=0x1 znodes=/lock/a@5
    9 c2 quiesced sessions=0x2
    10 run done";

/// A znode of this session under the contenders, of one age in the first reading and of another in the second, and one
/// elsewhere.
fn tree(text: &str, first: i64, second: i64, owner: &str) -> Record {
    let mut record = lock(text);
    let znodes = |czxid| vec![znode("/lock/a", czxid, owner), znode("/other/b", 7, owner)];
    record.tree = Some(audited(&record.history, znodes(first), znodes(second)));
    record
}

#[test]
fn a_znode_that_nobody_knows_is_an_orphan() {
    let orphan = one_by(&tree(AUDIT, 6, 6, "0x1"), "orphan-node", &[4, 6]);
    explains(&orphan, "/lock/a");
    // An unknown session is judged when all have answered.
    one_by(&tree(AUDIT, 6, 6, "0x9"), "orphan-node", &[2, 4, 5, 6, 7]);
}

#[test]
fn a_znode_that_is_named_or_goes_or_comes_is_none() {
    none(&tree(AUDIT, 5, 5, "0x1"));
    none(&tree(AUDIT, 6, 7, "0x1"));
    let orphan = tree(AUDIT, 6, 6, "0x1");
    none(&changed(orphan.clone(), |gone| {
        gone.tree.as_mut().expect("a tree").readings[1].znodes.clear()
    }));
    // A quiesce that is not between the readings proves nothing.
    none(&changed(orphan, |late| {
        late.tree.as_mut().expect("a tree").readings[1].index = 6
    }));
}

#[test]
fn the_sessions_of_a_silent_client_are_not_judged() {
    let silent = edited(AUDIT, "9 c1 quiesced sessions=0x1 znodes=/lock/a@5 =>");
    has_reason(&none(&tree(&silent, 6, 6, "0x1")), "c1 answered no quiesce");
    none(&tree(&silent, 6, 6, "0x9"));
    one(&tree(&silent, 6, 6, "0x2"), "orphan-node");
}

#[test]
fn an_earlier_session_is_judged_only_after_recovery() {
    let earlier = edited(AUDIT, "sessions=0x1 => sessions=0x3");
    one(&tree(&earlier, 6, 6, "0x1"), "orphan-node");
    let table = "
        recovered => not-recovered
        7 run => 6.5 c1 exit; 6.6 c1 hello session=0x3; 7 run # it died";
    innocent(|text| tree(text, 6, 6, "0x1"), &earlier, table);
}

/// Two clients whose grants are programs' wait at the end, and cannot name by which znodes.
const PROGRAMS: &str = "
    0.1 c1 hello session=0x1 cannot=czxid,session; 0.2 c2 hello session=0x2 cannot=czxid,session
    1 c1 acquire g1; 2 c2 acquire g2
    5 run recovered; 7 run audit
    8 c1 quiesce; 8.1 c2 quiesce; 9 c1 quiesced sessions=0x1; 9.1 c2 quiesced sessions=0x2; 10 run done";

/// Orphans by their paths, with so many znodes of sessions that nobody named.
fn orphans(text: &str, znodes: usize) -> Vec<String> {
    let names = (0..znodes).map(|at| znode(&format!("/lock/{at}"), 6 + at as i64, &format!("0x{:x}", 9 + at)));
    let record = standing(lock(text), names.collect());
    let anomalies = check(&record).anomalies.into_iter();
    let orphans = anomalies.filter(|anomaly| anomaly.kind == "orphan-node");
    let path = |why: &str| why.split(' ').nth(2).expect("a path").to_owned();
    let mut paths: Vec<String> = orphans.map(|anomaly| path(&anomaly.why)).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn znodes_by_which_programs_may_wait_are_no_orphans() {
    assert_eq!(orphans(PROGRAMS, 2), [""; 0]);
    assert_eq!(
        orphans(PROGRAMS, 4),
        ["/lock/0", "/lock/1"],
        "as many as wait, the latest"
    );
    // Each of these leaves one client that may have made a znode.
    for one in [
        "2 c2 acquire g2 => 2 c2 acquire g2; 2.5 c2 failed acquire g2 timeout # its session is over",
        "2 c2 acquire g2 => 2 c2 acquire g2; 3 c2 granted g2; 4 c2 release g2; 4.5 c2 released g2",
        "2 c2 acquire g2 =>",
        "0.2 c2 hello session=0x2 cannot=czxid,session => 0.2 c2 hello session=0x2 cannot=czxid",
        "2 c2 acquire g2 => | 8 c1 quiesce => 7.5 c2 acquire g2; 8 c1 quiesce # after the first reading",
    ] {
        assert_eq!(orphans(&edited(PROGRAMS, one), 2), ["/lock/0"], "{one}");
    }
    // A program that holds, and one whose session may live on, have a znode, too.
    for two in [
        "2 c2 acquire g2 => 2 c2 acquire g2; 3 c2 granted g2",
        "2 c2 acquire g2 => 2 c2 acquire g2; 6.9 c2 unknown acquire g2 timeout",
    ] {
        assert_eq!(orphans(&edited(PROGRAMS, two), 2), [""; 0], "{two}");
    }
    // What was there before anybody asked is nobody's.
    let before = "1 c1 acquire g1 => 0.3 c1 confirm; 0.4 c1 holds-not zxid=6; 1 c1 acquire g1";
    assert_eq!(orphans(&edited(PROGRAMS, before), 2), ["/lock/0"]);
}
