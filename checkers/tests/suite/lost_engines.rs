//! Engines of containers that did not answer while a run went on.

use crate::expect::{count, has_reason, lacks_reason};
use crate::script::{changed, in_time, lock, threatened};
use zooquake_checkers::{Results, check};

/// A lock that c1 holds while its own window is on, with these events beside.
fn judged(beside: &str) -> Results {
    let text = format!(
        "0.1 c1 acquire g1; c1 granted g1; {beside}; 20.0 nemesis pause 1 begin target=c1; 20.1 nemesis pause 1 on target=c1 \
         verified=true; 23.0 nemesis pause 1 off target=c1 verified=true; 30.0 c1 release g1; c1 released g1; 40.0 run done"
    );
    check(&threatened(lock(&in_time(&text)), 1, "pause"))
}

#[test]
fn a_window_into_which_a_loss_falls_does_not_count() {
    for (lost, counts) in [
        ("", true),
        // Before, in, and after the window.
        ("10.0 run unreachable engine; 19.0 run unreachable", true),
        ("21.0 run unreachable engine; 22.0 run unreachable", false),
        ("19.0 run unreachable engine; 25.0 run unreachable", false),
        // It may have been lost up to 7 s before that was seen.
        ("29.0 run unreachable engine; 30.5 run unreachable", false),
        ("31.0 run unreachable engine; 31.5 run unreachable", true),
    ] {
        let results = judged(lost);
        let window = &results.windows[0];
        assert_eq!(window.counts, counts, "{lost}: {}", window.why);
        assert_eq!(window.why.contains("the loss of engine at"), !counts, "{}", window.why);
    }
}

#[test]
fn a_loss_without_an_end_is_a_reason() {
    let never = "the loss of engine at 31.000 s was never healed";
    has_reason(&judged("31.0 run unreachable engine"), never);
    lacks_reason(
        &judged("31.0 run unreachable engine; 32.0 run unreachable"),
        "the loss of",
    );
}

#[test]
fn several_losses_are_told_apart() {
    let results = judged("1.0 run unreachable a b; 2.0 run unreachable b; 3.0 run unreachable; 31.0 run unreachable b");
    let loss = "the loss of b at 31.000 s was never healed";
    let reasons: Vec<&String> = results
        .reasons
        .iter()
        .filter(|reason| reason.contains("the loss of"))
        .collect();
    assert_eq!(reasons, [loss]);
    assert!(results.windows[0].counts, "{}", results.windows[0].why);
}

#[test]
fn elections_are_not_judged_by_logs_with_holes() {
    let note = |text: &str| {
        let record = changed(lock(text), |record| record.servers = Some(Vec::new()));
        count(&check(&record), "a Docker engine was lost") > 0
    };
    assert!(note("1.0 run unreachable engine; 2.0 run unreachable; 9.0 run done"));
    assert!(!note("9.0 run done"));
}
