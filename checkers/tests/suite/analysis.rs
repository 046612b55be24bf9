//! Holds and latencies, as reports draw them.

use crate::script;
use serde_json::{Value, json};
use zooquake_checkers::analysis::{Analysis, Hold, Latency, LatencyKind, OperationSubject};
use zooquake_history::{
    EventType::{self, Info, Invoke, Ok},
    Record,
};

const WAITED_FOR: &str = "1 c1 acquire g1
    1.25 c1 granted g1
    1.5 c2 acquire g2
    2 c1 release g1
    2.5 c2 granted g2";

fn hand_overs(text: &str) -> Vec<(usize, usize, u64, bool)> {
    let record = script::lock(text);
    let all = Analysis::new(&record).latencies(LatencyKind::HandOver);
    let each = |l: Latency<'_>| (l.from, l.until, l.ns / 1_000_000, l.faulty);
    all.into_iter().map(each).collect()
}

#[test]
fn a_hand_over_is_from_the_release_to_the_grant_of_one_who_waited() {
    assert_eq!(hand_overs(WAITED_FOR), [(3, 4, 500, false)]);
    let late = WAITED_FOR.replace(
        "1.5 c2 acquire g2\n    2 c1 release g1",
        "2 c1 release g1\n    2.25 c2 acquire g2",
    );
    assert_eq!(hand_overs(&late), [], "nobody was kept waiting");
    let lost = WAITED_FOR.replace("release", "lost");
    assert_eq!(hand_overs(&lost), [], "nobody released it");
}

#[test]
fn a_latency_is_faulty_only_if_a_fault_was_on_meanwhile() {
    let fault = "0.5 nemesis pause 1 begin target=c1\n0.5 nemesis pause 1 on verified=true target=c1\n";
    let healed = "nemesis pause 1 off verified=true\n";
    let during = WAITED_FOR.replace("2.5", &format!("2.25 {healed}2.5"));
    assert_eq!(hand_overs(&format!("{fault}{during}")), [(5, 7, 500, true)]);
    let before = WAITED_FOR.replace("2 c1", &format!("1.75 {healed}2 c1"));
    let found = hand_overs(&format!("{fault}{before}"));
    assert_eq!(found, [(6, 7, 500, false)], "near is not on");
}

/// Where each hold of a history of this family began and ended.
fn holds<'a>(record: &'a mut Record, family: &str, events: &[(&str, EventType, &str, Value)]) -> Vec<Hold<'a>> {
    let event = |(index, (who, kind, f, value)): (usize, &(&str, EventType, &str, Value))| {
        let (number, who) = match who.strip_prefix("named ") {
            Some(named) => (None, named),
            None => (who[1..].parse().ok(), *who),
        };
        script::event(index, index as u64, who, number, *kind, f, value.clone())
    };
    record.plan.workload.family = family.to_owned();
    record.history.events = events.iter().enumerate().map(event).collect();
    Analysis::new(record).holds()
}

fn hold(node: &'static str, subject: OperationSubject<'static>, from: usize, until: Option<usize>) -> Hold<'static> {
    Hold {
        node,
        subject,
        mode: None,
        from,
        until,
    }
}

#[test]
fn a_claim_ends_when_its_acknowledgement_is_sent_or_its_process_ends() {
    let claim = |item: i64| json!({"item": item, "path": "/taken/x"});
    let events = [
        ("c1", Invoke, "dequeue", json!({})),
        ("c1", Ok, "dequeue", claim(7)),
        ("c2", Invoke, "dequeue", json!({})),
        ("c2", Ok, "dequeue", claim(8)),
        ("c3", Invoke, "dequeue", json!({})),
        ("c3", Ok, "dequeue", json!({"item": 9})),
        ("c2", Invoke, "acknowledge", json!({"item": 7})),
        ("c1", Invoke, "acknowledge", json!({"item": 7})),
        ("c1", Ok, "acknowledge", json!({"item": 7})),
        ("named c2", Info, "exit", json!({})),
    ];
    let expected = [
        hold("c1", OperationSubject::Item(7), 1, Some(7)),
        hold("c2", OperationSubject::Item(8), 3, Some(9)),
    ];
    assert_eq!(holds(&mut Record::default(), "queue", &events), expected);
}

