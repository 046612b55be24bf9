//! Anomalies of barriers, each beside its nearest innocent twin.

use crate::expect::{count, edited, found, guilty, has_reason, innocent, none, proven_by};
use crate::script::run;
use zooquake_checkers::Verdict;
use zooquake_history::Record;

fn double(text: &str) -> Record {
    run("double", text)
}

fn tutorial(text: &str) -> Record {
    run("tutorial", text)
}

const EARLY: &str = "
    c1 invoke enter round=1 members=3; c2 invoke enter round=1 members=3
    c1 ok enter round=1
    c3 invoke enter round=1 members=3";

#[test]
fn who_is_let_in_before_all_were_sent_was_released_early() {
    proven_by(&double(EARLY), "early-release", &[0, 2]);
    let asked = "c1 ok enter round=1 => | c3 invoke => c3 invoke enter round=1 members=3; c1 ok enter round=1; c3 ok";
    innocent(double, EARLY, asked);
    let table = "c2 invoke enter round=1 => c2 invoke enter round=2";
    guilty(double, "early-release", EARLY, table);
}

/// A member is its client, however often it is asked.
#[test]
fn who_is_asked_again_counts_once() {
    let early = |edits: &str| double(&edited(EARLY, edits));
    let again = "c1 ok => c2 end enter; c2 invoke enter round=1 members=3; c1 ok";
    let found = proven_by(&early(again), "early-release", &[0, 4]);
    let said = "no more than 2 of them had been sent `enter` (1 of these requests";
    assert!(found.why.contains(said), "{}", found.why);
    let table = "
        c1 ok => c2 fail enter; c2 invoke enter round=1 members=3; c1 ok
        c1 ok => c2 note exit; c2 invoke enter round=1 members=3; c1 ok # its next process is the same member
        c1 ok => c1 end enter; c1 invoke enter round=1 members=3; c1 ok";
    guilty(double, "early-release", EARLY, table);
    let all = "c1 ok => c2 end enter; c3 invoke enter round=1 members=3; c2 invoke enter round=1 members=3; c1 ok
        c1 ok => c2 end enter; c3 end enter; c1 ok # of an enter without its request nobody knows when it was sent";
    innocent(double, EARLY, all);
}

const JOINS: &str = "
    c3 invoke enter round=1 members=2
    c1 invoke join round=1 members=2 member=1; c1 ok join round=1 session=0x1
    c1 invoke join round=1 members=2 member=1; c1 ok join round=1 session=0x1
    c3 ok enter round=1";

/// One client joins for several members; its request names which of them.
#[test]
fn who_joins_twice_counts_once() {
    proven_by(&tutorial(JOINS), "early-release", &[0, 5]);
    let table = "c1 ok join round=1 session=0x1 => c1 end join";
    guilty(tutorial, "early-release", JOINS, table);
    none(&tutorial(&JOINS.replacen("member=1", "member=2", 1)));
    for unread in [
        JOINS.replacen(" member=1", "", 1),
        JOINS.replacen("member=1", "member=one", 1),
    ] {
        has_reason(&none(&tutorial(&unread)), "the `join` of c1, which names no member");
    }
}

/// B1 of the tutorial's barrier, where members join and an application waits.
#[test]
fn the_waiting_application_is_no_member() {
    let text = "
        c3 invoke enter round=1 members=2
        c1 invoke join round=1 members=2 member=1; c1 ok join round=1 session=0x1
        c3 ok enter round=1";
    proven_by(&tutorial(text), "early-release", &[0, 3]);
    let table = "c3 ok => c2 invoke join round=1 members=2 member=2; c3 ok";
    innocent(tutorial, text, table);
}

#[test]
fn a_late_joiner_is_let_in_at_once() {
    let text = "
        c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2
        c1 ok enter round=1 czxid=1; c2 ok enter round=1 czxid=2
        c2 note exit
        c1 invoke leave round=1; c1 ok leave round=1 removed=1
        c2 invoke enter round=1 members=2; c2 ok enter round=1 czxid=9
        c2 invoke leave round=1; c2 ok leave round=1 removed=9";
    none(&double(text));
}

const LEFT: &str = "
    c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2
    c1 ok enter round=1 czxid=1; c2 ok enter round=1 czxid=2
    c1 invoke leave round=1; c1 ok leave round=1 removed=1
    c2 invoke leave round=1; c2 ok leave round=1 removed=2";

