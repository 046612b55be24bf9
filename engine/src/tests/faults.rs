//! Triggers, what the nemesis asks, and scenes, in which it has the ensemble to itself.

use super::*;
use zooquake_history::plan::{ClientState, Scene, Target, Trigger, Window};

fn window(trigger: Trigger) -> NemesisReport {
    NemesisReport::Arm(Box::new(Window {
        id: 1,
        fault: "pause".to_string(),
        target: Target::Client,
        payload: None,
        trigger,
        duration_ms: 1_000,
        beside: false,
    }))
}

pub(super) fn in_state(state: ClientState, after_ms: u64) -> NemesisReport {
    window(Trigger::State {
        state,
        client: None,
        from_ms: 0,
        after_ms,
    })
}

fn fired(client: Option<usize>, holder: Option<usize>) -> Option<NemesisAnswer> {
    Some(NemesisAnswer::Fired(TriggerFiring {
        client: client.map(Node::client),
        holder: holder.map(Node::client),
    }))
}

#[test]
fn a_moment_comes_and_names_the_holder() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.ok(1, "acquire");
    bench.report(5, window(Trigger::At { at_ms: 300 }));
    bench.pass(298);
    assert_eq!(bench.answers(), []);
    bench.pass(1);
    assert_eq!(bench.answers(), [(5, fired(None, Some(2)))]);
}

#[test]
fn a_holder_is_struck_when_its_work_has_lasted_long_enough() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, in_state(ClientState::Working, 200));
    bench.pass(500);
    assert_eq!(bench.answers(), [], "nobody works");
    bench.ok(0, "acquire");
    bench.pass(199);
    assert_eq!(bench.answers(), []);
    bench.pass(1);
    assert_eq!(bench.answers(), [(5, fired(Some(1), Some(1)))]);
    bench.pass(1_000);
    assert_eq!(bench.answers(), [], "it fires once");
}

/// A window of this number that strikes the client whose state fires it, or the target.
fn numbered(id: usize, target: Target, trigger: Trigger) -> NemesisReport {
    NemesisReport::Arm(Box::new(Window {
        id,
        fault: "pause".to_string(),
        target,
        payload: None,
        trigger,
        duration_ms: 1_000,
        beside: true,
    }))
}

fn state_of(client: Option<usize>, state: ClientState, after_ms: u64) -> Trigger {
    Trigger::State {
        state,
        client: client.map(Node::client),
        from_ms: 0,
        after_ms,
    }
}

fn recorded(window: usize, phase: &str, target: &str) -> NemesisReport {
    let value = json!({ "phase": phase, "window": window, "target": target, "verified": true });
    NemesisReport::Record(HistoryEntry::named("nemesis", "pause", value))
}

#[test]
fn one_that_holds_is_struck_from_its_grant_to_its_end_whatever_it_does() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, in_state(ClientState::Holding, 450));
    bench.pass(500);
    assert_eq!(bench.answers(), [], "nobody holds");
    bench.ok_at_once(0, "acquire");
    bench.pass(449);
    assert_eq!(bench.answers(), []);
    bench.pass(1);
    assert_eq!(
        bench.answers(),
        [(5, fired(Some(1), Some(1)))],
        "its write is over after 400 ms"
    );
}

#[test]
fn the_state_of_a_certain_client_is_not_that_of_another() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, window(state_of(Some(2), ClientState::Working, 100)));
    bench.ok_at_once(0, "acquire");
    bench.pass(399);
    assert_eq!(bench.answers(), [], "c1 works");
    bench.ok(0, "write");
    bench.pass(10);
    bench.ok(0, "release");
    bench.ok_at_once(1, "acquire");
    bench.pass(100);
    assert_eq!(bench.answers(), [(5, fired(Some(2), Some(2)))]);
}

#[test]
fn a_window_begins_after_so_many_answers_of_all_clients() {
    let count = |operations| Trigger::Count {
        operations,
        by_ms: 1_000,
    };
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, numbered(1, Target::Leader, count(2)));
    bench.report(6, numbered(2, Target::Leader, count(50)));
    bench.ok_at_once(0, "acquire");
    bench.pass(100);
    assert_eq!(bench.answers(), [], "one operation was answered");
    bench.ok_at_once(0, "write");
    assert_eq!(bench.answers(), [(5, fired(None, Some(1)))]);
    bench.pass(8_800);
    assert_eq!(bench.answers(), []);
    bench.pass(200);
    assert_eq!(
        bench.answers(),
        [(6, None)],
        "8 s after it should have begun it is refused"
    );
}

