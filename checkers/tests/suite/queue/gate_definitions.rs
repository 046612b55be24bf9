//! The anomalies of gates by their definitions, as [`super::brute_force`] has those of items.

use super::brute_force::{QueueOp, is_named, ops};
use crate::liveness::{bound, node, phase, recovery};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

/// The operations of one name and round.
fn of_round(events: &[Event], f: &str, round: Option<i64>) -> Vec<QueueOp> {
    let mut all = ops(events, f);
    all.retain(|op| events[op.sent].round() == round);
    all
}

/// Waits that were answered too early, by their answers.
pub fn early(record: &Record) -> BTreeSet<usize> {
    let events = &record.history.events;
    let early = |op: &QueueOp| {
        let round = events[op.sent].round();
        let raised = of_round(events, "raise", round)
            .iter()
            .any(|raise| raise.ok().is_some_and(|at| at < op.sent));
        let lifted = |read: usize| of_round(events, "lift", round).iter().any(|lift| lift.sent < read);
        op.ok().filter(|&read| raised && !lifted(read))
    };
    ops(events, "wait").iter().filter_map(early).collect()
}

/// Waits that stay pending though the gate was lifted: who was sent them, and to which gate.
pub fn stuck(record: &Record) -> BTreeSet<(String, i64)> {
    let events = &record.history.events;
    let Some((recovered, end)) = recovery(events) else {
        return BTreeSet::new();
    };
    let recover = phase(events, "recover").filter(|&at| at < recovered);
    let waits = ops(events, "wait");
    let took = waits
        .iter()
        .filter_map(|op| Some((op.sent, op.ok().filter(|&read| read < end)?)));
    let bound = bound(took.map(|(sent, read)| events[read].time - events[sent].time));
    // From where on a raise does nothing any more; `None` if it may at any time.
    let over = |raise: &QueueOp| match raise.end {
        Some((at, EventType::Ok | EventType::Fail)) => Some(at),
        _ => {
            let exit =
                |at: &usize| is_named(&events[*at]) && events[*at].f == "exit" && node(&events[*at]) == raise.node;
            let exit = (raise.sent..recover.unwrap_or(0).max(raise.sent)).find(exit);
            exit.map(|_| recovered)
        }
    };
    let lifted = |round: Option<i64>| {
        let raises = of_round(events, "raise", round);
        let over: Option<Vec<usize>> = raises.iter().filter(|raise| raise.sent < end).map(over).collect();
        let free = over?.into_iter().max().unwrap_or(0);
        let lifts = of_round(events, "lift", round);
        let read = lifts.iter().filter(|lift| lift.sent >= free).filter_map(QueueOp::ok);
        read.filter(|&read| read < end).min()
    };
    let pending = waits
        .iter()
        .filter(|op| op.sent < end && op.over.is_none_or(|over| over > end));
    let stuck = pending.filter(|op| {
        let lifted = lifted(events[op.sent].round());
        let since = lifted.map(|lifted| lifted.max(op.sent).max(recovered));
        since.is_some_and(|since| events[end].time - events[since].time >= bound)
    });
    stuck
        .map(|op| (op.node.clone(), events[op.sent].round().expect("a round")))
        .collect()
}
