//! Anomalies of barriers, each beside its nearest innocent twin.

use super::told::{only, silent};
use zooquake_checkers::Verdict;

const EARLY: &str = "
    c1 invoke enter round=1 members=3
    c2 invoke enter round=1 members=3
    c1 ok enter round=1
    c3 invoke enter round=1 members=3";

#[test]
fn who_is_let_in_before_all_were_sent_was_released_early() {
    assert_eq!(only("double", EARLY, "early-release").witness, [0, 2]);
    silent(
        "double",
        &EARLY.replace("c1 ok enter round=1\n", "").replace(
            "c3 invoke",
            "c3 invoke enter round=1 members=3\n c1 ok enter round=1\n c3 ok",
        ),
    );
    only(
        "double",
        &EARLY.replace("c2 invoke enter round=1", "c2 invoke enter round=2"),
        "early-release",
    );
}

/// B1 of the tutorial's barrier, where members join and an application waits.
#[test]
fn the_waiting_application_is_no_member() {
    let text = "
        c3 invoke enter round=1 members=2
        c1 invoke join round=1 members=2 member=1
        c1 ok join round=1 session=0x1
        c3 ok enter round=1";
    assert_eq!(only("tutorial", text, "early-release").witness, [0, 3]);
    silent(
        "tutorial",
        &text.replace("c3 ok", "c2 invoke join round=1 members=2 member=2\n c3 ok"),
    );
}

#[test]
fn a_late_joiner_is_let_in_at_once() {
    let text = "
        c1 invoke enter round=1 members=2
        c2 invoke enter round=1 members=2
        c1 ok enter round=1 czxid=1
        c2 ok enter round=1 czxid=2
        c2 note exit
        c1 invoke leave round=1
        c1 ok leave round=1 removed=1
        c2 invoke enter round=1 members=2
        c2 ok enter round=1 czxid=9
        c2 invoke leave round=1
        c2 ok leave round=1 removed=9";
    silent("double", text);
}

const LEFT: &str = "
    c1 invoke enter round=1 members=2
    c2 invoke enter round=1 members=2
    c1 ok enter round=1 czxid=1
    c2 ok enter round=1 czxid=2
    c1 invoke leave round=1
    c1 ok leave round=1 removed=1
    c2 invoke leave round=1
    c2 ok leave round=1 removed=2";

#[test]
fn who_leaves_while_another_is_certainly_inside_was_released_early() {
    assert_eq!(only("double", LEFT, "early-release").witness, [3, 4, 5, 6, 7]);
    // It may have died: it did not remove what it had entered with.
    silent("double", &LEFT.replace("removed=2", "removed=null"));
    silent("double", &LEFT.replace("c2 ok leave round=1 removed=2", "c2 end leave"));
    // It was sent leave before.
    let asked = LEFT
        .replace("c2 invoke leave round=1\n", "")
        .replace("c1 ok leave", "c2 invoke leave round=1\n c1 ok leave");
    silent("double", &asked);
    // It may have entered only after the other had looked.
    let late = LEFT.replace("c2 ok enter round=1 czxid=2\n", "").replace(
        "c1 invoke leave round=1",
        "c1 invoke leave round=1\n c2 ok enter round=1 czxid=2",
    );
    silent("double", &late);
}

const STUCK: &str = "
    1 c1 invoke enter round=1 members=2
    2 c2 invoke enter round=1 members=2
    3 c2 ok enter round=1 session=0x2
    run recovered
    30 run audit";

#[test]
fn who_waits_though_all_are_there_is_stuck() {
    assert_eq!(only("double", STUCK, "stuck-barrier").witness, [0, 1, 3, 4]);
}

#[test]
fn who_waits_for_somebody_is_not_stuck() {
    for text in [
        STUCK.replacen("members=2", "members=3", 1),
        STUCK.replace("run recovered", "c2 note exit\n run recovered"),
        STUCK.replace(
            "run recovered",
            "c2 note session state=expired session=0x2\n run recovered",
        ),
        STUCK.replace(
            "run recovered",
            "c2 invoke leave round=1\n c2 ok leave round=1\n run recovered",
        ),
        STUCK.replace("c2 ok enter round=1 session=0x2", "c2 end enter"),
        STUCK.replace("30 run audit", "9 run audit"),
        STUCK
            .replace("c2 invoke enter round=1", "c2 invoke enter round=2")
            .replace("c2 ok enter round=1 session=0x2", ""),
    ] {
        let results = silent("double", &text);
        assert_eq!(results.verdict, Verdict::Unknown);
        assert!(
            results.reasons.iter().any(|reason| reason.contains("still pending")),
            "{text}: {:?}",
            results.reasons
        );
    }
    silent("double", &STUCK.replace("run recovered", ""));
    silent(
        "double",
        &STUCK.replace("run recovered", "c1 ok enter round=1\n run recovered"),
    );
}

