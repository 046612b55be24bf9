//! Scenes: the nemesis has the ensemble to itself.

use super::*;
use zooquake_history::plan::Scene;

fn scene() -> Bench {
    let mut bench = Bench::planned("lock/fenced", 0, |plan| {
        plan.workload.family = "ensemble".to_string();
        plan.scenes = vec![Scene::default()];
    });
    bench.step(Input::Begin);
    assert!(took!(bench, Effect::Strike));
    bench
}

fn step(phase: &str) -> NemesisReport {
    let value = json!({ "scene": "zxid", "step": 1, "phase": phase, "detail": "n1 started" });
    NemesisReport::Record(HistoryEntry::named("scene", "start", value))
}

#[test]
fn a_step_is_on_disk_before_it_happens_and_told_when_it_is_over() {
    let mut bench = scene();
    bench.report(1, step("begin"));
    let effects = std::mem::take(&mut bench.effects);
    assert!(
        matches!(effects[..], [Effect::Sync, Effect::Answer { token: 1, .. }]),
        "{effects:?}"
    );
    bench.report(2, step("done"));
    assert!(took!(bench, Effect::Say(text) if text == "  start: n1 started"));
    assert_eq!(bench.history.len(), 2);
}

#[test]
fn it_is_over_when_the_nemesis_is_done_and_nothing_follows() {
    let mut bench = scene();
    bench.pass(600_000);
    assert!(!took!(bench, _), "it takes as long as it takes");
    bench.report(1, NemesisReport::Done);
    assert!(took!(bench, Effect::Done(Conclusion::Played)));
    assert_eq!(bench.phases(), [""; 0]);
}

#[test]
fn the_user_stops_the_nemesis_and_that_ends_it() {
    let mut bench = scene();
    bench.step(Input::Interrupted);
    assert!(took!(bench, Effect::Over));
    bench.report(1, NemesisReport::Done);
    assert!(took!(bench, Effect::Done(Conclusion::Interrupted)));
    assert_eq!(bench.phases(), ["interrupted"]);
}
