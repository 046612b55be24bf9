use super::{cut, of_three, setting};
use crate::model::bounds::ModelBounds;
use crate::model::folder;
use crate::model::search::{Counterexample, SearchEffort, search};
use std::fs;
use zooquake_history::Record;
use zooquake_history::files::Files;
use zooquake_history::plan::{ClusterPlan, Target, Trigger, Window};
use zooquake_network::tracing::TraceItem;
use zooquake_workloads::consensus::planted;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// The shortest path to a violation of a planted bug within bounds, in which these nodes and links are cut off. The run
/// of its script, by the sizes of the variant, is read back from its folder, and judged to be the anomaly that is
/// expected.
fn convict(id: &str, leaders: u8, (within, cut_off): (ModelBounds, &[&str])) -> Counterexample {
    let planted = planted::find(id).expect("there is such a bug");
    let (variant, cluster) = of_three(planted.variant.name);
    let setting = setting(variant.name, leaders);
    let within = cut(within, &setting, cut_off);
    let outcome = search(&setting, variant.goal, within, SearchEffort::default()).expect("it has bounds");
    let found = outcome.counterexample.expect("a violation");
    assert_eq!(found.violation.anomaly(), planted.expected);

    assert_eq!(anomalies_of_run(variant, &cluster, &found), [planted.expected]);
    found
}

/// The anomalies of the run of a counterexample, read back from its folder.
fn anomalies_of_run(variant: &ConsensusVariant, cluster: &ClusterPlan, found: &Counterexample) -> Vec<String> {
    let plan = folder::plan(variant, 0, cluster, found);
    let played = folder::record(&plan).expect("a plan for a network");
    let run = tempfile::tempdir().expect("a folder");
    folder::write(&played, run.path()).expect("written");
    let file = |name: &str| fs::read(run.path().join(name)).expect(name);
    let (plan, history, messages) = (file("plan.json"), file("history.jsonl"), file("messages.jsonl"));
    let read = Record::read(Files {
        plan: Some(&plan),
        history: Some(&history),
        messages: Some(&messages),
        ..Files::default()
    });
    assert_eq!((&read.plan, &read.history), (&played.plan, &played.history));
    let anomalies = zooquake_checkers::check(&read).anomalies;
    anomalies.into_iter().map(|anomaly| anomaly.kind).collect()
}

#[test]
fn an_acceptor_that_forgets_its_promise_is_convicted() {
    let found = convict("C1", 2, (ModelBounds::new(2, 1), &["acceptor3", "proposer1"]));
    assert_eq!((found.items.len(), found.messages()), (21, 18));
}

#[test]
fn processes_die_and_start_again_in_windows() {
    let mut found = convict("C1", 2, (ModelBounds::new(2, 1), &["acceptor3", "proposer1"]));
    // Of the acceptor that is cut off, and of a proposer that is not heard of again.
    found.items.insert(4, TraceItem::Kill(2));
    found.items.insert(9, TraceItem::Start(2));
    found.items.insert(11, TraceItem::Kill(6));
    let (variant, cluster) = of_three("planted-C1");
    let plan = folder::plan(variant, 0, &cluster, &found);
    let window = |window: &Window| (window.target.clone(), window.trigger.clone(), window.duration_ms);
    let of = |name: &str, at_ms, duration_ms| (Target::Node(name.into()), Trigger::At { at_ms }, duration_ms);
    let windows: Vec<_> = plan.windows.iter().map(window).collect();
    assert_eq!(windows, [of("acceptor3", 5, 5), of("proposer1", 12, 13)]);
    assert_eq!(anomalies_of_run(variant, &cluster, &found), ["disagreement"]);
}

#[test]
fn fast_quorums_of_a_plain_majority_are_convicted() {
    let cut = [
        "proposer1",
        "proposer2",
        "proposer1:acceptor2",
        "proposer1:acceptor3",
        "proposer2:acceptor1",
        "acceptor3:coordinator1",
        "learner1:coordinator1",
    ];
    let found = convict("C2", 1, (ModelBounds::new(2, 1), &cut));
    assert_eq!((found.items.len(), found.messages()), (21, 18));
}

#[test]
fn votes_compared_without_their_epochs_are_convicted() {
    let found = convict("C3", 0, (ModelBounds::new(1, 0), &[]));
    assert_eq!((found.items.len(), found.messages()), (3, 2));
}