#[test]
fn several_windows_wait_for_their_triggers_at_once() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, numbered(1, Target::Leader, Trigger::At { at_ms: 700 }));
    bench.report(
        6,
        numbered(2, Target::Client, state_of(None, ClientState::Working, 100)),
    );
    bench.report(7, numbered(3, Target::Leader, Trigger::At { at_ms: 300 }));
    bench.ok_at_once(0, "acquire");
    bench.pass(150);
    assert_eq!(bench.answers(), [(6, fired(Some(1), Some(1)))]);
    bench.pass(200);
    assert_eq!(bench.answers(), [(7, fired(None, Some(1)))]);
    bench.pass(400);
    assert_eq!(bench.answers(), [(5, fired(None, Some(1)))]);
}

#[test]
fn a_client_that_a_window_hits_is_struck_by_another_one_only_once_that_was_healed() {
    let working = || state_of(None, ClientState::Working, 100);
    let mut bench = Bench::running("semaphore/leases", 2);
    bench.answers();
    bench.report(5, numbered(1, Target::Client, working()));
    bench.report(6, numbered(2, Target::Client, working()));
    bench.report(7, numbered(3, Target::Leader, working()));
    bench.ok_at_once(0, "acquire");
    bench.pass(100);
    let both = [(5, fired(Some(1), Some(1))), (7, fired(Some(1), Some(1)))];
    assert_eq!(bench.answers(), both, "the leader is not the client");
    bench.report(8, recorded(1, "begin", "c1"));
    bench.pass(50);
    bench.answers();
    bench.ok_at_once(1, "acquire");
    bench.pass(100);
    assert_eq!(bench.answers(), [(6, fired(Some(2), Some(1)))]);
    bench.report(9, recorded(2, "begin", "c2"));
    bench.report(10, numbered(4, Target::Client, state_of(None, ClientState::Holding, 0)));
    bench.pass(50);
    bench.answers();
    bench.report(11, recorded(1, "off", "c1"));
    assert_eq!(
        bench.answers(),
        [(11, Some(NemesisAnswer::Done)), (10, fired(Some(1), Some(1)))]
    );
}

#[test]
fn work_that_has_too_little_left_is_not_struck() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.answers();
    bench.report(5, in_state(ClientState::Working, 301));
    bench.ok(0, "acquire");
    bench.pass(7_900);
    assert_eq!(bench.answers(), []);
    bench.pass(200);
    assert_eq!(bench.answers(), [(5, None)], "after 8 s it is refused");
}

#[test]
fn one_that_waits_is_struck_while_another_holds() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.report(5, in_state(ClientState::Waiting, 10));
    bench.pass(100);
    assert_eq!(bench.answers(), []);
    bench.ok(0, "acquire");
    assert_eq!(bench.answers(), [(5, fired(Some(2), Some(1)))]);
}

#[test]
fn a_member_is_struck_between_its_join_and_its_close() {
    let mut bench = Bench::running("barrier/tutorial", 3);
    bench.answers();
    bench.report(5, in_state(ClientState::Answered("join".into()), 150));
    bench.pass(100);
    bench.answer(0, "join", Outcome::Fail, Value::Null);
    bench.pass(200);
    assert_eq!(bench.answers(), [], "it has not joined");
    bench.ok(1, "join");
    bench.pass(149);
    assert_eq!(bench.answers(), []);
    bench.pass(1);
    assert_eq!(bench.answers(), [(5, fired(Some(2), None))]);
    bench.report(6, in_state(ClientState::Answered("join".into()), 200));
    bench.all_ok("join");
    bench.ok(2, "enter");
    bench.pass(1_000);
    assert!(bench.asked(0, "close") && bench.asked(1, "close"));
    bench.report(7, in_state(ClientState::Answered("join".into()), 500));
    bench.pass(1_000);
    let [(6, _)] = bench.answers()[..] else {
        panic!("whose session is being closed is not struck")
    };
}

#[test]
fn what_still_waits_when_the_operations_are_over_is_refused() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.pass(9_000);
    bench.answers();
    bench.report(5, in_state(ClientState::Working, 200));
    bench.pass(1_000);
    assert_eq!(bench.answers(), [(5, None)]);
    assert_eq!(bench.phases()[..2], ["ops", "heal"]);
}

#[test]
fn the_begin_of_a_window_is_on_disk_before_the_nemesis_goes_on() {
    let mut bench = Bench::running("lock/fenced", 1);
    let report = |phase: &str| {
        let value = json!({ "phase": phase, "window": 1, "verified": true });
        NemesisReport::Record(HistoryEntry::named("nemesis", "pause", value))
    };
    let begin = bench.engine.step(
        bench.now,
        Input::Nemesis {
            token: 3,
            report: report("begin"),
        },
    );
    let [Effect::Record(entry), Effect::Sync, Effect::Answer { token: 3, answer }] = &begin[..] else {
        panic!("{begin:?}");
    };
    assert_eq!(
        (&entry.process, answer),
        (&Process::Name("nemesis".into()), &Some(NemesisAnswer::Done))
    );
    bench.effects.clear();
    bench.report(4, report("on"));
    assert!(!took!(bench, Effect::Sync));
}

