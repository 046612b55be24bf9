//! Each safety anomaly by one history, and silence on its nearest innocent twins.

use crate::expect::{edited, explains_all, found, guilty, has_reason, innocent, minimal, none, one, one_by, twins};
use crate::script::{changed, lock, logged, txn};
use zooquake_checkers::Verdict;
use zooquake_history::plan::Resource;

const BOTH_HOLD: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm; c2 confirm
    c2 holds g2; c1 holds g1";

#[test]
fn two_confirmed_holders_are_a_double_grant() {
    let found = one_by(&lock(BOTH_HOLD), "double-grant", &[1, 3, 4, 5, 6, 7]);
    assert!(!found.advisory);
    explains_all(&found, &["g1 of c1", "g2 of c2", "0.005 s", "No fault was on"]);
    let table = "
        c1 holds => c1 release g1; c1 holds # both held when the first confirm was sent
        c1 holds => c1 release g1; c1 released g1; c1 holds # its answer may be written late
        c2 holds => c2 release g2; c1 release g1; c2 holds
        c2 confirm => c1 release g1; c2 confirm # it need not come before the other's release
        c2 confirm => c1 exit; c2 confirm | c1 holds g1 => | c1 confirm => c1 confirm; c1 holds g1 # nor before the other's death
        c1 holds g1 => c1 holds g1; c1 lost g1; c1 confirm; c1 holds g1 # what was confirmed before the denial stands";
    guilty(lock, "double-grant", BOTH_HOLD, table);
    let table = "
        c1 confirm => c1 release g1; c1 confirm # sent after its own release it does not count
        c1 confirm => c1 confirm; c1 release g1; c1 confirm # nor one that may be the answer to such a one
        c1 holds g1 => c1 released g1; c1 holds g1 # which may be so of a release whose request is missing
        c1 holds g1 => c1 failed release g1; c1 holds g1
        c1 confirm => | c2 granted => c1 confirm; c2 granted # sent before the second grant was read it does not count
        c1 holds g1 => c1 unconfirmed # connected to a cut-off follower, which answers reads and pings, but no quorum write
        c1 holds g1 => c1 holds-not # a client that says it holds no more confirms nothing
        c1 holds g1 => c1 holds g0 # a confirm of another grant does not count
        c2 => c1 # one client does not exclude itself
        c2 acquire g2 => | c2 granted => c1 confirm; c2 acquire g2; c2 granted # an answer never read makes the interval longer";
    innocent(lock, BOTH_HOLD, table);
}

/// Belief in a grant ends once: who takes it up again contradicts itself.
#[test]
fn who_holds_again_after_a_denial_convicts_nobody_and_is_a_reason() {
    let rows = "
        c1 holds => c1 lost g1; c1 holds # a loss notice read before the answer
        c1 confirm => c1 lost g1; c1 confirm
        c1 granted => c1 lost g1; c1 granted # it was lost before its reply was written
        c1 holds => c1 write g1; c1 not-held g1; c1 holds
        c1 holds => c1 release g1; c1 failed release g1 not-held; c1 holds
        c1 holds => c1 holds-not; c1 confirm; c1 holds
        c1 confirm => c1 exit; c1 confirm # its next process cannot believe in what the last one was given";
    twins(BOTH_HOLD, rows, |twin, row| {
        let results = none(&lock(twin));
        has_reason(&results, "reports grant g1 as held, though");
        assert_eq!(results.verdict, Verdict::Unknown, "{row}");
    });
    // A denial of another grant, of another client, or in the answer to an older question is none.
    let table = "
        c1 holds => c1 lost g2; c1 holds
        c1 holds => c2 lost g1; c1 holds
        c1 acquire => c1 confirm; c1 acquire | c1 confirm; c2 confirm => c1 holds-not; c1 confirm; c2 confirm
        c1 acquire g1 => c1 acquire g0; c1 granted g0; c1 release g0; c1 failed release g0 not-held; c1 acquire g1
        c1 holds => c3 exit; c1 holds";
    guilty(lock, "double-grant", BOTH_HOLD, table);
}

#[test]
fn who_holds_by_no_grant_of_its_own_is_a_reason() {
    let has_reason = |edits: &str, words: &str| has_reason(&none(&lock(&edited(BOTH_HOLD, edits))), words);
    has_reason("c1 holds g1 => c1 holds g2", "a hold by grant g2, which is one of c2");
    has_reason("c1 holds g1 => c1 answer confirm holds=true", "names no grant");
}

