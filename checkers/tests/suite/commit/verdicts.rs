//! Transactions that block, and what a run needs to be valid.

use super::{commit, with_tree};
use crate::expect::{
    count, edited, explains, explains_all, guilty, has_reason, innocent, kinds, none, one, one_by, unknown, valid,
};
use crate::script::{changed, holding};
use zooquake_checkers::check;

const BLOCKED: &str = "
    1 c1 begin t1 sites=c2; 2 c1 begun t1
    3 c2 vote t1 yes; 4 c2 voted t1 yes
    5 c1 exit; 6 c1 hello
    7 c2 asks t1
    10 run recovered; 25 run audit";

#[test]
fn a_transaction_that_stays_undecided_is_blocked() {
    let found = one_by(&commit(BLOCKED), "blocked-transaction", &[1, 6, 7, 8]);
    explains(&found, "for 15.000 s");
    let table = "
        25 run audit => 24 c2 decided t1 abort; 25 run audit # decided at last
        25 run audit => 19 run audit # not long enough after recovery
        10 run recovered => 10 run not-recovered
        25 run audit => 24 c2 note session # its bound was not seen to its end
        10 run recovered => 9 c2 unknown decided t1; 10 run recovered # it gave up before
        25 run audit => 11 c3 asks t2; 24 c3 decided t2 abort; 25 c3 decided t2 abort # what was answered before the end counts
        25 run audit => 24 c2 exit; 25 run audit # its asker died";
    innocent(commit, BLOCKED, table);
}

#[test]
fn one_that_gave_up_after_recovery_was_blocked_too() {
    let gave_up = "25 run audit => 22 c2 unknown decided t1; 25 run audit";
    guilty(commit, "blocked-transaction", BLOCKED, gave_up);
    let record = commit(&edited(BLOCKED, "c2 asks t1 => c1 decide t1"));
    let coordinator = one(&record, "blocked-transaction");
    explains(&coordinator, "`decide` of c1, sent at 7.000 s, was never answered");
}

#[test]
fn one_that_fails_or_ends_unknown_again_and_again_is_blocked() {
    let asked = |how: &str, count: usize| {
        let one = |at: usize| format!("{} c2 asks t1; {}.1 c2 {how} decided t1; ", 11 + at, 11 + at);
        let all: String = (0..count).map(one).collect();
        edited(BLOCKED, &format!("7 c2 asks t1 => | 25 run audit => {all}40 run audit"))
    };
    let found = one(&commit(&asked("failed", 15)), "blocked-transaction");
    explains(&found, "answered `fail` 15 times by 25.100 s");
    let reasons = |text: &str| count(&none(&commit(text)), "decideds of c2");
    assert_eq!(reasons(&asked("failed", 5)), 1);
    // A client that ends each question at once does not work any more.
    let found = one(&commit(&asked("unknown", 15)), "blocked-transaction");
    explains(
        &found,
        "was asked 15 times by 25.100 s, and never gave a decision (timed out)",
    );
    assert_eq!(reasons(&asked("unknown", 5)), 1);
    // It learns of it in the end.
    let learns = "40 run => 39 c2 asks t1; 39.1 c2 decided t1 commit; 40 run";
    assert_eq!(reasons(&edited(&asked("unknown", 15), learns)), 0);
}

/// A site is asked about two transactions in turn, four seconds each; t1 certainly began.
const IN_TURN: &str = "
    1 c1 begin t1 sites=c2; 2 c1 begun t1
    3 c1 begin t2 sites=c2; 4 c1 unknown begin t2
    10 run recovered
    11 c2 asks t2; 15 c2 unknown decided t2; 15.25 c2 asks t1; 19.25 c2 unknown decided t1
    19.5 c2 asks t2; 23.5 c2 unknown decided t2; 23.75 c2 asks t1; 27.75 c2 unknown decided t1
    28 run audit";

