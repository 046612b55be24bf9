//! Engines of containers that did not answer while a run went on.

use crate::script::{lock, window};
use zooquake_checkers::{Results, check};

/// A lock that c1 holds while its own window is on, with these events beside.
fn judged(beside: &str) -> Results {
    let text = format!(
        "0.1 c1 acquire g1; c1 granted g1; {beside}; 20.0 nemesis pause 1 begin target=c1; 20.1 nemesis pause 1 on target=c1 \
         verified=true; 23.0 nemesis pause 1 off target=c1 verified=true; 30.0 c1 release g1; c1 released g1; 40.0 run done"
    );
    let mut lines: Vec<(f64, usize, String)> = Vec::new();
    let mut now = 0.0;
    for (number, line) in text
        .split(';')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
    {
        now = line
            .split(' ')
            .next()
            .and_then(|first| first.parse().ok())
            .unwrap_or(now);
        lines.push((now, number, line.to_owned()));
    }
    lines.sort_by(|(one, n, _), (other, m, _)| one.total_cmp(other).then(n.cmp(m)));
    let lines: Vec<String> = lines.into_iter().map(|(_, _, line)| line).collect();
    let mut record = lock(&lines.join("; "));
    record.plan.faults = vec!["pause".to_owned()];
    record.plan.windows = vec![window(1, "pause")];
    check(&record)
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
        let named = window.why.contains("the loss of engine at");
        assert_eq!(named, !counts, "{}", window.why);
    }
}

#[test]
fn a_loss_without_an_end_is_a_reason() {
    let reasons = judged("31.0 run unreachable engine").reasons;
    let never = reasons
        .iter()
        .any(|reason| reason.contains("the loss of engine at 31.000 s was never healed"));
    assert!(never, "{reasons:?}");
    let reasons = judged("31.0 run unreachable engine; 32.0 run unreachable").reasons;
    assert!(
        reasons.iter().all(|reason| !reason.contains("the loss of")),
        "{reasons:?}"
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
        let mut record = lock(text);
        record.servers = Some(Vec::new());
        let reasons = check(&record).reasons;
        reasons.iter().any(|reason| reason.contains("a Docker engine was lost"))
    };
    assert!(note("1.0 run unreachable engine; 2.0 run unreachable; 9.0 run done"));
    assert!(!note("9.0 run done"));
}
