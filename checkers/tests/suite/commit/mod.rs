//! Two-phase commits: each anomaly by one history, and silence on its nearest innocent twins.

pub mod agree;
pub mod brute;
mod contradictions;
pub mod script;
mod verdicts;
pub mod world;

use script::{decision, only, record, silent};
use zooquake_checkers::check;

const SPLIT: &str = "
    c1 begin t1 sites=c2,c3
    c1 begun t1
    c2 vote t1 yes
    c3 vote t1 yes
    c2 voted t1 yes
    c3 voted t1 yes
    c2 asks t1
    c3 asks t1
    c2 decided t1 commit
    c3 decided t1 abort";

#[test]
fn two_sites_that_decide_otherwise_are_a_split() {
    let found = only(SPLIT, "split-decision");
    assert_eq!(found.witness, [8, 9]);
    for word in ["t1", "c2 reported commit", "c3 reported abort", "No fault was on"] {
        assert!(found.why.contains(word), "{}", found.why);
    }
    silent(&SPLIT.replace("decided t1 abort", "decided t1 commit"));
    // Another transaction.
    silent(&SPLIT.replace("c3 decided t1 abort", "c3 decided t2 abort"));
    // It does not know: a lagging follower shows no decision, which is none.
    silent(&SPLIT.replace("c3 decided t1 abort", "c3 unknown decided t1"));
    silent(&SPLIT.replace("c3 decided t1 abort", ""));
}

const FLIP: &str = "
    c1 begin t1 sites=c2
    c2 vote t1 yes
    c2 voted t1 yes
    c2 asks t1
    c2 decided t1 commit
    c2 exit
    c2 asks t1
    c2 decided t1 abort";

#[test]
fn a_site_that_reports_both_flips() {
    assert_eq!(only(FLIP, "decision-flip").witness, [4, 7]);
    silent(&FLIP.replace("decided t1 abort", "decided t1 commit"));
    silent(&FLIP.replace("decided t1 abort", "decided t2 abort"));
}

#[test]
fn a_decision_znode_that_says_both_flips() {
    let agreed = FLIP.replace("decided t1 abort", "decided t1 commit");
    let both = |first, second| script::with_tree(&agreed, &[decision("t1", first), decision("t1", second)]);
    script::one(&both("abort", "commit"), "decision-flip");
    // What every site reported stands no more.
    let found = script::one(&both("abort", "abort"), "decision-flip");
    assert_eq!(found.witness, [4]);
    script::none(&both("commit", "commit"));
    // Nothing is written yet: undecided.
    script::none(&both("", "commit"));
    script::none(&script::with_tree(
        &agreed,
        &[decision("t9", "commit"), decision("t9", "abort")],
    ));
}

const UNJUSTIFIED: &str = "
    c1 begin t1 sites=c2,c3
    c1 begun t1
    c2 vote t1 yes
    c3 vote t1 no
    c2 voted t1 yes
    c3 voted t1 no
    c2 asks t1
    c2 decided t1 commit";

#[test]
fn commit_takes_a_yes_of_every_site() {
    let found = only(UNJUSTIFIED, "commit-without-votes");
    assert_eq!(found.witness, [5, 7]);
    assert!(found.why.contains("c3 answered at"), "{}", found.why);
    silent(&UNJUSTIFIED.replace("t1 no", "t1 yes"));
    silent(&UNJUSTIFIED.replace("decided t1 commit", "decided t1 abort"));
}

#[test]
fn a_no_of_unknown_outcome_is_no_yes() {
    let unknown = UNJUSTIFIED.replace("c3 voted t1 no", "c3 unknown vote t1");
    assert_eq!(only(&unknown, "commit-without-votes").witness, [3, 7]);
    // A yes of unknown outcome may have arrived.
    silent(&unknown.replace("vote t1 no", "vote t1 yes"));
    // Asked again it votes what its log says.
    silent(&unknown.replace("c2 asks", "c3 vote t1 yes\nc2 asks"));
}

#[test]
fn a_failed_vote_is_no_yes() {
    let failed = UNJUSTIFIED
        .replace("vote t1 no", "vote t1 yes")
        .replace("c3 voted t1 no", "c3 failed vote t1");
    assert_eq!(only(&failed, "commit-without-votes").witness, [3, 5, 7]);
    // That it failed may be read after the commit.
    let late = failed.replace("c3 failed vote t1\n", "") + "\nc3 failed vote t1";
    assert_eq!(only(&late, "commit-without-votes").witness, [3, 6, 7]);
    silent(&failed.replace("c2 asks", "c3 vote t1 yes\nc2 asks"));
}

#[test]
fn a_vote_not_yet_asked_for_is_no_yes() {
    let never = UNJUSTIFIED
        .replace("    c3 vote t1 no\n", "")
        .replace("    c3 voted t1 no\n", "");
    assert_eq!(only(&never, "commit-without-votes").witness, [0, 5]);
    let late = format!("{never}\nc3 vote t1 yes\nc3 voted t1 yes");
    only(&late, "commit-without-votes");
    // It was asked before the commit was read, and answered after it.
    silent(&never.replace("c2 decided", "c3 vote t1 yes\nc2 decided"));
    // Only the tree tells of the commit.
    let undecided = never.replace("c2 decided t1 commit", "");
    script::none(&script::with_tree(
        &undecided,
        &[decision("t1", ""), decision("t1", "abort")],
    ));
    let written = script::with_tree(&undecided, &[decision("t1", "commit"), decision("t1", "commit")]);
    assert_eq!(script::one(&written, "commit-without-votes").witness, [0]);
}

const WRONG: &str = "
    c1 begin t1 sites=c2
    c2 vote t1 yes
    c2 voted t1 yes
    c1 decide t1
    c2 asks t1
    c2 decided t1 commit
    c1 answers t1 abort";

