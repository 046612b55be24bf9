//! An anomaly rests on no answer that may not have been given, or not to what it says; beside each the twin in which the same
//! happens elsewhere and hides nothing.

use crate::commit::script;
use crate::queue::told;
use crate::script::{only, silent};
use zooquake_checkers::{Verdict, check};

const BOTH_HOLD: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c1 confirm
    c1 holds g1
    c2 confirm
    c2 holds g2";

/// What happens to a third client.
const ELSEWHERE: [&str; 6] = [
    "c3 acquire g3\n c3 acquire g4\n c3 failed acquire g4",
    "c3 acquire g3\n c3 failed acquire g3\n c3 granted g3 czxid=30",
    "c3 acquire g3\n c3 released g3",
    "c3 granted g3 czxid=30",
    "c3 holds g3",
    "c3 acquire g3\n c3 granted g3 czxid=30\n c3 granted g3 czxid=30",
];

#[test]
fn a_double_grant_rests_on_no_disputed_answer() {
    only(BOTH_HOLD, "double-grant");
    for (pairs, does_not) in [
        (
            "c2 granted g2 czxid=20",
            "c2 granted g2 czxid=20\n c2 granted g2 czxid=20",
        ),
        (
            "c2 granted g2 czxid=20",
            "c2 failed acquire g2\n c2 granted g2 czxid=20",
        ),
        ("c2 acquire g2", "c2 write g0"),
        // Its answer may be that to a request that was sent before the other grant was read.
        ("c1 holds g1", "c1 holds g1\n c1 holds g1"),
    ] {
        silent(&BOTH_HOLD.replace(pairs, does_not));
    }
    for elsewhere in ELSEWHERE {
        only(&format!("{elsewhere}\n{BOTH_HOLD}"), "double-grant");
        only(&format!("{BOTH_HOLD}\n{elsewhere}"), "double-grant");
    }
    // An answer that names its grant counts, whichever of two requests it is to.
    only(
        &BOTH_HOLD.replace("c2 acquire g2", "c2 acquire g0\n c2 acquire g2"),
        "double-grant",
    );
    // A confirm that may have been sent after the release does not.
    silent(&format!("{BOTH_HOLD}\n c1 released g1"));
    // What is read of an acquire whose request is missing does.
    only(&BOTH_HOLD.replace("    c2 acquire g2\n", ""), "double-grant");
}

const TWICE: &str = "
    c1 invoke enqueue item=7
    c1 ok enqueue item=7
    c2 invoke dequeue
    c2 ok dequeue item=7
    c3 invoke dequeue
    c3 ok dequeue item=7";

#[test]
fn a_second_delivery_is_no_disputed_answer() {
    told::only("fifo", TWICE, "duplicate-delivery");
    let last = "c3 ok dequeue item=7";
    told::silent("fifo", &TWICE.replace(last, &format!("{last}\n {last}")));
    told::silent("fifo", &TWICE.replace("c3 invoke dequeue", "c3 invoke enqueue item=8"));
    // Read again after another operation.
    let again = "c2 invoke enqueue item=8\n c2 ok enqueue item=8\n c2 ok dequeue item=7";
    let once = TWICE.replace("c3 invoke dequeue", "").replace(last, again);
    told::silent("fifo", &once);
    for elsewhere in [
        "c1 invoke enqueue item=8\n c1 ok enqueue item=8\n c1 fail enqueue item=8",
        "c1 invoke enqueue item=8\n c1 ok dequeue item=8",
        "c1 invoke dequeue\n c1 invoke dequeue",
    ] {
        let text = format!("{TWICE}\n {elsewhere}");
        assert_eq!(told::kinds_of("fifo", &text), ["duplicate-delivery"], "{text}");
    }
}

const LOST: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1
    c2 invoke write value=9
    c2 ok write value=9
    run final
    c3 ask confirm
    c3 answer confirm
    c3 invoke dequeue
    c3 ok dequeue item=null
    run drained";

const PASSED: &str = "
    c1 invoke enqueue item=3
    c1 ok enqueue item=3
    c1 invoke enqueue item=4
    c1 ok enqueue item=4
    c2 invoke dequeue
    c2 ok dequeue item=4
    c2 invoke dequeue
    c2 ok dequeue item=3";

