//! Queues and barriers.

use super::told;
use crate::expect::has_reason;
use crate::queue::fifo;
use crate::script::{holding, run, standing};
use zooquake_checkers::check;
use zooquake_history::evidence::Znode;

#[test]
fn a_claim_does_not_end_with_its_session() {
    let claimed = run("claimed", "run audit; c1 ask quiesce; c1 answer quiesce sessions=0x1");
    let claim = Znode {
        czxid: 7,
        ..holding("/taken/a-item-1", r#"{"item":1,"owner":"0x1"}"#)
    };
    let said = ["so none will remove it. "];
    told(&standing(claimed, vec![claim]), "orphan-node", &said, &["stays until"]);
}

const GIVEN_TWICE: &str = "c2 invoke dequeue; c2 ok dequeue item=1; c3 invoke dequeue; c3 ok dequeue item=1";

#[test]
fn an_item_may_have_been_enqueued_never_or_only_by_requests_that_failed() {
    let failed = "c1 invoke enqueue item=1; c1 fail enqueue; ".repeat(2);
    for (before, words) in [
        ("", "is named by no enqueue"),
        (&failed, "is named only by enqueues that certainly failed"),
    ] {
        let said = [words, "was delivered 2 times"];
        let record = fifo(&format!("{before}{GIVEN_TWICE}"));
        told(&record, "duplicate-delivery", &said, &["enqueued once"]);
    }
    let phantom = fifo(&format!("{failed}{GIVEN_TWICE}"));
    let said = ["Every enqueue of it certainly failed"];
    told(&phantom, "phantom-item", &said, &["only enqueue"]);
    // Of unknown outcome, and sent later.
    let late = fifo(&format!("{GIVEN_TWICE}; c1 invoke enqueue item=1; c1 end enqueue"));
    told(&late, "duplicate-delivery", &["can have been enqueued once"], &[]);
    let said = ["enqueue was sent only at"];
    told(&late, "phantom-item", &said, &["It was enqueued"]);
    // One that cannot be read may be of the item, and was sent later.
    let hidden = fifo(&format!("{GIVEN_TWICE}; c1 invoke enqueue item=one"));
    let said = ["No enqueue in the history names it"];
    told(&hidden, "phantom-item", &said, &["ever"]);
    let twice = fifo(&"c1 invoke enqueue item=1; c1 end enqueue; ".repeat(2));
    has_reason(&check(&twice), "item 1 may have been enqueued 2 times");
}

#[test]
fn an_acknowledged_item_may_not_have_been_given_before() {
    let text = "
        c1 invoke enqueue item=1; c1 ok enqueue item=1
        c2 invoke acknowledge item=1; c2 ok acknowledge item=1
        c3 invoke dequeue; c3 ok dequeue item=1";
    let record = run("claimed", text);
    told(&record, "duplicate-delivery", &["was given it at"], &["again"]);
}

#[test]
fn the_first_dequeue_that_may_have_delivered_an_item_is_named() {
    let text = "
        c1 invoke enqueue item=1; c1 ok enqueue item=1; c1 invoke enqueue item=2; c1 ok enqueue item=2
        1 c2 invoke dequeue; 2 c2 ok dequeue item=2
        3 c3 invoke dequeue; 4 c3 note taking item=1; 5 c3 end dequeue
        6 c2 invoke dequeue; 7 c2 ok dequeue item=1";
    told(&fifo(text), "reordered", &["was sent before 3.000 s"], &[]);
}

#[test]
fn a_lost_item_may_never_have_been_taken() {
    let text = "
        c1 invoke enqueue item=1; c1 ok enqueue item=1
        c3 ask confirm; c3 answer confirm; c3 invoke dequeue; c3 ok dequeue item=null
        run drained";
    told(&fifo(text), "lost-item", &["and no client received it"], &["somebody"]);
    let results = check(&fifo(&format!("c2 invoke dequeue; {text}")));
    has_reason(&results, "no client is known to have received 1 item, but");
}

#[test]
fn one_of_several_members_is_one() {
    let early = run("double", "c1 invoke enter round=1 members=3; c1 ok enter round=1");
    let said = ["round 1 of 3 members", "no more than 1 of them had been sent `enter`"];
    told(&early, "early-release", &said, &[]);
}
