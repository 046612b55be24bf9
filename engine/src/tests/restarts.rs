//! Clients of a user's own recipe that end by themselves.

use super::*;
use serde_json::json;
use zooquake_history::plan::RecipeSource;

/// A run of one's own recipe by two clients, which may end twice in a window.
fn bench() -> Bench {
    Bench::with("lock/fenced", 2, |plan| {
        plan.workload.recipe = Some(RecipeSource {
            max_restarts: 2,
            ..RecipeSource::default()
        });
    })
}

fn fault(bench: &mut Bench, phase: &str) {
    let verified = (phase != "begin").then_some(true);
    let value = json!({"window": 1, "phase": phase, "target": "n1", "verified": verified});
    bench.report(7, NemesisReport::Record(HistoryEntry::named("nemesis", "pause", value)));
}

/// The ends of processes, and whether each ended by itself.
fn exits(bench: &Bench) -> Vec<(Node, Value)> {
    let exits = bench.history.iter().filter(|entry| entry.f == "exit");
    exits
        .map(|entry| (entry.node.clone().unwrap(), entry.value.clone()))
        .collect()
}

#[test]
fn one_that_ends_by_itself_is_recorded_and_started_again() {
    let mut bench = bench();
    bench.ok(0, "acquire");
    bench.pass(100);
    assert!(bench.asked(0, "write"));
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(bench.broken(), None);
    assert_eq!(bench.ends("write"), [EventType::Info]);
    let by_itself = json!({"incarnation": 1, "by_itself": true});
    assert_eq!(exits(&bench), [(Node::client(1), by_itself)]);
    assert_eq!(bench.holder(), None);
    bench.pass(999);
    assert_eq!(bench.starting, []);
    bench.pass(1);
    assert_eq!(bench.starting, [(0, 2)]);
    bench.sent.clear();
    bench.greet(&[]);
    bench.pass(50);
    assert!(bench.asked(0, "acquire"), "it begins anew");
}

#[test]
fn without_a_window_it_is_started_again_and_again() {
    let mut bench = bench();
    for incarnation in 2..8 {
        bench.output(1, ProcessOutput::Ended);
        bench.pass(1_000);
        assert_eq!(bench.starting, [(1, incarnation)]);
        bench.greet(&[]);
    }
    assert_eq!(bench.broken(), None);
}

#[test]
fn one_that_ends_too_often_in_a_window_stays_dead_until_it_is_healed() {
    let mut bench = bench();
    fault(&mut bench, "begin");
    for incarnation in 2..4 {
        bench.output(0, ProcessOutput::Ended);
        bench.pass(1_000);
        assert_eq!(bench.starting, [(0, incarnation)]);
        bench.greet(&[]);
    }
    bench.output(0, ProcessOutput::Ended);
    bench.pass(3_000);
    assert_eq!(bench.starting, []);
    fault(&mut bench, "off");
    bench.pass(1_000);
    assert_eq!(bench.starting, [(0, 4)]);
    bench.greet(&[]);
    bench.output(0, ProcessOutput::Ended);
    bench.pass(1_000);
    assert_eq!(bench.starting, [(0, 5)], "what was before counts no more");
}

#[test]
fn a_kill_is_no_end_by_itself_and_only_the_nemesis_starts_it_again() {
    let mut bench = bench();
    bench.answers();
    bench.report(5, NemesisReport::Killing(Node::client(1)));
    assert_eq!(bench.answers(), [(5, Some(NemesisAnswer::Done))]);
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(exits(&bench), [(Node::client(1), json!({"incarnation": 1}))]);
    bench.pass(5_000);
    assert_eq!(bench.starting, []);
}

#[test]
fn one_that_is_dead_already_when_it_is_killed_is_left_to_the_nemesis() {
    let mut bench = bench();
    bench.output(0, ProcessOutput::Ended);
    bench.answers();
    bench.report(5, NemesisReport::Killing(Node::client(1)));
    assert_eq!(bench.answers(), [(5, Some(NemesisAnswer::Done))]);
    bench.pass(5_000);
    assert_eq!(bench.starting, []);
    bench.report(6, NemesisReport::Restart(Node::client(1)));
    bench.greet(&[]);
    assert_eq!(bench.answers(), [(6, Some(NemesisAnswer::Done))]);
}