#[test]
fn who_leaves_while_another_is_certainly_inside_was_released_early() {
    proven_by(&double(LEFT), "early-release", &[3, 4, 5, 6, 7]);
    let table = "
        removed=2 => removed=null # it may have died: it did not remove what it had entered with
        c2 ok leave round=1 removed=2 => c2 end leave
        c1 ok leave => c2 invoke leave round=1; c2 end leave; c1 ok leave # it was sent leave before, for the first time
        c1 ok leave => c2 invoke leave round=one; c2 end leave; c1 ok leave # that may have been of this round
        c1 ok leave => c2 end leave; c1 ok leave
        c1 invoke leave => c2 note exit; c1 invoke leave # the member died, whatever its next process removes
        c2 invoke leave round=1 => | c1 ok leave => c2 invoke leave round=1; c1 ok leave # it was sent leave before
        c2 ok enter round=1 czxid=2 => | c1 invoke leave round=1 => c1 invoke leave round=1; c2 ok enter round=1 czxid=2 # late";
    innocent(double, LEFT, table);
}

const STUCK: &str = "
    1 c1 invoke enter round=1 members=2; 2 c2 invoke enter round=1 members=2
    3 c2 ok enter round=1 session=0x2
    run recovered
    30 run audit";

#[test]
fn who_waits_though_all_are_there_is_stuck() {
    proven_by(&double(STUCK), "stuck-barrier", &[0, 1, 3, 4]);
    // B7: peers pass, and go to leave, where they wait for the one who never saw it: they are still there.
    let table = "
        run recovered => c2 invoke leave round=1; run recovered
        session=0x2 => session=0x2; c2 note session state=expired session=0x7";
    guilty(double, "stuck-barrier", STUCK, table);
}

#[test]
fn who_waits_for_somebody_is_not_stuck() {
    for waits in [
        "c1 invoke enter round=1 members=2 => c1 invoke enter round=1 members=3",
        "run recovered => c2 note exit; run recovered",
        "run recovered => c2 note session state=expired session=0x2; run recovered",
        "run recovered => c2 invoke leave round=1; c2 ok leave round=1; run recovered",
        "c2 ok enter round=1 session=0x2 => c2 end enter",
        "30 run audit => 9 run audit",
        "c2 invoke enter round=1 => c2 invoke enter round=2 | c2 ok enter round=1 session=0x2 =>",
    ] {
        let results = none(&double(&edited(STUCK, waits)));
        assert_eq!(results.verdict, Verdict::Unknown, "{waits}");
        has_reason(&results, "still pending");
    }
    let table = "run recovered =>\n run recovered => c1 ok enter round=1; run recovered";
    innocent(double, STUCK, table);
}

#[test]
fn an_application_is_stuck_when_all_members_have_joined() {
    let text = "
        1 c3 invoke enter round=1 members=2
        2 c1 invoke join round=1 members=2 member=1; 3 c1 ok join round=1 session=0x1
        4 c1 invoke join round=1 members=2 member=2; 5 c1 ok join round=1 session=0x1
        run recovered
        30 run audit";
    proven_by(&tutorial(text), "stuck-barrier", &[0, 1, 2, 3, 4, 5, 6]);
    let table = "
        run recovered => c1 invoke close round=1; run recovered
        run recovered => c1 note session state=closed session=0x1; run recovered
        member=2 => member=1 # one member is not two
        5 c1 ok join round=1 session=0x1 => 5 c1 end join";
    innocent(tutorial, text, table);
}

/// Both entered, and both were sent leave; c2's process ended in the second.
const LEAVING: &str = "
    1 c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2
    c1 ok enter round=1 session=0x1; c2 ok enter round=1 session=0x2
    2 c1 invoke leave round=1; 3 c2 invoke leave round=1; c2 ok leave round=1
    5 run recover; run recovered
    30 run audit";

#[test]
fn who_waits_to_leave_though_all_others_have_left_is_stuck() {
    proven_by(&double(LEAVING), "stuck-barrier", &[4, 8, 9]);
    let table = "
        c2 invoke leave round=1; c2 ok leave round=1 => c2 note exit # its session is over
        c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2 => \
            c1 invoke enter round=1 members=1; c2 invoke enter round=2 members=2 | c2 ok enter round=1 session=0x2 => c2 end enter \
            | 3 c2 invoke leave round=1; c2 ok leave round=1 => # it was never there
        30 run audit => 25 c1 info leave; 30 run audit # it has timed out";
    guilty(double, "stuck-barrier", LEAVING, table);
    // Both wait for each other, though both leave.
    found(
        &double(&edited(LEAVING, "c2 ok leave round=1 =>")),
        &["stuck-barrier"; 2],
    );
}

