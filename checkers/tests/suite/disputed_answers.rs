//! An anomaly rests on no answer that may not have been given, or not to the request that it names; beside each the
//! twin in which the same happens elsewhere and hides nothing.

use crate::commit::commit;
use crate::expect::{edited, guilty, innocent, one, proven};
use crate::queue::fifo;
use crate::register::quorum;
use crate::script::lock;
use zooquake_checkers::{Verdict, check};

const BOTH_HOLD: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm; c1 holds g1
    c2 confirm; c2 holds g2";

/// What happens to a third client.
const ELSEWHERE: [&str; 6] = [
    "c3 acquire g3; c3 acquire g4; c3 failed acquire g4",
    "c3 acquire g3; c3 failed acquire g3; c3 granted g3 czxid=30",
    "c3 acquire g3; c3 released g3",
    "c3 granted g3 czxid=30",
    "c3 holds g3",
    "c3 acquire g3; c3 granted g3 czxid=30; c3 granted g3 czxid=30",
];

#[test]
fn a_double_grant_rests_on_no_disputed_answer() {
    one(&lock(BOTH_HOLD), "double-grant");
    let table = "
        c2 granted g2 czxid=20 => c2 granted g2 czxid=20; c2 granted g2 czxid=20
        c2 granted g2 czxid=20 => c2 failed acquire g2; c2 granted g2 czxid=20
        c2 acquire g2 => c2 write g0
        c1 holds g1 => c1 holds g1; c1 holds g1 # it may be that to a request sent before the other grant was read
        c2 holds g2 => c2 holds g2; c1 released g1 # a confirm that may have been sent after the release does not count";
    innocent(lock, BOTH_HOLD, table);
    for elsewhere in ELSEWHERE {
        one(&lock(&format!("{elsewhere}; {BOTH_HOLD}")), "double-grant");
        one(&lock(&format!("{BOTH_HOLD}; {elsewhere}")), "double-grant");
    }
    let table = "
        c2 acquire g2 => c2 acquire g0; c2 acquire g2 # an answer that names its grant counts, whichever request it is to
        c2 acquire g2 => # what is read of an acquire whose request is missing counts";
    guilty(lock, "double-grant", BOTH_HOLD, table);
}

const TWICE: &str = "
    c1 invoke enqueue item=7; c1 ok enqueue item=7
    c2 invoke dequeue; c2 ok dequeue item=7
    c3 invoke dequeue; c3 ok dequeue item=7";

#[test]
fn a_second_delivery_is_no_disputed_answer() {
    proven(&fifo(TWICE), "duplicate-delivery");
    let table = "
        c3 ok dequeue item=7 => c3 ok dequeue item=7; c3 ok dequeue item=7
        c3 invoke dequeue => c3 invoke enqueue item=8
        c3 invoke dequeue; c3 ok => c2 invoke enqueue item=8; c2 ok enqueue item=8; c2 ok # read again after another operation";
    innocent(fifo, TWICE, table);
    for elsewhere in [
        "c1 invoke enqueue item=8; c1 ok enqueue item=8; c1 fail enqueue item=8",
        "c1 invoke enqueue item=8; c1 ok dequeue item=8",
        "c1 invoke dequeue; c1 invoke dequeue",
    ] {
        one(&fifo(&format!("{TWICE}; {elsewhere}")), "duplicate-delivery");
    }
}

const LOST: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c2 invoke write value=9; c2 ok write value=9
    run final
    c3 ask confirm; c3 answer confirm
    c3 invoke dequeue; c3 ok dequeue item=null
    run drained";

const PASSED: &str = "
    c1 invoke enqueue item=3; c1 ok enqueue item=3
    c1 invoke enqueue item=4; c1 ok enqueue item=4
    c2 invoke dequeue; c2 ok dequeue item=4
    c2 invoke dequeue; c2 ok dequeue item=3";

