//! Each safety anomaly by one history, and silence on its nearest innocent twins.

use crate::script::{history, kinds, only, record, silent, txn};
use zooquake_checkers::check;
use zooquake_checkers::plan::Resource;

const BOTH_HOLD: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c1 confirm
    c2 confirm
    c2 holds g2
    c1 holds g1";

#[test]
fn two_confirmed_holders_are_a_double_grant() {
    let found = only(BOTH_HOLD, "double-grant");
    assert_eq!(found.witness, [1, 3, 4, 5, 6, 7]);
    assert!(!found.advisory);
    for word in ["g1 of c1", "g2 of c2", "0.005 s", "No fault was on"] {
        assert!(found.why.contains(word), "{}", found.why);
    }
}

#[test]
fn a_loss_notice_does_not_excuse_who_confirms_after_it() {
    only(
        &BOTH_HOLD.replace("c1 confirm", "c1 lost g1\nc1 confirm"),
        "double-grant",
    );
}

#[test]
fn a_confirm_answered_after_its_release_was_sent_does_not_count() {
    silent(&BOTH_HOLD.replace("c1 holds", "c1 release g1\nc1 holds"));
}

#[test]
fn a_confirm_sent_before_the_second_grant_was_read_does_not_count() {
    silent(
        &BOTH_HOLD
            .replace("c1 confirm\n", "")
            .replace("c2 granted", "c1 confirm\nc2 granted"),
    );
}

/// Its server answers reads and pings, but no quorum write.
#[test]
fn a_connected_client_on_a_cut_off_follower_confirms_nothing() {
    silent(&BOTH_HOLD.replace("c1 holds g1", "c1 unconfirmed"));
}

#[test]
fn a_client_that_says_it_holds_no_more_confirms_nothing() {
    silent(&BOTH_HOLD.replace("c1 holds g1", "c1 holds-not"));
}

#[test]
fn a_confirm_of_another_grant_does_not_count() {
    silent(&BOTH_HOLD.replace("c1 holds g1", "c1 holds g0"));
}

#[test]
fn one_client_does_not_exclude_itself() {
    silent(&BOTH_HOLD.replace("c2", "c1"));
}

/// An answer never read gives its request to the next answer, which makes the interval longer and convicts nobody.
#[test]
fn an_unanswered_confirm_makes_no_conviction_sharper() {
    let lost = "c1 confirm\n c2 acquire g2\n c2 granted";
    silent(&BOTH_HOLD.replace("c2 acquire g2", "").replace("c2 granted", lost));
}

/// A client that is granted again without a release, and stands by both grants, hides nobody else's.
#[test]
fn a_double_grant_is_found_behind_a_longer_hold_of_the_same_client() {
    let text = "
        c2 acquire g2
        c2 granted g2 czxid=10
        c3 acquire g3
        c3 granted g3 czxid=20
        c3 acquire g4
        c3 granted g4 czxid=30
        c2 confirm
        c2 holds g2
        c3 confirm
        c3 holds g4
        c3 confirm
        c3 holds g3";
    let results = check(&record(text));
    assert_eq!(kinds(&results), ["double-grant"; 2]);
    assert_eq!(results.anomalies[0].witness, [1, 3, 6, 7, 10, 11]);
    assert_eq!(results.anomalies[1].witness, [1, 5, 6, 7, 8, 9]);
}

const STILL_WRITES: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c1 write g1
    c1 wrote g1
    c2 write g2
    c2 wrote g2";

#[test]
fn a_holder_that_answers_after_the_next_grant_is_stale_and_that_is_advisory() {
    let found = only(STILL_WRITES, "stale-holder");
    assert!(found.advisory);
    assert_eq!(found.witness, [1, 3, 4, 5, 6, 7]);
    let refused = STILL_WRITES.replace("c1 wrote", "c1 refused");
    only(&refused, "stale-holder");
}

#[test]
fn a_hold_is_certain_only_to_the_sending_of_its_last_answered_request() {
    silent(
        &STILL_WRITES
            .replace("c1 write g1\n", "")
            .replace("c2 granted", "c1 write g1\n c2 granted"),
    );
    silent(&STILL_WRITES.replace("c1 wrote", "c1 not-held"));
    silent(&STILL_WRITES.replace("c1 wrote g1", "c1 unknown write g1"));
    silent(&STILL_WRITES.replace("c2 wrote g2", "c2 unknown write g2"));
}

#[test]
fn a_loss_notice_read_after_the_next_grant_extends_nothing() {
    silent(&STILL_WRITES.replace("c1 write g1\n", "").replace("c1 wrote", "c1 lost"));
}

pub const OLD_WRITE: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c1 write g1
    c2 acquire g2
    c2 granted g2 czxid=20
    c2 write g2
    c2 wrote g2
    c1 wrote g1";

#[test]
fn a_write_of_an_older_grant_after_one_of_a_newer_is_stale() {
    let found = only(OLD_WRITE, "stale-write");
    assert_eq!(found.witness, [1, 4, 6, 7]);
}

#[test]
fn a_write_of_an_older_grant_before_the_newer_ones_first_is_in_order() {
    silent(
        &OLD_WRITE
            .replace("c2 wrote g2\n", "")
            .replace("c1 wrote g1", "c1 wrote g1\n c2 wrote g2"),
    );
}