/// A client that is granted again without a release, and stands by both grants, hides nobody else's.
#[test]
fn a_double_grant_is_found_behind_a_longer_hold_of_the_same_client() {
    let text = "
        c2 acquire g2; c2 granted g2 czxid=10
        c3 acquire g3; c3 granted g3 czxid=20
        c3 acquire g4; c3 granted g4 czxid=30
        c2 confirm; c2 holds g2
        c3 confirm; c3 holds g4
        c3 confirm; c3 holds g3";
    let results = found(&lock(text), &["double-grant"; 2]);
    assert_eq!(results.anomalies[0].witness, [1, 3, 6, 7, 10, 11]);
    assert_eq!(results.anomalies[1].witness, [1, 5, 6, 7, 8, 9]);
}

const STILL_WRITES: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 write g1; c1 wrote g1
    c2 write g2; c2 wrote g2";

#[test]
fn a_holder_that_answers_after_the_next_grant_is_stale_and_that_is_advisory() {
    assert!(one_by(&lock(STILL_WRITES), "stale-holder", &[1, 3, 4, 5, 6, 7]).advisory);
    guilty(lock, "stale-holder", STILL_WRITES, "c1 wrote => c1 refused");
    // A hold is certain only to the sending of its last answered request.
    let table = "
        c1 write g1 => | c2 granted => c1 write g1; c2 granted
        c1 wrote => c1 not-held
        c1 wrote g1 => c1 unknown write g1
        c2 wrote g2 => c2 unknown write g2
        c1 write g1 => | c1 wrote => c1 lost # a loss notice read after the next grant extends nothing";
    innocent(lock, STILL_WRITES, table);
}

pub const OLD_WRITE: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c1 write g1
    c2 acquire g2
    c2 granted g2 czxid=20
    c2 write g2; c2 wrote g2
    c1 wrote g1";

#[test]
fn a_write_of_an_older_grant_after_one_of_a_newer_is_stale() {
    one_by(&lock(OLD_WRITE), "stale-write", &[1, 4, 6, 7]);
    let table = "
        c2 wrote g2 => | c1 wrote g1 => c1 wrote g1; c2 wrote g2 # before the newer one's first it is in order
        c1 wrote => c1 refused
        c1 wrote => c1 unknown write";
    innocent(lock, OLD_WRITE, table);
}

/// It was frozen when it was granted; by the time its grant is read another has come and gone.
#[test]
fn a_grant_read_late_from_a_thawed_client_is_older_than_one_read_before() {
    let late = "
        c1 acquire g1
        c2 acquire g2; c2 granted g2 czxid=20 token=20
        c2 write g2; c2 wrote g2
        c1 granted g1 czxid=10 token=10
        c1 write g1; c1 refused g1
        c1 lost g1";
    none(&lock(late));
    guilty(lock, "stale-write", late, "c1 refused => c1 wrote");
    let asked_after = edited(late, "c1 acquire g1 => | c1 granted => c1 acquire g1; c1 granted");
    one_by(&lock(&asked_after), "fencing-regression", &[1, 4, 5]);
}

#[test]
fn equal_tokens_are_a_regression_and_higher_ones_are_not() {
    let equal = "
        c1 acquire g1; c1 granted g1 czxid=10 token=7
        c2 acquire g2; c2 granted g2 czxid=20 token=7";
    one(&lock(equal), "fencing-regression");
    let table = "czxid=20 token=7 => czxid=20 token=8\n czxid=20 token=7 => czxid=20";
    innocent(lock, equal, table);
}

#[test]
fn a_late_reply_in_the_pipe_of_a_killed_client_counts_where_it_was_read() {
    let late = "
        c1 acquire g1; c1 granted g1 czxid=10
        c1 write g1
        c2 acquire g2; c2 granted g2 czxid=20
        c1 wrote g1; c1 exit
        c2 write g2; c2 wrote g2";
    none(&lock(late));
    let table = "c1 wrote g1; c1 exit => | c2 wrote g2 => c2 wrote g2; c1 wrote g1; c1 exit";
    guilty(lock, "stale-write", late, table);
}

