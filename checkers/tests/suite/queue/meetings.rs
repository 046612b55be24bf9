//! The anomalies of barriers by their definitions, as [`super::brute`] has those of items.

use super::brute::{Op, is_named, node, ops};
use crate::spoilt::phase;
use std::collections::BTreeSet;
use zooquake_checkers::{Event, EventType, Record};

fn round(events: &[Event], op: &Op) -> i64 {
    events[op.sent].round().expect("a round")
}

/// The member that an operation was sent to: the client, or the number that its request names.
fn member(events: &[Event], op: &Op) -> (String, Option<i64>) {
    match events[op.sent].value["member"].as_i64() {
        Some(number) => (String::new(), Some(number)),
        None => (op.node.clone(), None),
    }
}

/// Enters and leaves that were answered too early, by their answers.
pub fn early(record: &Record) -> BTreeSet<usize> {
    let events = &record.history.events;
    let tutorial = record.plan.workload.variant == "tutorial";
    let (enters, leaves) = (ops(events, "enter"), ops(events, "leave"));
    let joins = if tutorial { ops(events, "join") } else { enters.clone() };
    let entered = |op: &Op| {
        let sent = joins
            .iter()
            .filter(|join| round(events, join) == round(events, op) && Some(join.sent) < op.ok());
        let members: BTreeSet<_> = sent.map(|join| member(events, join)).collect();
        op.ok()
            .filter(|_| (members.len() as i64) < events[op.sent].members().expect("a number"))
    };
    let left = |op: &Op| {
        op.ok().filter(|&read| {
            leaves.iter().any(|other| {
                let same = |one: &&Op| one.node == other.node && round(events, one) == round(events, op);
                let removed = other.ok().and_then(|at| events[at].value["removed"]["czxid"].as_i64());
                let stay =
                    enters.iter().filter(same).filter_map(Op::ok).find(|&at| {
                        at < op.sent && removed.is_some() && events[at].czxid() == removed && at < other.sent
                    });
                let died = |from: usize| {
                    let dies = |at: usize| is_named(&events[at]) && events[at].f == "exit";
                    (from..other.sent).any(|at| dies(at) && node(&events[at]) == other.node)
                };
                let stay = stay.filter(|&entered| !died(entered));
                // It was sent leave before, if an earlier one is of the stay.
                let first = leaves.iter().filter(|one| same(one) && Some(one.sent) > stay);
                let first = first.map(|one| one.sent).min();
                other.node != op.node
                    && round(events, other) == round(events, op)
                    && stay.is_some()
                    && first > Some(read)
            })
        })
    };
    let early = enters.iter().filter_map(entered);
    early
        .chain(leaves.iter().filter(|_| !tutorial).filter_map(left))
        .collect()
}

/// Enters that stay pending though all members are there: who was sent them, and to which round.
pub fn stuck(record: &Record) -> Vec<(String, i64)> {
    let events = &record.history.events;
    let tutorial = record.plan.workload.variant == "tutorial";
    let (Some(recovered), Some(end)) = (phase(events, "recovered"), phase(events, "audit")) else {
        return vec![];
    };
    if crate::drawn::doubtful(events, recovered, end) {
        return vec![];
    }
    let mut members = ops(events, if tutorial { "join" } else { "enter" });
    members.retain(|op| {
        if tutorial {
            op.ok().is_some()
        } else {
            op.end.is_none() || op.ok().is_some()
        }
    });
    members.retain(|op| !gone(events, op, end));
    let waiting = ops(events, "enter")
        .into_iter()
        .filter(|op| op.over.is_none() && op.sent < end);
    let stuck = |op: &Op| {
        let since = |member: &Op| {
            if tutorial {
                member.ok().unwrap_or(end)
            } else {
                member.sent
            }
        };
        let mut there: Vec<&Op> = members
            .iter()
            .filter(|member| round(events, member) == round(events, op))
            .collect();
        if !tutorial {
            there.retain(|member| member.node != op.node);
        }
        let mut seen = BTreeSet::new();
        there.retain(|one| seen.insert(member(events, one)));
        let wanted = events[op.sent].members().expect("a number") as usize - usize::from(!tutorial);
        let mut moments: Vec<usize> = there.into_iter().map(since).collect();
        moments.sort_unstable();
        let all = wanted.checked_sub(1).and_then(|last| moments.get(last).copied());
        all.is_some_and(|all| {
            events[end]
                .time
                .saturating_sub(events[all.max(recovered).max(op.sent)].time)
                >= 10_000_000_000
        })
    };
    waiting
        .filter(stuck)
        .map(|op| (op.node.clone(), round(events, &op)))
        .collect()
}

/// Whether a member is not there any more at the end.
fn gone(events: &[Event], op: &Op, end: usize) -> bool {
    let answer = op.ok().map(|at| &events[at]);
    let ended = (op.sent..end).any(|at| {
        let event = &events[at];
        let over = event.state() == Some("expired") && answer.is_some_and(|ok| ok.session() == event.session());
        is_named(event) && node(event) == op.node && (event.f == "exit" || event.f == "session" && over)
    });
    let told = |event: &&Event| node(event) == op.node && event.round() == events[op.sent].round();
    let later = || events[op.sent.min(end)..end].iter();
    let closed = later().any(|event| event.f == "close" && event.kind == EventType::Invoke && node(event) == op.node);
    let left = ops(events, "leave")
        .iter()
        .any(|leave| leave.end.is_some_and(|(at, _)| op.sent < at && at < end) && told(&&events[leave.sent]));
    ended || answer.is_some() && (closed || left)
}