#[test]
fn a_client_that_is_killed_on_purpose_completes_its_operation_and_is_started_again() {
    let mut bench = Bench::working("lock/fenced", 2);
    bench.answers();
    bench.report(5, NemesisReport::Killing(Node::client(1)));
    bench.ask_control(0, "confirm");
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(bench.answers(), [(5, Some(NemesisAnswer::Done))], "and the run goes on");
    assert_eq!(bench.ends("write"), [EventType::Info]);
    assert_eq!(bench.ends("confirm"), [EventType::Info]);
    assert_eq!(
        (bench.holder(), bench.history.last().unwrap().f.as_str()),
        (None, "exit")
    );

    bench.report(6, NemesisReport::Restart(Node::client(1)));
    assert_eq!(bench.starting, [(0, 2)]);
    assert_eq!(bench.answers(), []);
    bench.sent.clear();
    bench.greet(&[]);
    assert_eq!(bench.answers(), [(6, Some(NemesisAnswer::Done))]);
    bench.pass(0);
    assert!(bench.asked(0, "acquire"));
}

#[test]
fn what_an_earlier_process_says_counts_no_more() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.report(5, NemesisReport::Killing(Node::client(1)));
    bench.output(0, ProcessOutput::Ended);
    bench.report(6, NemesisReport::Restart(Node::client(1)));
    bench.greet(&[]);
    let events = bench.history.len();
    bench.step(Input::Client {
        client: 0,
        incarnation: 1,
        output: ProcessOutput::Ended,
    });
    assert_eq!((bench.broken(), bench.history.len()), (None, events));
}

#[test]
fn a_window_that_is_not_seen_healed_and_a_client_that_does_not_run_forbid_recovery() {
    let mut bench = Bench::running("lock/fenced", 2);
    let report = |phase: &str, verified: bool| {
        let value = json!({ "phase": phase, "window": 7, "verified": verified });
        NemesisReport::Record(HistoryEntry::named("nemesis", "pause", value))
    };
    bench.report(3, report("begin", true));
    bench.report(4, report("off", false));
    bench.report(5, NemesisReport::Killing(Node::client(2)));
    bench.output(1, ProcessOutput::Ended);
    bench.pass(TIME_MS + 59_000);
    assert_eq!(bench.phases(), ["ops", "heal"]);
    bench.pass(1_000);
    let why = "not-recovered: after 60 s not seen to be healed: window 7; not running: c2";
    assert_eq!(bench.phases(), ["ops", "heal", why, "audit"]);
    assert!(
        took!(bench, Effect::Ask(Question::Tree)),
        "the evidence is read all the same"
    );
}

fn scene() -> Bench {
    let mut bench = Bench::planned("lock/fenced", 0, |plan| {
        plan.workload.family = "ensemble".to_string();
        plan.scenes = vec![Scene {
            name: String::new(),
            winner: Node::server(1),
            rule: String::new(),
            steps: Vec::new(),
        }];
    });
    bench.step(Input::Begin);
    assert!(took!(bench, Effect::Strike));
    bench
}

fn scene_step(phase: &str) -> NemesisReport {
    let value = json!({ "scene": "zxid", "step": 1, "phase": phase, "detail": "n1 started" });
    NemesisReport::Record(HistoryEntry::named("scene", "start", value))
}

#[test]
fn a_step_of_a_scene_is_on_disk_before_it_happens_and_told_when_it_is_over() {
    let mut bench = scene();
    bench.report(1, scene_step("begin"));
    let effects = std::mem::take(&mut bench.effects);
    assert!(
        matches!(effects[..], [Effect::Sync, Effect::Answer { token: 1, .. }]),
        "{effects:?}"
    );
    bench.report(2, scene_step("done"));
    assert!(took!(bench, Effect::Say(text) if text == "  start: n1 started"));
    assert_eq!(bench.history.len(), 2);
}

#[test]
fn a_scene_is_over_when_the_nemesis_is_done_and_nothing_follows() {
    let mut bench = scene();
    bench.pass(600_000);
    assert!(!took!(bench, _), "it takes as long as it takes");
    bench.report(1, NemesisReport::Done);
    assert!(took!(bench, Effect::Done(Conclusion::Played)));
    assert_eq!(bench.phases(), [""; 0]);
}

#[test]
fn the_user_stops_the_nemesis_and_that_ends_the_scene() {
    let mut bench = scene();
    bench.step(Input::Interrupted);
    assert!(took!(bench, Effect::Over));
    bench.report(1, NemesisReport::Done);
    assert!(took!(bench, Effect::Done(Conclusion::Interrupted)));
    assert_eq!(bench.phases(), ["interrupted"]);
}
