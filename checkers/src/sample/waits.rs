//! Finding how long what is waited for took.

use super::kind::{Kind, Waits};
use super::units::{answered, value};
use crate::run::Run;
use crate::stats;
use std::collections::HashMap;

/// Nanoseconds of every wait.
pub fn of(run: &Run<'_>, kind: &Kind) -> Vec<u64> {
    match kind.waits {
        Waits::Grant => stats::hand_overs(run),
        Waits::Item => items(run),
        Waits::Opening => openings(run),
        Waits::Decision => decisions(run),
        Waits::Answer => answered(run, &["read", "write", "cas"])
            .filter_map(|(op, end)| Some(run.time(end) - run.time(op.invoke?)))
            .collect(),
    }
}

fn items(run: &Run<'_>) -> Vec<u64> {
    let mut first: HashMap<String, u64> = HashMap::new();
    for (_, end) in answered(run, &["dequeue"]) {
        if let Some(item) = value(run, end, "item") {
            let earliest = first.entry(item.to_string()).or_insert(u64::MAX);
            *earliest = run.time(end).min(*earliest);
        }
    }
    let delivery = |end: usize| {
        first
            .get(&value(run, end, "item")?.to_string())?
            .checked_sub(run.time(end))
    };
    answered(run, &["enqueue"])
        .filter_map(|(_, end)| delivery(end))
        .collect()
}

fn openings(run: &Run<'_>) -> Vec<u64> {
    // Where members join, somebody else waits; else they wait themselves.
    let joins = run.ops.work.iter().any(|op| op.f == "join");
    let arrives = if joins { "join" } else { "enter" };
    let mut arrivals: HashMap<String, Vec<u64>> = HashMap::new();
    let sent = run
        .ops
        .work
        .iter()
        .filter(|op| op.f == arrives)
        .filter_map(|op| op.invoke);
    for at in sent {
        if let Some(round) = value(run, at, "round") {
            arrivals.entry(round.to_string()).or_default().push(run.time(at));
        }
    }
    let opening = |end: usize| {
        let times = arrivals.get(&value(run, end, "round")?.to_string())?;
        // Operations stand in the order in which they were sent.
        let sent = times.partition_point(|sent| *sent <= run.time(end));
        let last = times[sent.checked_sub(1)?];
        Some(run.time(end) - last)
    };
    answered(run, &["enter"]).filter_map(|(_, end)| opening(end)).collect()
}

fn decisions(run: &Run<'_>) -> Vec<u64> {
    let begins = run
        .ops
        .work
        .iter()
        .filter(|op| op.f == "begin")
        .filter_map(|op| op.invoke);
    let begun: HashMap<String, u64> = begins
        .filter_map(|at| Some((value(run, at, "tx")?.to_string(), run.time(at))))
        .collect();
    let decision = |end: usize| {
        run.time(end)
            .checked_sub(*begun.get(&value(run, end, "tx")?.to_string())?)
    };
    answered(run, &["decided"])
        .filter_map(|(_, end)| decision(end))
        .collect()
}