#[test]
fn without_ages_only_interleaving_convicts() {
    let writes = "
        c1 acquire g1; c1 unknown acquire g1
        c2 acquire g2; c2 granted g2 czxid=20
        c1 write g1; c1 wrote g1
        c2 write g2; c2 wrote g2";
    none(&lock(writes));
    let again = format!("{writes}; c1 write g1; c1 wrote g1");
    one_by(&lock(&again), "stale-write", &[5, 7, 9]);
}

#[test]
fn a_guarded_write_in_zookeeper_is_placed_by_its_zxid_and_not_by_its_reply() {
    let edits = "c2 wrote g2 => c2 wrote g2 mzxid=25 | c1 wrote g1 => c1 wrote g1 mzxid=15";
    let late = edited(OLD_WRITE, edits);
    let inside = |text: &str| changed(lock(text), |record| record.plan.workload.resource = Resource::Zookeeper);
    none(&inside(&late));
    one(&inside(&late.replace("mzxid=15", "mzxid=35")), "stale-write");
}

#[test]
fn a_release_that_removes_anothers_znode_is_unowned() {
    let release = "
        c1 acquire g1; c1 granted g1 czxid=10
        c1 release g1; c1 released g1 removed=12";
    one_by(&lock(release), "unowned-release", &[1, 3]);
    innocent(lock, release, "removed=12 => removed=10\n removed=12 =>\n czxid=10 =>");
}

#[test]
fn the_transaction_log_shows_a_release_of_anothers_znode() {
    let record = lock(
        "c1 acquire g1; c1 granted g1 czxid=10 path=/lock/one session=0x1
         c1 release g1; c1 released g1",
    );
    let lives = |second: &str| {
        vec![
            txn(10, "0x1", "create", "/lock/one"),
            txn(11, "0x1", "closeSession", "/lock/one"),
            txn(12, second, "create", "/lock/one"),
            txn(13, "0x1", "delete", "/lock/one"),
        ]
    };
    let mut record = logged(record, lives("0x2"));
    one_by(&record, "unowned-release", &[1]);
    // Its own znode of an attempt that it never reported.
    record.txnlog = Some(lives("0x1"));
    none(&record);
    record.txnlog = Some(changed(lives("0x2"), |lives| lives[2].op = "multi".to_owned()));
    none(&record);
    // Whatever session created it, it is the znode that the grant rests on: to hold by it is another matter.
    record.txnlog = Some(lives("0x2"));
    record.history.events[1].value["czxid"] = 12.into();
    one(&record, "foreign-znode");
}

/// c2 is let in while c1 holds, and has given its grant back before anybody could ask it to confirm.
const SHORT: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm
    c2 release g2; c2 released g2
    c1 holds g1";

#[test]
fn one_confirm_convicts_a_grant_that_was_asked_for_and_given_under_it() {
    let found = one_by(&lock(SHORT), "double-grant", &[1, 2, 3, 4, 7]);
    minimal(&lock(SHORT), &found);
    explains_all(
        &found,
        &[
            "c2 was asked at 0.003 s to take the lock",
            "g2 of c2",
            "c2 was let in meanwhile",
            "No fault",
        ],
    );
    let table = "
        c2 release g2; c2 released g2 => # whatever the second one does later
        c2 release g2; c2 released g2 => c2 exit
        c1 holds => c1 release g1; c1 holds # the confirm was sent before
        c1 holds g1 => c1 holds g1; c1 lost g1";
    guilty(lock, "double-grant", SHORT, table);
    let table = "
        c2 acquire g2 => | c1 granted => c2 acquire g2; c1 granted # it may have been given before, and taken back
        c1 confirm => | c2 granted => c1 confirm; c2 granted # the first hold may have ended before the second began
        c1 confirm => c1 release g1; c1 confirm
        c1 confirm => c1 lost g1; c1 confirm
        c1 confirm => c1 exit; c1 confirm
        c1 holds => c1 holds-not
        c1 holds g1 => c1 unconfirmed
        c1 holds g1 => c1 holds g0
        c2 acquire g2; => # when it was asked for is not known
        c2 acquire g2 => c2 acquire g0; c2 acquire g2 # it may be the answer to the other request
        c2 => c1";
    innocent(lock, SHORT, table);
    // What both confirm is proven by both.
    one_by(
        &lock(&edited(
            SHORT,
            "c2 release g2; c2 released g2 => c2 confirm; c2 holds g2",
        )),
        "double-grant",
        &[1, 3, 4, 5, 6, 7],
    );
}