#[test]
fn one_that_is_being_started_is_killed_once_it_runs() {
    let mut bench = bench();
    bench.output(0, ProcessOutput::Ended);
    bench.pass(1_000);
    bench.answers();
    bench.report(5, NemesisReport::Killing(Node::client(1)));
    assert_eq!(bench.answers(), []);
    bench.greet(&[]);
    assert_eq!(bench.answers(), [(5, Some(NemesisAnswer::Done))]);
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(exits(&bench)[1].1, json!({"incarnation": 2}), "that was the kill");
}

#[test]
fn one_that_ends_before_the_run_has_begun_ends_the_run() {
    let mut bench = Bench::planned("lock/fenced", 1, |plan| {
        plan.workload.recipe = Some(RecipeSource::default());
    });
    bench.step(Input::Begin);
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(bench.broken().unwrap(), "client c1 ended by itself.");
}

/// A run of a built-in variant by two clients, whose ends are those of their streams alone.
fn unreachable() -> Bench {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.answers();
    bench.unreachable = Some("the way to c1 was lost with its Docker engine".to_string());
    bench
}

#[test]
fn one_to_which_the_way_is_lost_is_started_until_there_is_one_again() {
    let mut bench = unreachable();
    bench.step(Input::Engines(vec!["the Docker engine".to_string()]));
    bench.output(0, ProcessOutput::Ended);
    for incarnation in 2..5 {
        bench.pass(1_000);
        assert_eq!(bench.starting, [(0, incarnation)]);
        bench.starting.clear();
        bench.step(Input::Started {
            client: 0,
            incarnation,
            started: Err(StartError {
                why: "the Docker engine of c1 does not answer".to_string(),
                unreachable: true,
            }),
        });
    }
    bench.step(Input::Engines(Vec::new()));
    bench.pass(1_000);
    assert_eq!(bench.starting, [(0, 5)]);
    bench.greet(&[]);
    assert_eq!(bench.broken(), None);
    let engines = bench.history.iter().filter(|entry| entry.f == "unreachable");
    let engines: Vec<&Value> = engines.map(|entry| &entry.value).collect();
    assert_eq!(
        engines,
        [&json!({"engines": ["the Docker engine"]}), &json!({"engines": []})]
    );
}

#[test]
fn one_that_is_lost_is_killed_once_it_runs_again() {
    let mut bench = unreachable();
    bench.output(0, ProcessOutput::Ended);
    bench.pass(1_000);
    bench.report(3, NemesisReport::Killing(Node::client(1)));
    assert_eq!(bench.answers(), [], "it is being started");
    bench.greet(&[]);
    assert_eq!(bench.answers(), [(3, Some(NemesisAnswer::Done))]);
    bench.output(0, ProcessOutput::Ended);
    bench.pass(5_000);
    assert_eq!(bench.starting, [], "the nemesis starts it again");
}

#[test]
fn a_restart_by_the_nemesis_that_finds_no_way_is_refused_and_left_to_it() {
    let mut bench = unreachable();
    bench.report(3, NemesisReport::Killing(Node::client(1)));
    bench.output(0, ProcessOutput::Ended);
    bench.report(4, NemesisReport::Restart(Node::client(1)));
    assert_eq!(std::mem::take(&mut bench.starting), [(0, 2)]);
    bench.answers();
    bench.step(Input::Started {
        client: 0,
        incarnation: 2,
        started: Err(StartError {
            why: "the Docker engine of c1 does not answer".to_string(),
            unreachable: true,
        }),
    });
    assert_eq!(bench.answers(), [(4, None)]);
    bench.pass(5_000);
    assert_eq!(bench.starting, []);
    bench.report(5, NemesisReport::Restart(Node::client(1)));
    assert_eq!(bench.starting, [(0, 3)]);
    bench.greet(&[]);
    assert_eq!(bench.answers(), [(5, Some(NemesisAnswer::Done))]);
}
