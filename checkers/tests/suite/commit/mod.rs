//! Two-phase commits: each anomaly by one history, and silence on its nearest innocent twins.

pub mod agreement;
mod blocked_definition;
pub mod brute_force;
mod contradictions;
pub mod simulated_commits;
mod verdicts;

use crate::expect::{edited, explains, explains_all, found, guilty, innocent, none, one, one_by};
use crate::script::{holding, run};
use zooquake_history::{Record, evidence::Znode};

/// A record of a commit by three clients, without faults, and with a tree that was read twice at the end and had
/// nothing in it.
pub fn commit(text: &str) -> Record {
    let mut record = run("atomic", text);
    let end = record.history.events.len();
    for reading in record.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        (reading.index, reading.end_index) = (end, end);
    }
    record
}

/// The same with a znode in each reading of the tree.
pub fn with_tree(text: &str, znodes: [Znode; 2]) -> Record {
    let mut record = commit(text);
    for (reading, znode) in record.tree.iter_mut().flat_map(|tree| &mut tree.readings).zip(znodes) {
        reading.znodes = vec![znode];
    }
    record
}

/// The same with these decisions in the decision znode of t1, one for each reading.
pub fn decided(text: &str, words: [&str; 2]) -> Record {
    with_tree(text, words.map(|word| holding("/app/t1/decision", word)))
}

const SPLIT: &str = "
    c1 begin t1 sites=c2,c3; c1 begun t1
    c2 vote t1 yes; c3 vote t1 yes; c2 voted t1 yes; c3 voted t1 yes
    c2 asks t1; c3 asks t1
    c2 decided t1 commit; c3 decided t1 abort";

#[test]
fn two_sites_that_decide_otherwise_are_a_split() {
    let found = one_by(&commit(SPLIT), "split-decision", &[8, 9]);
    explains_all(
        &found,
        &["t1", "c2 reported commit", "c3 reported abort", "No fault was on"],
    );
    let table = "
        decided t1 abort => decided t1 commit
        c3 decided t1 abort => c3 decided t2 abort # another transaction
        c3 decided t1 abort => c3 unknown decided t1 # a lagging follower shows no decision, which is none
        c3 decided t1 abort =>";
    innocent(commit, SPLIT, table);
}

const FLIP: &str = "
    c1 begin t1 sites=c2
    c2 vote t1 yes; c2 voted t1 yes
    c2 asks t1; c2 decided t1 commit
    c2 exit
    c2 asks t1; c2 decided t1 abort";

#[test]
fn a_site_that_reports_both_flips() {
    one_by(&commit(FLIP), "decision-flip", &[4, 7]);
    let table = "decided t1 abort => decided t1 commit\n decided t1 abort => decided t2 abort";
    innocent(commit, FLIP, table);
}

#[test]
fn a_decision_znode_that_says_both_flips() {
    let agreed = FLIP.replace("decided t1 abort", "decided t1 commit");
    one(&decided(&agreed, ["abort", "commit"]), "decision-flip");
    // What every site reported stands no more.
    one_by(&decided(&agreed, ["abort", "abort"]), "decision-flip", &[4]);
    none(&decided(&agreed, ["commit", "commit"]));
    // Nothing is written yet: undecided.
    none(&decided(&agreed, ["", "commit"]));
    none(&with_tree(
        &agreed,
        ["commit", "abort"].map(|word| holding("/app/t9/decision", word)),
    ));
}

const UNJUSTIFIED: &str = "
    c1 begin t1 sites=c2,c3; c1 begun t1
    c2 vote t1 yes; c3 vote t1 no; c2 voted t1 yes; c3 voted t1 no
    c2 asks t1; c2 decided t1 commit";

#[test]
fn commit_takes_a_yes_of_every_site() {
    let found = one_by(&commit(UNJUSTIFIED), "commit-without-votes", &[5, 7]);
    explains(&found, "c3 answered at");
    let table = "t1 no => t1 yes\n decided t1 commit => decided t1 abort";
    innocent(commit, UNJUSTIFIED, table);
}

#[test]
fn a_no_of_unknown_outcome_is_no_yes() {
    let unknown = edited(UNJUSTIFIED, "c3 voted t1 no => c3 unknown vote t1");
    one_by(&commit(&unknown), "commit-without-votes", &[3, 7]);
    let table = "
        vote t1 no => vote t1 yes # a yes of unknown outcome may have arrived
        c2 asks => c3 vote t1 yes; c2 asks # asked again it votes what its log says";
    innocent(commit, &unknown, table);
}

#[test]
fn a_failed_vote_is_no_yes() {
    let edits = "vote t1 no => vote t1 yes | c3 voted t1 no => c3 failed vote t1";
    let failed = edited(UNJUSTIFIED, edits);
    one_by(&commit(&failed), "commit-without-votes", &[3, 5, 7]);
    // That it failed may be read after the commit.
    let late = edited(&failed, "c3 failed vote t1 =>") + "; c3 failed vote t1";
    one_by(&commit(&late), "commit-without-votes", &[3, 6, 7]);
    innocent(commit, &failed, "c2 asks => c3 vote t1 yes; c2 asks");
}