#[test]
fn who_waits_to_leave_while_another_may_be_inside_is_not_stuck() {
    let table = "
        3 c2 invoke leave round=1; c2 ok leave round=1 => # it is inside
        c2 ok leave round=1 => c2 info leave # it may be
        c2 ok leave round=1 => c2 fail leave
        3 c2 invoke leave round=1; c2 ok leave round=1 => | 30 run audit => 29 c2 invoke leave round=1; 30 run audit # it left late
        3 c2 invoke leave round=1; c2 ok leave round=1 => | run recovered => c2 note exit; run recovered # its session may last
        run recovered => run recovered; c2 invoke enter round=1 members=3 # it comes again
        c2 ok enter round=1 session=0x2 => c2 info enter | 3 c2 invoke leave round=1; c2 ok leave round=1 =>
        5 run recover => c3 invoke enter round=one members=2; c3 info enter; 5 run recover # that may be of this round
        30 run audit => 14 run audit
        30 run audit => 6 c1 ok leave round=1; 30 run audit
        30 run audit => 25 c1 fail leave; 30 run audit
        30 run audit => 29 c1 note exit; 30 run audit";
    innocent(double, LEAVING, table);
    let inside = none(&double(&edited(
        LEAVING,
        "3 c2 invoke leave round=1; c2 ok leave round=1 =>",
    )));
    has_reason(
        &inside,
        "the leave of c1 sent at 2.000 s was still pending after recovery, and c2 may be in its round",
    );
}

/// All of these ask to enter the same round again and again.
fn refused(count: usize, who: &[&str]) -> String {
    let one = |at: usize| {
        let time = 3.0 + at as f64;
        let asked = who
            .iter()
            .map(|client| format!("{time} {client} invoke enter round=1 members=2\n"));
        let failed = who.iter().map(|client| format!("{} {client} fail enter\n", time + 0.5));
        asked.chain(failed).collect::<String>()
    };
    let text: String = (0..count).map(one).collect();
    format!("1 run recovered\n{text}60 run audit")
}

#[test]
fn who_is_refused_again_and_again_though_all_are_there_is_stuck() {
    let both = refused(20, &["c1", "c2"]);
    found(&double(&both), &["stuck-barrier"; 2]);
    let waits = "1 run recovered => 1 run recovered; 2 c2 invoke enter round=1 members=2";
    let waits = double(&edited(&refused(20, &["c1"]), waits));
    proven_by(&waits, "stuck-barrier", &[0, 1, 2, 42]);
    // Too short, with nobody else, or after all let in.
    none(&double(&refused(5, &["c1", "c2"])));
    none(&double(&refused(20, &["c1"])));
    let asked = "50 c1 invoke enter round=1 members=2; 50 c2 invoke enter round=1 members=2";
    let let_in = format!("60 run audit => {asked}; 51 c1 ok enter round=1; 51 c2 ok enter round=1; 60 run audit");
    innocent(double, &both, &let_in);
}

#[test]
fn a_member_that_joins_for_another_finishes_with_its_round() {
    let text = "
        1 run recovered
        2 c3 invoke enter round=1 members=2
        2 c1 invoke join round=1 members=2 member=1; 2 c2 invoke join round=1 members=2 member=2
        3 c1 ok join round=1 session=0x1; 3 c2 info join
        4 c3 ok enter round=1 session=0x3
        60 run audit";
    let about = |edits: &str| count(&none(&tutorial(&edited(text, edits))), "c2");
    let others = about("3 c2 info join => 3 c2 ok join round=1 session=0x2");
    assert_eq!(about("c1 => c1"), others);
    assert_eq!(about("4 c3 ok enter round=1 session=0x3 =>"), others + 1);
}

#[test]
fn a_member_of_a_round_that_cannot_be_read_may_be_of_any() {
    let unread = "c2 invoke enter round=1 => c2 invoke enter round=one; c2 end enter; c2 invoke enter round=1";
    let results = none(&double(&edited(EARLY, unread)));
    has_reason(&results, "the `enter` of c2, which names no round");
}
