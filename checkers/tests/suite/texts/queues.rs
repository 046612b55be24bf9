//! Queues and barriers.

use super::{reason, told};
use crate::queue::told as queue;
use crate::script::audited;
use zooquake_checkers::evidence::Znode;

#[test]
fn a_claim_does_not_end_with_its_session() {
    let text = "run audit\nc1 ask quiesce\nc1 answer quiesce sessions=0x1";
    let mut claimed = queue::record("claimed", text);
    let claim = Znode {
        path: "/taken/a-item-1".to_owned(),
        czxid: 7,
        data: r#"{"item":1,"owner":"0x1"}"#.to_owned(),
        ..Znode::default()
    };
    claimed.tree = Some(audited(&claimed.history, vec![claim.clone()], vec![claim]));
    told(&claimed, "orphan-node", &["so none will remove it. "], &["stays until"]);
}

const GIVEN_TWICE: &str = "c2 invoke dequeue\n c2 ok dequeue item=1\n c3 invoke dequeue\n c3 ok dequeue item=1\n";

#[test]
fn an_item_may_have_been_enqueued_never_or_only_by_requests_that_failed() {
    let said = |before: &str, words: &str| {
        let record = queue::record("fifo", &format!("{before}\n{GIVEN_TWICE}"));
        told(
            &record,
            "duplicate-delivery",
            &[words, "was delivered 2 times"],
            &["enqueued once"],
        );
    };
    said("", "is named by no enqueue");
    let failed = "c1 invoke enqueue item=1\n c1 fail enqueue\n";
    said(&failed.repeat(2), "is named only by enqueues that certainly failed");
    let phantom = queue::record("fifo", &format!("{}{GIVEN_TWICE}", failed.repeat(2)));
    told(
        &phantom,
        "phantom-item",
        &["Every enqueue of it certainly failed"],
        &["only enqueue"],
    );
    // Of unknown outcome, and sent later.
    let late = queue::record(
        "fifo",
        &format!("{GIVEN_TWICE}c1 invoke enqueue item=1\n c1 end enqueue"),
    );
    told(&late, "duplicate-delivery", &["can have been enqueued once"], &[]);
    told(
        &late,
        "phantom-item",
        &["enqueue was sent only at"],
        &["It was enqueued"],
    );
    // One that cannot be read may be of the item, and was sent later.
    let hidden = queue::record("fifo", &format!("{GIVEN_TWICE}c1 invoke enqueue item=one"));
    told(
        &hidden,
        "phantom-item",
        &["No enqueue in the history names it"],
        &["ever"],
    );
    let unknown = "c1 invoke enqueue item=1\n c1 end enqueue\n";
    let twice = queue::record("fifo", &unknown.repeat(2));
    reason(&twice, "item 1 may have been enqueued 2 times");
}

#[test]
fn an_acknowledged_item_may_not_have_been_given_before() {
    let text = "c1 invoke enqueue item=1\n c1 ok enqueue item=1\n c2 invoke acknowledge item=1\n c2 ok acknowledge item=1\n \
                c3 invoke dequeue\n c3 ok dequeue item=1";
    told(
        &queue::record("claimed", text),
        "duplicate-delivery",
        &["was given it at"],
        &["again"],
    );
}

#[test]
fn the_first_dequeue_that_may_have_delivered_an_item_is_named() {
    let text = "
        c1 invoke enqueue item=1
        c1 ok enqueue item=1
        c1 invoke enqueue item=2
        c1 ok enqueue item=2
        1 c2 invoke dequeue
        2 c2 ok dequeue item=2
        3 c3 invoke dequeue
        4 c3 note taking item=1
        5 c3 end dequeue
        6 c2 invoke dequeue
        7 c2 ok dequeue item=1";
    told(
        &queue::record("fifo", text),
        "reordered",
        &["was sent before 3.000 s"],
        &[],
    );
}

#[test]
fn a_lost_item_may_never_have_been_taken() {
    let text = "
        c1 invoke enqueue item=1
        c1 ok enqueue item=1
        c3 ask confirm
        c3 answer confirm
        c3 invoke dequeue
        c3 ok dequeue item=null
        run drained";
    told(
        &queue::record("fifo", text),
        "lost-item",
        &["and nobody got it"],
        &["somebody"],
    );
    let open = format!("c2 invoke dequeue\n{text}");
    reason(&queue::record("fifo", &open), "nobody is known to have got 1 item, but");
}

#[test]
fn one_of_several_members_is_one() {
    let text = "c1 invoke enter round=1 members=3\n c1 ok enter round=1";
    let said = ["round 1 of 3 members", "no more than 1 enter of that round"];
    told(&queue::record("double", text), "early-release", &said, &[]);
}