#[test]
fn the_coordinators_answer_is_the_decision() {
    // Asked for with every yes in time, and no fault: the abort that it tells is needless too.
    let found: Vec<String> = check(&record(WRONG))
        .anomalies
        .into_iter()
        .map(|found| found.kind)
        .collect();
    assert_eq!(found, ["needless-abort", "wrong-outcome"]);
    let early = WRONG
        .replace("    c1 decide t1\n", "")
        .replace("c2 vote t1", "c1 decide t1\n    c2 vote t1")
        .replace("c2 voted", "9 c2 voted");
    assert_eq!(only(&early, "wrong-outcome").witness, [5, 6]);
    silent(&early.replace("answers t1 abort", "answers t1 commit"));
    silent(&early.replace("c1 answers t1 abort", "c1 unknown decide t1"));
    silent(&early.replace("c2 decided t1 commit", "c2 unknown decided t1"));
    let tree = script::with_tree(
        &early.replace("c2 decided t1 commit", "c2 unknown decided t1"),
        &[decision("t1", "commit"), decision("t1", "commit")],
    );
    assert_eq!(script::one(&tree, "wrong-outcome").witness, [6]);
}

const NEEDLESS: &str = "
    1 c1 begin t1 sites=c2,c3
    2 c2 vote t1 yes
    3 c3 vote t1 yes
    4 c2 voted t1 yes
    5 c3 voted t1 yes
    6 c1 decide t1
    7 c1 answers t1 abort";

#[test]
fn an_abort_that_nothing_asked_for_is_needless() {
    assert_eq!(only(NEEDLESS, "needless-abort").witness, [0, 3, 4, 5, 6]);
    silent(&NEEDLESS.replace("answers t1 abort", "answers t1 commit"));
    silent(
        &NEEDLESS
            .replace("3 c3 vote t1 yes", "3 c3 vote t1 no")
            .replace("5 c3 voted t1 yes", "5 c3 voted t1 no"),
    );
    // That yes was acknowledged after the decision had been asked for, before or after the abort, but in time.
    let after = |told: &str| {
        NEEDLESS
            .replace("5 c3 voted t1 yes", "")
            .replace("7 c1 answers t1 abort", told)
    };
    only(&after("6.5 c3 voted t1 yes\n7 c1 answers t1 abort"), "needless-abort");
    let found = only(&after("7 c1 answers t1 abort\n8 c3 voted t1 yes"), "needless-abort");
    assert_eq!(found.witness, [0, 3, 4, 5, 6]);
    assert!(found.why.contains("session timeout (2.000 s)"), "{}", found.why);
    // Too late: who waits a session timeout for it may give up.
    silent(&after("7 c1 answers t1 abort\n8.001 c3 voted t1 yes"));
    silent(&after("8.2 c1 answers t1 abort\n8.3 c3 voted t1 yes"));
    silent(&NEEDLESS.replace("5 c3 voted t1 yes", "5 c3 unknown vote t1"));
    // The third site is unheard of.
    silent(&NEEDLESS.replace("sites=c2,c3", "sites=c2,c3,c4"));
}

#[test]
fn under_a_fault_or_just_after_it_an_abort_is_not_needless() {
    let on = "nemesis pause 1 begin\n{0} nemesis pause 1 on target=c2 verified=true";
    let off = "nemesis pause 1 off target=c2 verified=true\n1 c1 begin";
    let after = |ended: &str, rest: &str| format!("0.1 {}\n{ended} {}", on.replace("{0}", "0.1"), rest);
    let late = NEEDLESS.replace("    1 c1 begin", &format!("    {}", after("0.5", off)));
    silent(&late);
    let text = NEEDLESS.replace("6 c1 decide", "5.5 nemesis pause 1 begin\n6 c1 decide");
    silent(&text);
    silent(&NEEDLESS.replace("6 c1 decide", "5.5 c2 exit\n6 c1 decide"));
    silent(&NEEDLESS.replace("6 c1 decide", "5.5 c2 session state=expired\n6 c1 decide"));
    silent(&NEEDLESS.replace("6 c1 decide", "5.5 run stall ms=900\n6 c1 decide"));
    only(
        &NEEDLESS.replace("6 c1 decide", "5.5 c2 session state=connected\n6 c1 decide"),
        "needless-abort",
    );
    // It never began.
    let skipped = "0.1 nemesis pause 1 begin\n0.1 nemesis pause 1 skipped\n9 c1 begin";
    let shifted = NEEDLESS
        .lines()
        .map(|line| match line.trim().split_once(' ') {
            Some((time, rest)) => format!("{} {rest}\n", time.parse::<u32>().expect("seconds") + 8),
            None => String::new(),
        })
        .collect::<String>();
    only(&shifted.replace("9 c1 begin", skipped), "needless-abort");
}

#[test]
fn a_fault_that_was_not_seen_healed_excuses_every_abort_after_it() {
    let before = |off: &str| {
        NEEDLESS
            .lines()
            .map(|line| match line.trim().split_once(' ') {
                Some(("1", rest)) => format!("0.1 nemesis pause 1 begin\n{off}\n91 {rest}\n"),
                Some((time, rest)) => format!("9{time} {rest}\n"),
                None => String::new(),
            })
            .collect::<String>()
    };
    only(&before("0.2 nemesis pause 1 off target=c2"), "needless-abort");
    only(
        &before("0.2 nemesis pause 1 off verified=false\n0.3 nemesis pause 1 off verified=true"),
        "needless-abort",
    );
    silent(&before(""));
    silent(&before("0.2 nemesis pause 1 off verified=false"));
}