#[test]
fn a_stay_ends_when_its_leave_is_sent_or_its_session_is_over() {
    let inside = |session: &str| json!({"round": 3, "session": session});
    let events = [
        ("c1", Invoke, "enter", json!({"round": 3, "members": 2})),
        ("c2", Invoke, "enter", json!({"round": 3, "members": 2})),
        ("c1", Ok, "enter", inside("0x1")),
        ("c2", Ok, "enter", inside("0x2")),
        (
            "named c2",
            Info,
            "session",
            json!({"state": "expired", "session": "0x1"}),
        ),
        (
            "named c2",
            Info,
            "session",
            json!({"state": "expired", "session": "0x2"}),
        ),
        ("c1", Invoke, "leave", json!({"round": 3})),
        ("c1", Ok, "leave", json!({"round": 3})),
    ];
    let expected = [
        hold("c1", OperationSubject::Round(3), 2, Some(6)),
        hold("c2", OperationSubject::Round(3), 3, Some(5)),
    ];
    assert_eq!(holds(&mut Record::default(), "barrier", &events), expected);
}

#[test]
fn where_members_join_who_waits_is_no_member() {
    let events = [
        ("c2", Invoke, "enter", json!({"round": 3, "members": 1})),
        ("c1", Invoke, "join", json!({"round": 3, "members": 1})),
        ("c1", Ok, "join", json!({"round": 3, "session": "0x1"})),
        ("c2", Ok, "enter", json!({"round": 3, "session": "0x2"})),
        ("c1", Invoke, "close", json!({"round": 3})),
    ];
    let expected = [hold("c1", OperationSubject::Round(3), 2, Some(4))];
    assert_eq!(holds(&mut Record::default(), "barrier", &events), expected);
}

#[test]
fn a_vote_binds_until_the_decision_is_heard_also_after_its_process_has_died() {
    let vote = |vote: &str| json!({"tx": "t1", "voted": vote});
    let events = [
        ("c1", Invoke, "vote", json!({"tx": "t1", "vote": "yes"})),
        ("c1", Ok, "vote", vote("yes")),
        ("c2", Invoke, "vote", json!({"tx": "t1", "vote": "no"})),
        ("c2", Ok, "vote", vote("no")),
        ("named c1", Info, "exit", json!({})),
        ("c1", Invoke, "decided", json!({"tx": "t1"})),
        ("c1", Ok, "decided", json!({"tx": "t1", "decision": "abort"})),
    ];
    let expected = [hold("c1", OperationSubject::Transaction("t1"), 1, Some(6))];
    assert_eq!(holds(&mut Record::default(), "commit", &events), expected);
}

#[test]
fn a_window_counts_if_its_client_held_whatever_its_family_calls_that() {
    let given = [
        (
            "barrier",
            "join",
            json!({"round": 3, "session": "0x1"}),
            "was in round 3",
        ),
        (
            "queue",
            "dequeue",
            json!({"item": 7, "path": "/taken/x"}),
            "held item 7",
        ),
        (
            "commit",
            "vote",
            json!({"tx": "t1", "voted": "yes"}),
            "had voted yes in t1",
        ),
    ];
    let strike = |phase: &str| json!({"window": 1, "phase": phase, "target": "c1", "verified": true});
    for (family, f, answer, why) in given {
        for (kind, counts) in [(Ok, true), (EventType::Fail, false)] {
            let events = [
                ("c1", Invoke, f, answer.clone()),
                ("c1", kind, f, answer.clone()),
                ("named nemesis", Info, "kill", strike("begin")),
                ("named nemesis", Info, "kill", strike("on")),
                ("named nemesis", Info, "kill", strike("off")),
            ];
            let mut record = Record::default();
            record.plan.windows = vec![script::window(1, "kill")];
            holds(&mut record, family, &events);
            let window = &Analysis::new(&record).windows[0];
            assert_eq!(window.counts, counts, "{}", window.why);
            assert_eq!(window.why.ends_with(&format!("c1 {why}")), counts, "{}", window.why);
        }
    }
}

#[test]
fn no_hold_begins_with_an_answer_that_was_given_twice() {
    let twice = WAITED_FOR.replace("2 c1 release", "1.75 c1 granted g1\n    2 c1 release");
    for (text, expected) in [(WAITED_FOR, vec!["g1", "g2"]), (&twice, vec!["g2"])] {
        let record = script::lock(text);
        let analysis = Analysis::new(&record);
        let names = analysis.holds().into_iter().filter_map(|hold| match hold.subject {
            OperationSubject::Grant(name) => Some(name),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), expected, "{text}");
    }
}