/// B7: peers pass, and go to leave, where they wait for the one who never saw it.
#[test]
fn peers_that_wait_to_leave_are_still_there() {
    only(
        "double",
        &STUCK.replace("run recovered", "c2 invoke leave round=1\n run recovered"),
        "stuck-barrier",
    );
    only(
        "double",
        &STUCK.replace("session=0x2", "session=0x2\n c2 note session state=expired session=0x7"),
        "stuck-barrier",
    );
}

#[test]
fn an_application_is_stuck_when_all_members_have_joined() {
    let text = "
        1 c3 invoke enter round=1 members=2
        2 c1 invoke join round=1 members=2 member=1
        3 c1 ok join round=1 session=0x1
        4 c1 invoke join round=1 members=2 member=2
        5 c1 ok join round=1 session=0x1
        run recovered
        30 run audit";
    assert_eq!(only("tutorial", text, "stuck-barrier").witness, [0, 2, 4, 5, 6]);
    silent(
        "tutorial",
        &text.replace("run recovered", "c1 invoke close round=1\n run recovered"),
    );
    silent(
        "tutorial",
        &text.replace(
            "run recovered",
            "c1 note session state=closed session=0x1\n run recovered",
        ),
    );
    silent(
        "tutorial",
        &text.replace("5 c1 ok join round=1 session=0x1", "5 c1 end join"),
    );
}

/// Both ask to enter the same round again and again.
fn refused(count: usize, who: &str) -> String {
    let one = |at: usize| {
        let time = 3.0 + at as f64;
        let asked = |client: &str| format!("{time} {client} invoke enter round=1 members=2\n");
        let failed = |client: &str| format!("{} {client} fail enter\n", time + 0.5);
        let clients: Vec<&str> = who.split(',').collect();
        let ask: String = clients.iter().map(|client| asked(client)).collect();
        ask + &clients.iter().map(|client| failed(client)).collect::<String>()
    };
    let text: String = (0..count).map(one).collect();
    format!("1 run recovered\n{text}60 run audit")
}

#[test]
fn who_is_refused_again_and_again_though_all_are_there_is_stuck() {
    let found = super::told::kinds_of("double", &refused(20, "c1,c2"));
    assert_eq!(found, ["stuck-barrier", "stuck-barrier"]);
    let waits = refused(20, "c1").replace(
        "1 run recovered",
        "1 run recovered\n 2 c2 invoke enter round=1 members=2",
    );
    assert_eq!(only("double", &waits, "stuck-barrier").witness, [0, 1, 2, 41]);
    // Too short, with nobody else, or after all let in.
    for text in [
        refused(5, "c1,c2"),
        refused(20, "c1"),
        refused(20, "c1,c2").replace(
            "60 run audit",
            "50 c1 invoke enter round=1 members=2\n 50 c2 invoke enter round=1 members=2\n 51 c1 ok enter round=1 \n 51 c2 ok \
             enter round=1 \n 60 run audit",
        ),
    ] {
        silent("double", &text);
    }
}

#[test]
fn a_member_that_joins_for_another_finishes_with_its_round() {
    let text = "
        1 run recovered
        2 c3 invoke enter round=1 members=2
        2 c1 invoke join round=1 members=2 member=1
        2 c2 invoke join round=1 members=2 member=2
        3 c1 ok join round=1 session=0x1
        3 c2 info join
        4 c3 ok enter round=1 session=0x3
        60 run audit";
    let about = |text: &str| {
        let reasons = silent("tutorial", text).reasons;
        reasons.into_iter().filter(|reason| reason.contains("c2")).count()
    };
    let others = about(&text.replace("3 c2 info join", "3 c2 ok join round=1 session=0x2"));
    assert_eq!(about(text), others);
    assert_eq!(
        about(&text.replace("4 c3 ok enter round=1 session=0x3", "")),
        others + 1
    );
}

#[test]
fn a_member_of_a_round_that_cannot_be_read_may_be_of_any() {
    only("double", EARLY, "early-release");
    let results = silent(
        "double",
        &EARLY.replace(
            "c2 invoke enter round=1",
            "c2 invoke enter round=one\n c2 end enter\n c2 invoke enter round=1",
        ),
    );
    let said = |reason: &String| reason.contains("the `enter` of c2, which names no round");
    assert!(results.reasons.iter().any(said), "{:?}", results.reasons);
}
