//! Transactions that block, and what a run needs to be valid.

use super::script::{kinds, none, one, only, record, silent, with_tree, znode};
use std::fmt::Write;
use zooquake_checkers::{Verdict, check};

const BLOCKED: &str = "
    1 c1 begin t1 sites=c2
    2 c1 begun t1
    3 c2 vote t1 yes
    4 c2 voted t1 yes
    5 c1 exit
    6 c1 hello
    7 c2 asks t1
    10 run recovered
    25 run audit";

#[test]
fn a_transaction_that_stays_undecided_is_blocked() {
    let found = only(BLOCKED, "blocked-transaction");
    assert_eq!(found.witness, [1, 6, 7, 8]);
    assert!(found.why.contains("for 15.000 s"), "{}", found.why);
    // Decided at last, or not long enough after recovery, or not recovered.
    silent(&BLOCKED.replace("25 run audit", "24 c2 decided t1 abort\n25 run audit"));
    silent(&BLOCKED.replace("25 run audit", "19 run audit"));
    silent(&BLOCKED.replace("10 run recovered", "10 run not-recovered"));
    // The history ends with an answer that was long in coming, or whose request is missing: that shows the time only.
    let late = |asked: &str| BLOCKED.replace("25 run audit", &format!("{asked}25 c3 decided t2 abort"));
    for asked in ["", "11 c3 asks t2\n"] {
        let found = only(&late(asked), "blocked-transaction");
        assert!(found.why.contains("The bound is 10.000 s"), "{}", found.why);
    }
    // What was answered before the end counts.
    silent(&late("11 c3 asks t2\n24 c3 decided t2 abort\n"));
    // Its asker died.
    silent(&BLOCKED.replace("25 run audit", "24 c2 exit\n25 run audit"));
}

#[test]
fn one_that_gave_up_after_recovery_was_blocked_too() {
    let gave_up = BLOCKED.replace("25 run audit", "22 c2 unknown decided t1\n25 run audit");
    only(&gave_up, "blocked-transaction");
    silent(&BLOCKED.replace("10 run recovered", "9 c2 unknown decided t1\n10 run recovered"));
    let coordinator = only(&BLOCKED.replace("c2 asks t1", "c1 decide t1"), "blocked-transaction");
    let word = "`decide` of c1, sent at 7.000 s, was never answered";
    assert!(coordinator.why.contains(word), "{}", coordinator.why);
}

#[test]
fn one_that_fails_again_and_again_is_blocked_and_one_that_nobody_knows_is_unknown() {
    let asked = |how: &str, count: usize| {
        let one = |at: usize| format!("{} c2 asks t1\n{}.1 c2 {how} decided t1\n", 11 + at, 11 + at);
        let text = BLOCKED
            .replace("7 c2 asks t1", "")
            .replace("25 run audit", "40 run audit");
        text.replace("40 run", &((0..count).map(one).collect::<String>() + "40 run"))
    };
    let found = only(&asked("failed", 15), "blocked-transaction");
    assert!(
        found.why.contains("answered `fail` 15 times by 25.100 s"),
        "{}",
        found.why
    );
    let reasons = |text: &str| {
        let results = check(&record(text));
        assert_eq!(kinds(&results), [""; 0]);
        results
            .reasons
            .into_iter()
            .filter(|reason| reason.contains("decideds of c2"))
            .count()
    };
    assert_eq!(reasons(&asked("failed", 5)), 1);
    assert_eq!(reasons(&asked("unknown", 15)), 1);
    // It learns of it in the end.
    let learns = asked("unknown", 15).replace("40 run", "39 c2 asks t1\n39.1 c2 decided t1 commit\n40 run");
    assert_eq!(reasons(&learns), 0);
}

#[test]
fn a_site_that_does_not_answer_leaves_a_valid_run_unknown() {
    let lost = good(5, 5).replace("c3 decided t0 commit", "c3 unknown decided t0");
    let results = check(&record(&lost));
    assert_eq!((results.verdict, kinds(&results)), (Verdict::Unknown, vec![]));
    let unasked = good(5, 5).replace("    c3 asks t0\n    c3 decided t0 commit\n", "");
    let results = check(&record(&unasked));
    assert_eq!((results.verdict, kinds(&results)), (Verdict::Unknown, vec![]));
    // The coordinator's answer was lost, and it asked again.
    let again = good(5, 5).replace(
        "c1 answers t0 commit\n    c2 asks",
        "c1 unknown decide t0\n c1 decide t0\n c1 answers t0 commit\n c2 asks",
    );
    assert_eq!(check(&record(&again)).verdict, Verdict::Valid);
}