#[test]
fn one_that_is_asked_for_twice_over_the_bound_without_being_known_is_blocked() {
    let found = one_by(&commit(IN_TURN), "blocked-transaction", &[1, 4, 7, 13]);
    explains_all(
        &found,
        &[
            "about transaction t1",
            "at 15.250 s and was asked 2 times by 27.750 s",
            "for 12.500 s",
        ],
    );
    let table = "
        2 c1 begun t1 => 2 c1 unknown begin t1 # it may never have begun, as the other one
        27.75 c2 unknown decided t1 => 27.75 c2 decided t1 abort # decided late
        23.75 c2 asks t1; 27.75 c2 unknown decided t1 => # asked once
        15.25 c2 asks t1; 19.25 c2 unknown decided t1 => | 23.5 c2 unknown decided t2 => 19.6 c2 unknown decided t2; 19.7 c2 asks t1; 23.6 c2 unknown decided t1 # twice within the bound
        10 run recovered => 10 run not-recovered
        28 run audit => 27.8 c2 asks t1; 27.9 c2 decided t1 abort; 28 run audit
        19.5 c2 asks t2 => 19.3 c3 asks t1; 19.4 c3 decided t1 abort; 19.5 c2 asks t2 # it may have been decided in between";
    innocent(commit, IN_TURN, table);
    // Another site knew it all the time, and this one never does.
    let known = "10 run recovered => 8 c3 asks t1; 9 c3 decided t1 abort; 10 run recovered";
    guilty(commit, "blocked-transaction", IN_TURN, known);
}

#[test]
fn a_site_that_does_not_answer_leaves_a_valid_run_unknown() {
    for silent in [
        "c3 decided t0 commit => c3 unknown decided t0",
        "c3 asks t0; c3 decided t0 commit =>",
    ] {
        assert_eq!(kinds(&unknown(&commit(&edited(&good(5, 5), silent)), "")), [""; 0]);
    }
    // The coordinator's answer was lost, and it asked again.
    let again = "c1 answers t0 commit => c1 unknown decide t0; c1 decide t0; c1 answers t0 commit";
    valid(&commit(&edited(&good(5, 5), again)));
}

#[test]
fn what_is_dead_or_never_began_blocks_nobody() {
    let results = none(&commit(&edited(BLOCKED, "6 c1 hello =>")));
    has_reason(&results, "c1 was not running again");
    let never = edited(BLOCKED, "2 c1 begun t1 => | 4 c2 voted t1 yes => 4 c2 failed vote t1");
    none(&commit(&never));
    // It stands in the tree, so it had begun.
    let record = with_tree(&never, ["", ""].map(|data| holding("/app/t1", data)));
    one(&record, "blocked-transaction");
    none(&with_tree(&never, ["", ""].map(|data| holding("/app/t2", data))));
}

/// A run with so many transactions of each decision; the last commit comes after recovery.
fn good(commits: usize, aborts: usize) -> String {
    let one = |tx: usize| {
        let (vote, decision) = [("no", "abort"), ("yes", "commit")][usize::from(tx < commits)];
        format!(
            "c1 begin t{tx} sites=c2; c1 begun t{tx}; c2 vote t{tx} {vote}; c1 decide t{tx}; c2 voted t{tx} {vote}
             c2 asks t{tx}; c2 decided t{tx} {decision}; c1 answers t{tx} {decision}\n"
        )
    };
    let last = "run recovered
        c1 begin t0 sites=c2,c3; c1 begun t0
        c2 vote t0 yes; c3 vote t0 yes; c1 decide t0; c2 voted t0 yes; c3 voted t0 yes; c1 answers t0 commit
        c2 asks t0; c2 decided t0 commit; c3 asks t0; c3 decided t0 commit
        run audit; run done";
    format!("run ops\n{}{last}", (1..commits + aborts).map(one).collect::<String>())
}

#[test]
fn a_valid_run_has_five_of_each_decision() {
    let results = valid(&commit(&good(5, 5)));
    let found = (&results.stats["commits"], &results.stats["aborts"]);
    assert_eq!(found, (&5.into(), &5.into()));
    for (commits, aborts) in [(4, 5), (5, 4), (10, 0)] {
        let reason = format!("{commits} transactions committed and {aborts} aborted");
        unknown(&commit(&good(commits, aborts)), &reason);
    }
}

#[test]
fn a_run_without_a_tree_or_without_progress_is_unknown() {
    unknown(
        &changed(commit(&good(5, 5)), |blind| blind.tree = None),
        "decision znodes",
    );
    let pause = "nemesis pause 1 on target=c1 verified=true; nemesis pause 1 off target=c1 verified=true";
    let late = edited(&good(5, 5), &format!("run audit => {pause}; run audit"));
    has_reason(&check(&commit(&late)), "no begin, or no decided");
}

#[test]
fn a_long_history_is_judged_in_no_time() {
    assert_eq!(valid(&commit(&good(20_000, 20_000))).stats["transactions"], 40_000);
}