#[test]
fn a_vote_not_yet_asked_for_is_no_yes() {
    let never = edited(UNJUSTIFIED, "c3 vote t1 no => | c3 voted t1 no =>");
    one_by(&commit(&never), "commit-without-votes", &[0, 5]);
    let record = commit(&format!("{never}; c3 vote t1 yes; c3 voted t1 yes"));
    one(&record, "commit-without-votes");
    let table = "c2 decided => c3 vote t1 yes; c2 decided # asked before the commit was read, answered after it";
    innocent(commit, &never, table);
    // Only the tree shows the commit.
    let undecided = edited(&never, "c2 decided t1 commit =>");
    none(&decided(&undecided, ["", "abort"]));
    one_by(&decided(&undecided, ["commit"; 2]), "commit-without-votes", &[0]);
}

const WRONG: &str = "
    c1 begin t1 sites=c2
    c2 vote t1 yes; c2 voted t1 yes
    c1 decide t1
    c2 asks t1; c2 decided t1 commit
    c1 answers t1 abort";

#[test]
fn the_coordinators_answer_is_the_decision() {
    // Asked for with every yes in time, and no fault: the abort that it reports is needless too.
    found(&commit(WRONG), &["needless-abort", "wrong-outcome"]);
    let edits = "c1 decide t1 => | c2 vote t1 => c1 decide t1; c2 vote t1 | c2 voted => 9 c2 voted";
    let early = edited(WRONG, edits);
    one_by(&commit(&early), "wrong-outcome", &[5, 6]);
    let table = "
        answers t1 abort => answers t1 commit
        c1 answers t1 abort => c1 unknown decide t1
        c2 decided t1 commit => c2 unknown decided t1";
    innocent(commit, &early, table);
    let text = edited(&early, "c2 decided t1 commit => c2 unknown decided t1");
    one_by(&decided(&text, ["commit"; 2]), "wrong-outcome", &[6]);
}

const NEEDLESS: &str = "
    1 c1 begin t1 sites=c2,c3
    2 c2 vote t1 yes; 3 c3 vote t1 yes; 4 c2 voted t1 yes; 5 c3 voted t1 yes
    6 c1 decide t1; 7 c1 answers t1 abort";

#[test]
fn an_abort_that_nothing_asked_for_is_needless() {
    one_by(&commit(NEEDLESS), "needless-abort", &[0, 3, 4, 5, 6]);
    // That yes was acknowledged after the decision had been asked for, before or after the abort, but in time.
    let before = "5 c3 voted t1 yes => | 7 c1 answers => 6.5 c3 voted t1 yes; 7 c1 answers";
    guilty(commit, "needless-abort", NEEDLESS, before);
    let after = "5 c3 voted t1 yes => | 7 c1 answers t1 abort => 7 c1 answers t1 abort; 8 c3 voted t1 yes";
    let found = one_by(&commit(&edited(NEEDLESS, after)), "needless-abort", &[0, 3, 4, 5, 6]);
    explains(&found, "session timeout (2.000 s)");
    let table = "
        answers t1 abort => answers t1 commit
        3 c3 vote t1 yes => 3 c3 vote t1 no | 5 c3 voted t1 yes => 5 c3 voted t1 no
        5 c3 voted t1 yes => | 7 c1 answers t1 abort => 7 c1 answers t1 abort; 8.001 c3 voted t1 yes # who waits so long gives up
        5 c3 voted t1 yes => | 7 c1 answers t1 abort => 8.2 c1 answers t1 abort; 8.3 c3 voted t1 yes
        5 c3 voted t1 yes => 5 c3 unknown vote t1
        sites=c2,c3 => sites=c2,c3,c4 # the third site is unheard of";
    innocent(commit, NEEDLESS, table);
}

#[test]
fn under_a_fault_or_just_after_it_an_abort_is_not_needless() {
    let pause = "0.1 nemesis pause 1 begin; 0.1 nemesis pause 1 on target=c2 verified=true";
    let healed = format!("1 c1 begin => {pause}; 0.5 nemesis pause 1 off target=c2 verified=true; 1 c1 begin");
    innocent(commit, NEEDLESS, &healed);
    let table = "
        6 c1 decide => 5.5 nemesis pause 1 begin; 6 c1 decide
        6 c1 decide => 5.5 c2 exit; 6 c1 decide
        6 c1 decide => 5.5 c2 session state=expired; 6 c1 decide
        6 c1 decide => 5.5 run stall ms=900; 6 c1 decide";
    innocent(commit, NEEDLESS, table);
    let turns = "6 c1 decide => 5.5 c2 session state=connected; 6 c1 decide";
    guilty(commit, "needless-abort", NEEDLESS, turns);
    let record = commit(&late(8, "0.1 nemesis pause 1 begin; 0.1 nemesis pause 1 skipped"));
    one(&record, "needless-abort");
}

/// The needless abort so many seconds later, after these events.
fn late(seconds: u32, events: &str) -> String {
    let each = |line: &str| {
        let (time, rest) = line.trim().split_once(' ').expect("a time");
        format!("; {} {rest}", time.parse::<u32>().expect("seconds") + seconds)
    };
    events.to_owned() + &NEEDLESS.split(['\n', ';']).skip(1).map(each).collect::<String>()
}

#[test]
fn a_fault_that_was_not_seen_healed_excuses_every_abort_after_it() {
    let after = |healed: &str| commit(&late(90, &format!("0.1 nemesis pause 1 begin; {healed}")));
    let record = after("0.2 nemesis pause 1 off target=c2 verified=true");
    one(&record, "needless-abort");
    let again = "0.2 nemesis pause 1 off verified=false; 0.3 nemesis pause 1 off verified=true";
    one(&after(again), "needless-abort");
    none(&after(""));
    none(&after("0.2 nemesis pause 1 off verified=false"));
}
