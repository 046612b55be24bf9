//! The anomalies of barriers by their definitions, as [`super::brute_force`] has those of items.

use super::brute_force::{QueueOp, is_named, ops};
use crate::liveness::{bound, node, phase, recovery};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

fn round(events: &[Event], op: &QueueOp) -> i64 {
    events[op.sent].round().expect("a round")
}

/// The member that an operation was sent to: the client, or the number that its request names.
fn member(events: &[Event], op: &QueueOp) -> (String, Option<i64>) {
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
    let entered = |op: &QueueOp| {
        let sent = joins
            .iter()
            .filter(|join| round(events, join) == round(events, op) && Some(join.sent) < op.ok());
        let members: BTreeSet<_> = sent.map(|join| member(events, join)).collect();
        op.ok()
            .filter(|_| (members.len() as i64) < events[op.sent].members().expect("a number"))
    };
    let left = |op: &QueueOp| {
        op.ok().filter(|&read| {
            leaves.iter().any(|other| {
                let same = |one: &&QueueOp| one.node == other.node && round(events, one) == round(events, op);
                let removed = other.ok().and_then(|at| events[at].value["removed"]["czxid"].as_i64());
                let stay =
                    enters.iter().filter(same).filter_map(QueueOp::ok).find(|&at| {
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
    let Some((recovered, end)) = recovery(events) else {
        return vec![];
    };
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
    let stuck = |op: &QueueOp| {
        let since = |member: &QueueOp| {
            if tutorial {
                member.ok().unwrap_or(end)
            } else {
                member.sent
            }
        };
        let mut there: Vec<&QueueOp> = members
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
fn gone(events: &[Event], op: &QueueOp, end: usize) -> bool {
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

/// Leaves that stay pending though nobody else is in the round: who was sent them, and of which round.
pub fn stuck_leaves(record: &Record) -> Vec<(String, i64)> {
    let events = &record.history.events;
    let Some((recovered, end)) = recovery(events) else {
        return vec![];
    };
    let (enters, leaves) = (ops(events, "enter"), ops(events, "leave"));
    let recover = phase(events, "recover").filter(|&at| at < recovered).unwrap_or(0);
    let took = leaves
        .iter()
        .filter_map(|op| Some((op.sent, op.ok().filter(|&read| read < end)?)));
    let bound = bound(took.map(|(sent, read)| events[read].time - events[sent].time));
    // Since when a client is not in a round for certain; `None` if it may be.
    let gone = |client: &str, number: i64| {
        let own = |op: &&QueueOp| op.node == client && round(events, op) == number && op.sent < end;
        let Some(entered) = enters
            .iter()
            .filter(own)
            .filter(|op| !op.failed())
            .map(|op| op.sent)
            .max()
        else {
            return Some(0);
        };
        let kept = |op: &&QueueOp| match op.end {
            Some((at, kind)) => at > end || kind == EventType::Ok,
            None => op.over.is_none_or(|over| over > end),
        };
        let left = leaves
            .iter()
            .filter(own)
            .filter(kept)
            .map(|op| op.sent)
            .find(|&at| at > entered);
        let exit = |at: &usize| is_named(&events[*at]) && events[*at].f == "exit" && node(&events[*at]) == client;
        let over = (entered..recover.max(entered)).find(exit).map(|_| recovered);
        left.into_iter().chain(over).min()
    };
    let clients: BTreeSet<&str> = enters.iter().map(|op| op.node.as_str()).collect();
    let stuck = |op: &&QueueOp| {
        let until = match op.end.filter(|&(at, _)| at < end) {
            Some((at, EventType::Info)) if at > recovered => at,
            None if op.over.is_none_or(|over| over > end) => end,
            _ => return false,
        };
        let others = clients.iter().filter(|client| **client != op.node);
        let others: Option<Vec<usize>> = others.map(|client| gone(client, round(events, op))).collect();
        others.is_some_and(|others| {
            let since = others.into_iter().chain([recovered, op.sent]).max().unwrap_or(0);
            events[until].time.saturating_sub(events[since].time) >= bound
        })
    };
    let stuck = leaves.iter().filter(|op| op.sent < end).filter(stuck);
    let all: BTreeSet<(String, i64)> = stuck.map(|op| (op.node.clone(), round(events, op))).collect();
    all.into_iter().collect()
}