/// What was given while an enqueue was open may have been its failure.
#[test]
fn an_order_rests_on_no_enqueue_that_may_have_failed() {
    proven(&fifo(PASSED), "reordered");
    innocent(fifo, PASSED, "c1 ok enqueue item=4 => c1 fail dequeue");
    let record = fifo(&format!("{PASSED}; c3 invoke enqueue item=5; c3 fail dequeue"));
    proven(&record, "reordered");
}

#[test]
fn an_item_that_a_disputed_answer_names_is_not_lost() {
    proven(&fifo(LOST), "lost-item");
    let table = "
        c2 ok write value=9 => c2 ok dequeue item=1
        c3 ok dequeue item=null => c3 ok dequeue item=null; c3 ok dequeue item=null # the proof that it was empty is disputed
        c3 answer confirm => c3 answer confirm; c3 answer confirm";
    innocent(fifo, LOST, table);
    guilty(fifo, "lost-item", LOST, "c2 ok write value=9 => c2 ok dequeue item=2");
}

const SPLIT: &str = "
    c1 begin t1 sites=c2,c3; c1 begun t1
    c2 vote t1 yes; c2 voted t1 yes
    c3 vote t1 yes; c3 voted t1 yes
    c2 asks t1; c2 decided t1 commit
    c3 asks t1; c3 decided t1 abort";

#[test]
fn a_split_rests_on_no_disputed_report() {
    one(&commit(SPLIT), "split-decision");
    let table = "
        c3 decided t1 abort => c3 decided t1 abort; c3 decided t1 abort
        c3 asks t1 => c3 vote t1 yes";
    innocent(commit, SPLIT, table);
    // Another site reports the same.
    let again = "c3 decided t1 abort => c3 decided t1 abort; c3 decided t1 abort";
    let third = edited(SPLIT, &format!("sites=c2,c3 => sites=c2,c3,c4 | {again}"));
    let third = format!("{third}; c4 vote t1 yes; c4 voted t1 yes; c4 asks t1; c4 decided t1 abort");
    one(&commit(&third), "split-decision");
    for elsewhere in ["c1 begun t1", "c1 asks t2; c1 asks t3", "c1 asks t2; c1 begun t2"] {
        one(&commit(&format!("{SPLIT}; {elsewhere}")), "split-decision");
    }
}

/// A no that the answer to another request may be.
#[test]
fn what_is_not_known_of_a_transaction_may_be_what_a_disputed_answer_says() {
    let unasked = "c3 decided t1 abort => c3 decided t1 commit | c3 vote t1 yes => | c3 voted t1 yes =>";
    let unasked = edited(SPLIT, unasked);
    one(&commit(&unasked), "commit-without-votes");
    let table = "
        c2 asks t1 => c3 decide t1; c3 voted t1 yes; c2 asks t1
        c2 asks t1 => c3 vote t1 yes; c3 vote t2 no; c3 voted t2 no; c2 asks t1 # of two asked for at once each may be answered";
    innocent(commit, &unasked, table);
}

const STALE: &str = "
    c1 invoke write value=1; c1 ok write value=1
    c2 invoke write value=2; c2 ok write value=2
    c3 invoke read; c3 ok read value=1";

#[test]
fn a_register_is_judged_by_no_disputed_answer() {
    proven(&quorum(STALE), "not-linearizable");
    let table = "
        c3 ok read value=1 => c3 ok read value=1; c3 ok read value=1
        c3 invoke read => c3 invoke write value=3
        c2 ok write value=2 => c2 ok write value=2; c2 fail write value=2 # it may never have been acknowledged
        c1 ok => c3 invoke read; c1 ok # each of two requests sent at once may have been the one that was answered";
    innocent(quorum, STALE, table);
    for elsewhere in [
        "c4 invoke read; c4 ok read value=2; c4 ok read value=2",
        "c4 invoke read; c4 invoke read",
    ] {
        let results = check(&quorum(&format!("{STALE}; {elsewhere}")));
        assert_eq!(results.verdict, Verdict::Invalid, "{results:#?}");
    }
}
