//! The events at which a spell may begin or end.

use crate::analysis::{Analysis, first_after, ops};
use std::collections::HashMap;
use zooquake_history::EventType;
use zooquake_history::operation::control::f;

/// What changes with an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum HoldChange<'a> {
    /// Somebody may hold from now on.
    Hold,
    /// It does not any more.
    HoldEnd,
    /// This client waits from now on.
    Wait(&'a str),
    /// The request that was sent there, by this client, waits no more.
    WaitEnd(usize, &'a str),
    /// A window begins.
    Window,
    /// One was seen healed.
    Healing,
    /// A notice of a session.
    Session {
        node: &'a str,
        session: &'a str,
        state: &'a str,
    },
    /// The process of this client ended.
    Exit(&'a str),
    /// A client confirmed that it holds.
    Belief,
    /// The harness stood still before this event.
    Stall,
}

/// All changes, each with its event, in the order of these.
pub(super) fn changes<'a>(run: &Analysis<'a>) -> Vec<(usize, HoldChange<'a>)> {
    let mut changes = Vec::new();
    requests(run, &mut changes);
    for window in run.injected.values().filter(|window| window.was_on()) {
        changes.extend(window.began().map(|at| (at, HoldChange::Window)));
        changes.extend(window.healed().map(|at| (at, HoldChange::Healing)));
    }
    for (at, event) in run.events.iter().enumerate() {
        let client = ops::named_client(event);
        let change = match (event.f.as_str(), event.kind, client) {
            ("session", EventType::Info, Some(node)) => event.state().map(|state| HoldChange::Session {
                node,
                session: event.session().unwrap_or_default(),
                state,
            }),
            ("exit", EventType::Info, Some(node)) => Some(HoldChange::Exit(node)),
            (f::CONFIRM, EventType::Ok, Some(_)) if event.holds() == Some(true) => Some(HoldChange::Belief),
            ("stall", _, _) if event.is_of("run") => Some(HoldChange::Stall),
            _ => None,
        };
        changes.extend(change.map(|change| (at, change)));
    }
    // What ends one thing and begins another does both.
    changes.sort_by_key(|&(at, _)| at);
    changes
}

/// Who waits and who may hold. A grant may be held from its answer on, also one of unknown outcome, until its return is
/// answered; if that is unknown, until its client asks anew or its process ends.
fn requests<'a>(run: &Analysis<'a>, changes: &mut Vec<(usize, HoldChange<'a>)>) {
    let ends = hold_ends(run);
    for op in run.ops.work.iter().filter(|op| op.f == run.names.ops.takes) {
        let over = op.end.into_iter().chain(op.cut).min();
        if let Some(sent) = op.sent() {
            changes.push((sent, HoldChange::Wait(op.node)));
            changes.extend(over.map(|over| (over, HoldChange::WaitEnd(sent, op.node))));
        }
        let Some(end) = op.end.filter(|&end| run.events[end].kind != EventType::Fail) else {
            continue;
        };
        let until = ends.get(op.node).and_then(|ends| first_after(ends, end));
        changes.push((end, HoldChange::Hold));
        changes.extend(until.map(|until| (until, HoldChange::HoldEnd)));
    }
}

/// By client the events that end what it may hold, in their order.
fn hold_ends<'a>(run: &Analysis<'a>) -> HashMap<&'a str, Vec<usize>> {
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    let known = |at: &usize| matches!(run.events[*at].kind, EventType::Ok | EventType::Fail);
    for op in &run.ops.work {
        let end = match op.f {
            f if f == run.names.ops.takes => op.invoke,
            f if f == run.names.ops.gives => op.end.filter(known),
            _ => None,
        };
        ends.entry(op.node).or_default().extend(end);
    }
    for (node, exits) in &run.clients.exits {
        ends.entry(node).or_default().extend(exits);
    }
    ends.values_mut().for_each(|ends| ends.sort_unstable());
    ends
}
