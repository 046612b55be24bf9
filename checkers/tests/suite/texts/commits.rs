//! Two-phase commits.

use super::told;
use crate::commit::{commit, with_tree};
use crate::expect::{has_reason, none};
use crate::script::holding;
use zooquake_checkers::check;

#[test]
fn every_begin_may_have_failed() {
    let text = "
        c1 begin t1 sites=c2; c1 failed begin t1
        c1 begin t1 sites=c2; c1 failed begin t1
        c2 asks t1; c2 decided t1 commit";
    let said = ["no other `begin` of it can have"];
    told(&commit(text), "wrong-outcome", &said, &["was sent. Yet"]);
}

/// The decision stands, and another site has read it.
#[test]
fn one_site_may_be_blocked_by_what_is_decided() {
    let mut blocked = commit(
        "1 c1 begin t1 sites=c2,c3; 2 c1 begun t1
         3 c2 vote t1 yes; 4 c2 voted t1 yes; 5 c2 asks t1
         6 c1 decide t1; 7 c1 failed decide
         10 run recovered
         11 c3 asks t1; 12 c3 decided t1 abort
         25 run audit",
    );
    let said = [
        "for 15.000 s of the time after that it gave no answer with the decision",
        "`decide` of c1",
    ];
    told(&blocked, "blocked-transaction", &said, &["undecided"]);
    for event in blocked.history.events.iter_mut().filter(|event| event.f == "decide") {
        event.error = None;
    }
    let said = ["sent at 6.000 s, failed at 7.000 s."];
    told(&blocked, "blocked-transaction", &said, &["unknown"]);
}

#[test]
fn a_site_may_be_asked_to_vote_no_after_the_commit() {
    let text = "
        c1 begin t1 sites=c2,c3
        c2 vote t1 yes; c2 voted t1 yes; 1 c2 asks t1; 2 c2 decided t1 commit
        3 c3 vote t1 yes; 4 c3 failed vote t1; 5 c3 vote t1 no; 6 c3 unknown vote t1";
    let said = ["c3 was asked at 5.000 s to vote no, and before that commit was read it was not asked to vote yes"];
    told(&commit(text), "commit-without-votes", &said, &["by then"]);
}

/// A vote whose request is missing may have been sent before the commit.
#[test]
fn a_vote_without_a_request_convicts_nobody() {
    let text = "
        c1 begin t1 sites=c2,c3
        c2 vote t1 yes; c2 voted t1 yes; c2 asks t1; c2 decided t1 commit
        c3 voted t1 yes";
    none(&commit(text));
}

#[test]
fn a_decision_znode_may_be_gone_when_the_tree_is_read_again() {
    let text = "c1 begin t1 sites=c2; c2 asks t1; c2 decided t1 abort";
    let mut gone = with_tree(text, [holding("/app/t1/decision", "commit"), holding("/app/t1", "")]);
    let said = ["held commit in the last reading of the tree that has it"];
    told(&gone, "decision-flip", &said, &["at the end"]);
    let said = ["was committed by its decision znode when the tree was read"];
    told(&gone, "commit-without-votes", &said, &["stands"]);
    let unreadable = &mut gone.tree.as_mut().expect("a tree").readings[0].znodes[0];
    unreadable.data = "perhaps".to_owned();
    has_reason(
        &check(&gone),
        "1 reading of decision znodes showed neither commit nor abort, such as that of",
    );
}