#[test]
fn a_process_that_is_dead_blocks_nobody() {
    let dead = BLOCKED.replace("    6 c1 hello\n", "");
    let results = check(&record(&dead));
    assert_eq!(kinds(&results), [""; 0]);
    assert!(
        results
            .reasons
            .iter()
            .any(|reason| reason.contains("c1 was not running again")),
        "{:?}",
        results.reasons
    );
}

#[test]
fn what_never_began_blocks_nobody() {
    let never = BLOCKED
        .replace("    2 c1 begun t1\n", "")
        .replace("4 c2 voted t1 yes", "4 c2 failed vote t1");
    silent(&never);
    // It stands in the tree, so it had begun.
    one(&with_tree(&never, &[znode("t1"), znode("t1")]), "blocked-transaction");
    none(&with_tree(&never, &[znode("t2"), znode("t2")]));
}

const LAST: &str = "run recovered
    c1 begin t0 sites=c2,c3
    c1 begun t0
    c2 vote t0 yes
    c3 vote t0 yes
    c1 decide t0
    c2 voted t0 yes
    c3 voted t0 yes
    c1 answers t0 commit
    c2 asks t0
    c2 decided t0 commit
    c3 asks t0
    c3 decided t0 commit
    run audit
    run done";

/// The last commit comes after recovery.
fn good(commits: usize, aborts: usize) -> String {
    let mut text = String::from("run ops\n");
    for tx in 1..commits + aborts {
        let (vote, decision) = if tx < commits {
            ("yes", "commit")
        } else {
            ("no", "abort")
        };
        write!(
            text,
            "c1 begin t{tx} sites=c2\nc1 begun t{tx}\nc2 vote t{tx} {vote}\nc1 decide t{tx}\nc2 voted t{tx} {vote}\n\
             c2 asks t{tx}\nc2 decided t{tx} {decision}\nc1 answers t{tx} {decision}\n"
        )
        .expect("a string");
    }
    text + LAST
}

#[test]
fn a_valid_run_has_five_of_each_decision() {
    let results = check(&record(&good(5, 5)));
    assert_eq!(results.verdict, Verdict::Valid, "{results:#?}");
    assert_eq!(
        (&results.stats["commits"], &results.stats["aborts"]),
        (&5.into(), &5.into())
    );
    for (commits, aborts) in [(4, 5), (5, 4), (10, 0)] {
        let results = check(&record(&good(commits, aborts)));
        assert_eq!(results.verdict, Verdict::Unknown);
        let reason = format!("{commits} transactions committed and {aborts} aborted");
        assert!(
            results.reasons.iter().any(|text| text.starts_with(&reason)),
            "{:?}",
            results.reasons
        );
    }
}

#[test]
fn a_run_without_a_tree_or_without_progress_is_unknown() {
    let mut record = record(&good(5, 5));
    record.tree = None;
    let results = check(&record);
    assert_eq!(results.verdict, Verdict::Unknown);
    assert!(
        results.reasons.iter().any(|reason| reason.contains("decision znodes")),
        "{:?}",
        results.reasons
    );
    let late = good(5, 5).replace(
        "run audit",
        "nemesis pause 1 on target=c1\nnemesis pause 1 off target=c1\nrun audit",
    );
    let results = check(&super::script::record(&late));
    assert!(
        results
            .reasons
            .iter()
            .any(|reason| reason.contains("no begin, or no decided")),
        "{:?}",
        results.reasons
    );
}

#[test]
fn a_long_history_is_judged_in_no_time() {
    let text = good(20_000, 20_000);
    let results = check(&record(&text));
    assert_eq!(results.verdict, Verdict::Valid, "{:?}", results.reasons);
    assert_eq!(results.stats["transactions"], 40_000);
}