/// What was given while an enqueue was open may have been its failure.
#[test]
fn an_order_rests_on_no_enqueue_that_may_have_failed() {
    told::only("fifo", PASSED, "reordered");
    told::silent("fifo", &PASSED.replace("c1 ok enqueue item=4", "c1 fail dequeue"));
    let elsewhere = "c3 invoke enqueue item=5\n c3 fail dequeue";
    told::only("fifo", &format!("{PASSED}\n {elsewhere}"), "reordered");
}

#[test]
fn an_item_that_a_disputed_answer_names_is_not_lost() {
    told::only("fifo", LOST, "lost-item");
    told::silent("fifo", &LOST.replace("c2 ok write value=9", "c2 ok dequeue item=1"));
    let other = LOST.replace("c2 ok write value=9", "c2 ok dequeue item=2");
    assert_eq!(told::kinds_of("fifo", &other), ["lost-item"]);
    // The proof that the queue was empty is disputed.
    let empty = "c3 ok dequeue item=null";
    told::silent("fifo", &LOST.replace(empty, &format!("{empty}\n {empty}")));
    let confirmed = "c3 answer confirm";
    told::silent("fifo", &LOST.replace(confirmed, &format!("{confirmed}\n {confirmed}")));
}

const SPLIT: &str = "
    c1 begin t1 sites=c2,c3
    c1 begun t1
    c2 vote t1 yes
    c2 voted t1 yes
    c3 vote t1 yes
    c3 voted t1 yes
    c2 asks t1
    c2 decided t1 commit
    c3 asks t1
    c3 decided t1 abort";

#[test]
fn a_split_rests_on_no_disputed_report() {
    script::only(SPLIT, "split-decision");
    let abort = "c3 decided t1 abort";
    script::silent(&SPLIT.replace(abort, &format!("{abort}\n {abort}")));
    script::silent(&SPLIT.replace("c3 asks t1", "c3 vote t1 yes"));
    // Another site tells the same.
    let third = SPLIT.replace("sites=c2,c3", "sites=c2,c3,c4");
    let third = format!("{third}\n {abort}\n c4 vote t1 yes\n c4 voted t1 yes\n c4 asks t1\n c4 decided t1 abort");
    script::only(&third, "split-decision");
    for elsewhere in ["c1 begun t1", "c1 asks t2\n c1 asks t3", "c1 asks t2\n c1 begun t2"] {
        script::only(&format!("{SPLIT}\n {elsewhere}"), "split-decision");
    }
}

/// A no that the answer to another request may be.
#[test]
fn what_is_not_known_of_a_transaction_may_be_what_a_disputed_answer_says() {
    let unasked = SPLIT
        .replace("c3 decided t1 abort", "c3 decided t1 commit")
        .replace("    c3 vote t1 yes\n", "")
        .replace("    c3 voted t1 yes\n", "");
    script::only(&unasked, "commit-without-votes");
    let voted = unasked.replace("c2 asks t1", "c3 decide t1\n c3 voted t1 yes\n c2 asks t1");
    script::silent(&voted);
    // Of two votes asked for at once each may be answered.
    let both = unasked.replace(
        "c2 asks t1",
        "c3 vote t1 yes\n c3 vote t2 no\n c3 voted t2 no\n c2 asks t1",
    );
    script::silent(&both);
}

const STALE: &str = "
    c1 invoke write value=1
    c1 ok write value=1
    c2 invoke write value=2
    c2 ok write value=2
    c3 invoke read
    c3 ok read value=1";

#[test]
fn a_register_is_judged_by_no_disputed_answer() {
    use crate::register::told::{only, silent};
    only("quorum-read", STALE, "not-linearizable");
    let read = "c3 ok read value=1";
    silent("quorum-read", &STALE.replace(read, &format!("{read}\n {read}")));
    silent(
        "quorum-read",
        &STALE.replace("c3 invoke read", "c3 invoke write value=3"),
    );
    // The write may never have been acknowledged.
    let wrote = "c2 ok write value=2";
    silent(
        "quorum-read",
        &STALE.replace(wrote, &format!("{wrote}\n c2 fail write value=2")),
    );
    // Each of two requests that were sent at once may have been the one that was answered.
    silent("quorum-read", &STALE.replace("c1 ok", "c3 invoke read\n c1 ok"));
    for elsewhere in [
        "c4 invoke read\n c4 ok read value=2\n c4 ok read value=2",
        "c4 invoke read\n c4 invoke read",
    ] {
        let record = crate::register::told::record("quorum-read", &format!("{STALE}\n {elsewhere}"));
        let results = check(&record);
        assert_eq!(results.verdict, Verdict::Invalid, "{results:#?}");
    }
}
