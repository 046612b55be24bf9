//! Scenes, played by the same run as the faults are.

use super::{Ran, run, run_until};
use crate::planning::scenes::VARIANTS;
use std::time::Duration;
use zooquake_checkers::Verdict;
use zooquake_history::Node;
use zooquake_history::plan::{Act, ClusterPlan, Plan, Scene, Step};

fn scene(name: &str, steps: &[(Act, &[&str])]) -> Scene {
    let step = |(act, servers): &(Act, &[&str])| Step {
        act: *act,
        servers: servers.iter().copied().map(Node::from).collect(),
    };
    Scene {
        name: name.to_string(),
        winner: Node::server(2),
        rule: "sid".to_string(),
        steps: steps.iter().map(step).collect(),
    }
}

fn plan(scenes: Vec<Scene>) -> Plan {
    Plan {
        workload: (VARIANTS[0].workload)(),
        cluster: ClusterPlan {
            servers: 3,
            ..ClusterPlan::default()
        },
        scenes,
        ..Plan::default()
    }
}

/// Every act once; in memory the highest name leads.
fn whole() -> Scene {
    scene(
        "whole",
        &[
            (Act::Start, &["n1", "n2", "n3"]),
            (Act::Lead, &["n3", "n1", "n2"]),
            (Act::Write, &["n3"]),
            (Act::Level, &["n1", "n2", "n3"]),
            (Act::Kill, &["n3"]),
            (Act::Lead, &["n2", "n1"]),
            (Act::Cut, &["n1"]),
            (Act::Lose, &["n1", "n2"]),
            (Act::Heal, &["n1"]),
            (Act::Elect, &["n1", "n2"]),
        ],
    )
}

/// The steps as the history records them: scene, number, act, phase; then, of one that is over, whether its effect was
/// seen.
fn told(ran: &Ran) -> Vec<String> {
    let events = ran.record.history.events.iter();
    let steps = events.filter(|event| event.is_of("scene")).map(|event| {
        let verified = event.verified().map(|verified| format!(" {verified}"));
        format!(
            "{} {} {} {}{}",
            event.scene().unwrap(),
            event.step().unwrap(),
            event.f,
            event.phase().unwrap(),
            verified.unwrap_or_default()
        )
    });
    steps.collect()
}

/// Begin and end of each step of a scene whose effects are all seen.
fn seen(scene: &Scene) -> Vec<String> {
    let told = (1..).zip(&scene.steps).flat_map(|(number, step)| {
        let told = |how: &str| format!("{} {number} {} {how}", scene.name, step.act.name());
        [told("begin"), told("done true")]
    });
    told.collect()
}

#[test]
fn each_scene_is_played_on_a_fresh_ensemble_step_by_step() {
    let again = Scene {
        name: "again".to_string(),
        ..whole()
    };
    let ran = run(plan(vec![whole(), again.clone()]));
    assert_eq!(told(&ran), [seen(&whole()), seen(&again)].concat());
    assert_eq!(ran.phases(), ["done"]);
    let events = &ran.record.history.events;
    assert_eq!([&events[0].f, &events[1].f], ["clock", "confinement"]);
    let ends = events.iter().filter(|event| event.step() == Some(10));
    let leaders: Vec<&str> = ends.filter_map(|event| event.leader()).collect();
    assert_eq!(leaders, ["n2"; 2]);
    // What the first one wrote is not there for the second.
    let zxids = events
        .iter()
        .filter(|event| event.f == "level")
        .map(|event| &event.value["zxids"]);
    let zxids: Vec<_> = zxids.filter(|zxids| zxids.is_object()).collect();
    assert!(zxids.len() == 2 && zxids[0] == zxids[1], "{zxids:?}");
    let samples = ran.record.servers.as_ref().expect("samples");
    let first = events
        .iter()
        .find(|event| event.scene() == Some("again"))
        .expect("the second scene");
    let led = |after: bool| {
        samples
            .iter()
            .any(|one| one.mode == "leader" && (one.time > first.time) == after)
    };
    assert!(led(false) && led(true), "both ensembles were asked");
    assert_eq!((ran.record.tree.is_none(), ran.record.txnlog.is_none()), (true, true));
}

#[test]
fn a_step_that_does_not_come_about_ends_its_scene_and_no_other() {
    let fails = scene(
        "fails",
        &[
            (Act::Start, &["n1", "n2", "n3"]),
            (Act::Lead, &["n1", "n2", "n3"]),
            (Act::Kill, &["n1"]),
        ],
    );
    let ran = run(plan(vec![fails, whole()]));
    let first = [
        "fails 1 start begin",
        "fails 1 start done true",
        "fails 2 lead begin",
        "fails 2 lead done false",
    ];
    assert_eq!(told(&ran), [first.map(String::from).to_vec(), seen(&whole())].concat());
    assert_eq!((ran.phases(), ran.results.verdict), (vec!["done"], Verdict::Unknown));
    let why = "scene fails: step 2 (lead) did not come about: n3 leads instead of n1";
    assert!(
        ran.results.reasons.iter().any(|reason| reason == why),
        "{:?}",
        ran.results.reasons
    );
}

#[test]
fn what_was_played_before_the_user_stopped_it_is_kept() {
    // One of three never serves.
    let waits = scene(
        "waits",
        &[(Act::Start, &["n1"]), (Act::Elect, &["n1"]), (Act::Kill, &["n1"])],
    );
    let ran = run_until(plan(vec![whole(), waits]), Some(Duration::from_secs(30)));
    let last = ["waits 1 start begin", "waits 1 start done true", "waits 2 elect begin"];
    assert_eq!(told(&ran), [seen(&whole()), last.map(String::from).to_vec()].concat());
    assert_eq!(ran.phases(), ["interrupted"]);
    let stopped = ran.record.history.events.last().expect("an event");
    assert!((29_000..31_000).contains(&(stopped.time / 1_000_000)), "{stopped:?}");
    let samples = ran.record.servers.as_ref().expect("samples");
    assert!(samples.iter().any(|sample| sample.mode == "leader"));
    assert!(samples.last().is_some_and(|last| last.time > 28_000_000_000));
    assert!(
        ran.results
            .reasons
            .iter()
            .any(|reason| reason == "the run was interrupted")
    );
}