#[test]
fn a_refused_or_unknown_write_is_no_stale_write() {
    silent(&OLD_WRITE.replace("c1 wrote", "c1 refused"));
    silent(&OLD_WRITE.replace("c1 wrote", "c1 unknown write"));
}

/// It was frozen when it was granted; by the time its grant is read another has come and gone.
#[test]
fn a_grant_read_late_from_a_thawed_client_is_older_than_one_read_before() {
    let late = "
        c1 acquire g1
        c2 acquire g2
        c2 granted g2 czxid=20 token=20
        c2 write g2
        c2 wrote g2
        c1 granted g1 czxid=10 token=10
        c1 write g1
        c1 refused g1
        c1 lost g1";
    silent(late);
    only(&late.replace("c1 refused", "c1 wrote"), "stale-write");
    let asked_after = late
        .replace("c1 acquire g1\n", "")
        .replace("c1 granted", "c1 acquire g1\n c1 granted");
    let found = only(&asked_after, "fencing-regression");
    assert_eq!(found.witness, [1, 4, 5]);
}

#[test]
fn equal_tokens_are_a_regression_and_higher_ones_are_not() {
    let equal = "
        c1 acquire g1
        c1 granted g1 czxid=10 token=7
        c2 acquire g2
        c2 granted g2 czxid=20 token=7";
    only(equal, "fencing-regression");
    silent(&equal.replace("czxid=20 token=7", "czxid=20 token=8"));
    silent(&equal.replace("czxid=20 token=7", "czxid=20"));
}

#[test]
fn a_late_reply_in_the_pipe_of_a_killed_client_counts_where_it_was_read() {
    let late = "
        c1 acquire g1
        c1 granted g1 czxid=10
        c1 write g1
        c2 acquire g2
        c2 granted g2 czxid=20
        c1 wrote g1
        c1 exit
        c2 write g2
        c2 wrote g2";
    silent(late);
    let after = late
        .replace("c1 wrote g1\n", "")
        .replace("c1 exit\n", "")
        .replace("c2 wrote g2", "c2 wrote g2\n c1 wrote g1\n c1 exit");
    only(&after, "stale-write");
}

#[test]
fn without_ages_only_interleaving_convicts() {
    let writes = "
        c1 acquire g1
        c1 unknown acquire g1
        c2 acquire g2
        c2 granted g2 czxid=20
        c1 write g1
        c1 wrote g1
        c2 write g2
        c2 wrote g2";
    silent(writes);
    let again = format!("{writes}\n c1 write g1\n c1 wrote g1");
    assert_eq!(only(&again, "stale-write").witness, [5, 7, 9]);
}

#[test]
fn a_guarded_write_in_zookeeper_is_placed_by_its_zxid_and_not_by_its_reply() {
    let late = OLD_WRITE
        .replace("c2 wrote g2", "c2 wrote g2 mzxid=25")
        .replace("c1 wrote g1", "c1 wrote g1 mzxid=15");
    let mut record = record(&late);
    record.plan.workload.resource = Resource::Zookeeper;
    assert_eq!(kinds(&check(&record)), [""; 0]);
    record.history = history(&late.replace("mzxid=15", "mzxid=35"));
    assert_eq!(kinds(&check(&record)), ["stale-write"]);
}

#[test]
fn a_release_that_removes_anothers_znode_is_unowned() {
    let release = "
        c1 acquire g1
        c1 granted g1 czxid=10
        c1 release g1
        c1 released g1 removed=12";
    assert_eq!(only(release, "unowned-release").witness, [1, 3]);
    silent(&release.replace("removed=12", "removed=10"));
    silent(&release.replace("removed=12", ""));
    silent(&release.replace("czxid=10", ""));
}

#[test]
fn the_transaction_log_shows_a_release_of_anothers_znode() {
    let mut record = record(
        "
        c1 acquire g1
        c1 granted g1 czxid=10 path=/lock/one session=0x1
        c1 release g1
        c1 released g1",
    );
    let lives = |second: &str| {
        vec![
            txn(10, "0x1", "create", "/lock/one"),
            txn(11, "0x1", "closeSession", "/lock/one"),
            txn(12, second, "create", "/lock/one"),
            txn(13, "0x1", "delete", "/lock/one"),
        ]
    };
    record.txnlog = Some(lives("0x2"));
    let results = check(&record);
    assert_eq!(kinds(&results), ["unowned-release"]);
    assert_eq!(results.anomalies[0].witness, [1]);
    // Its own znode of an attempt that it never reported.
    record.txnlog = Some(lives("0x1"));
    assert_eq!(kinds(&check(&record)), [""; 0]);
    let mut multi = lives("0x2");
    multi[2].op = "multi".to_owned();
    record.txnlog = Some(multi);
    assert_eq!(kinds(&check(&record)), [""; 0]);
    // Whatever session created it, it is the znode that the grant rests on: to hold by it is another matter.
    record.txnlog = Some(lives("0x2"));
    record.history.events[1].value["czxid"] = 12.into();
    assert_eq!(kinds(&check(&record)), ["foreign-znode"]);
}
