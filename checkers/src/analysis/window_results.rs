//! Fault windows: which took effect, and which of them count.
//!
//! A window counts if its effect was verified on the spot and somebody could feel it: an operation was in flight, or,
//! for a fault on a client, that client waited, worked or held.

use super::intervals::Intervals;
use super::{Analysis, Hold, InjectedFault, Op, OperationSubject};
use crate::results::WindowResult;
use crate::text::count;
use std::collections::HashMap;
use zooquake_history::{Event, FaultKind, plan::Window};

/// What became of each window of the plan, in the plan's order. All of the analysis is read but its `windows`.
pub fn results(analysis: &Analysis<'_>) -> Vec<WindowResult> {
    let (events, windows) = (analysis.events, &analysis.record.plan.windows);
    if windows.is_empty() {
        return Vec::new();
    }
    let busy = BusySpans::new(analysis);
    let each = |window: &Window| {
        let marks = i64::try_from(window.id).ok().and_then(|id| analysis.injected.get(&id));
        let on = marks.and_then(|marks| marks.on);
        let target = on.and_then(|on| events[on].target()).unwrap_or_default().to_owned();
        let (counts, why) = judge(window, marks, &target, events, &busy);
        let time = |at: Option<usize>| at.map(|at| events[at].time);
        let (from, until) = (time(on), time(marks.and_then(InjectedFault::healed)));
        WindowResult {
            id: window.id,
            fault: window.fault.clone(),
            target,
            counts,
            why,
            from,
            until,
        }
    };
    windows.iter().map(each).collect()
}

/// The last event that took a fault away, if there is one.
pub fn last_off(events: &[Event]) -> Option<usize> {
    events
        .iter()
        .rposition(|event| event.is_of("nemesis") && event.phase() == Some("off"))
}

fn judge(
    window: &Window,
    marks: Option<&InjectedFault<'_>>,
    target: &str,
    events: &[Event],
    busy: &BusySpans<'_, '_>,
) -> (bool, String) {
    let detail = |at: usize| {
        events[at]
            .detail()
            .map(|detail| format!(": {detail}"))
            .unwrap_or_default()
    };
    let Some(marks) = marks else {
        return (false, "it never began".to_owned());
    };
    let Some(on) = marks.on else {
        return match (marks.skipped, marks.began()) {
            (Some(at), _) => (false, format!("it never began{}", detail(at))),
            (None, Some(_)) => (false, "it began and was never seen to take effect".to_owned()),
            (None, None) => (false, "it never began".to_owned()),
        };
    };
    if events[on].verified() != Some(true) {
        return (false, format!("its effect was not verified{}", detail(on)));
    }
    if let Some(loss) = busy.losses.iter().find(|loss| loss.overlaps(marks, events.len())) {
        return (false, format!("verified, but {} fell into it", loss.words(events)));
    }
    if let Some(hit) = marks.off().and_then(|off| events[off].hit()) {
        return (
            hit > 0,
            format!(
                "verified, and it hit {}",
                count(hit as usize, "message, timer or request")
            ),
        );
    }
    let heal = marks.heal.or(marks.off()).unwrap_or(events.len());
    let kind = FaultKind::by_name(&window.fault);
    // What a client answers before it is seen frozen, it did not feel.
    let since = marks.begin.filter(|_| !kind.freezes).unwrap_or(on);
    let clients: Vec<&str> = target
        .split(',')
        .map(str::trim)
        .filter(|node| node.starts_with('c'))
        .collect();
    if clients.is_empty() {
        return match busy.any.meeting(on as u64, heal as u64).next() {
            Some(op) => (true, format!("verified, and {} of {} was in flight", op.f, op.node)),
            None => (false, "verified, but no operation was in flight".to_owned()),
        };
    }
    let until = if kind.fatal { since } else { heal };
    let theirs = || clients.iter().filter_map(|client| busy.of.get(client));
    let busy_since = |from: usize| {
        theirs()
            .filter_map(|ops| ops.meeting(from as u64, until as u64).next())
            .min_by_key(|op| op.invoke)
    };
    // The fault is armed long before it acts; yet the answer to what it struck may be read before the event that
    // reports it.
    let struck = window
        .payload
        .as_ref()
        .filter(|_| kind.armed)
        .and_then(|_| busy_since(on));
    if let Some(op) = struck.or_else(|| busy_since(since)) {
        return (true, format!("verified, and {} of {} was in flight", op.f, op.node));
    }
    let holders = clients.iter().filter_map(|client| busy.holds.get(client));
    let held = holders
        .filter_map(|holds| holds.meeting(since as u64, until as u64).next())
        .min_by_key(|hold| hold.from);
    // A whole host's servers are felt by the clients elsewhere too.
    let servers = target.split(',').any(|node| node.trim().starts_with('n'));
    let elsewhere = servers.then(|| busy.any.meeting(on as u64, heal as u64).next());
    match (held, elsewhere.flatten()) {
        (Some(hold), _) => (
            true,
            format!("verified, and {} {}", hold.node, what_is_held(hold.subject)),
        ),
        (None, Some(op)) => (true, format!("verified, and {} of {} was in flight", op.f, op.node)),
        (None, None) => (
            false,
            format!("verified, but {} neither held, waited nor worked", clients.join(", ")),
        ),
    }
}

/// Who was busy from when to when, by place in the history.
struct BusySpans<'r, 'a> {
    any: Intervals<&'r Op<'a>>,
    of: HashMap<&'a str, Intervals<&'r Op<'a>>>,
    holds: HashMap<&'a str, Intervals<Hold<'a>>>,
    /// The losses of engines: who felt what in them is not known.
    losses: Vec<&'r InjectedFault<'a>>,
}

impl<'r, 'a> BusySpans<'r, 'a> {
    fn new(analysis: &'r Analysis<'a>) -> Self {
        let ops = &analysis.ops;
        let place = |at: usize| at as u64;
        // One whose request is missing may have been sent at any time.
        let op = |op: &'r Op<'a>| {
            let over = op.end.into_iter().chain(op.cut).min();
            (op.invoke.map_or(0, place), over.map_or(u64::MAX, place), op)
        };
        let mut of: HashMap<&str, Vec<_>> = HashMap::new();
        for one in &ops.work {
            of.entry(one.node).or_default().push(op(one));
        }
        let mut holds: HashMap<&str, Vec<_>> = HashMap::new();
        for hold in analysis.holds() {
            let span = (place(hold.from), hold.until.map_or(u64::MAX, place), hold);
            holds.entry(hold.node).or_default().push(span);
        }
        Self {
            any: Intervals::new(ops.work.iter().map(op)),
            of: intervals(of),
            holds: intervals(holds),
            losses: analysis
                .injected
                .values()
                .filter(|window| window.is_engine_loss())
                .collect(),
        }
    }
}

/// What a client did that held this, as the end of a sentence about it.
fn what_is_held(subject: OperationSubject<'_>) -> String {
    match subject {
        OperationSubject::Grant(grant) => format!("held {grant}"),
        OperationSubject::Item(item) => format!("held item {item}"),
        OperationSubject::Round(round) => format!("was in round {round}"),
        OperationSubject::Transaction(tx) => format!("had voted yes in {tx}"),
    }
}

fn intervals<T>(of: HashMap<&str, Vec<(u64, u64, T)>>) -> HashMap<&str, Intervals<T>> {
    of.into_iter().map(|(node, all)| (node, Intervals::new(all))).collect()
}
