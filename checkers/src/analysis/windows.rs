//! Fault windows: which took effect, and which of them count.
//!
//! A window counts if its effect was verified on the spot and somebody could feel it: an operation was in flight, or,
//! for a fault on a client, that client waited, worked or held.

use crate::Record;
use crate::grants::{Grant, Grants};
use crate::history::Event;
use crate::injected::Injected;
use crate::ops::{Op, Ops};
use crate::peaks::Peaks;
use crate::plan::Window;
use crate::results::WindowResult;
use std::collections::{BTreeMap, HashMap};
use zooquake_history::FaultKind;

/// What became of each window of the plan.
pub fn results(
    record: &Record,
    injected: &BTreeMap<i64, Injected<'_>>,
    ops: &Ops<'_>,
    grants: &Grants<'_>,
) -> Vec<WindowResult> {
    let events = record.history.events.as_slice();
    let busy = Busy::new(ops, grants);
    let each = |window: &Window| {
        let marks = i64::try_from(window.id).ok().and_then(|id| injected.get(&id));
        let on = marks.and_then(|marks| marks.on);
        let target = on.and_then(|on| events[on].target()).unwrap_or_default().to_owned();
        let (counts, why) = judge(window, marks, &target, events, &busy);
        let time = |at: Option<usize>| at.map(|at| events[at].time);
        let (from, until) = (time(on), time(marks.and_then(Injected::healed)));
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
    record.plan.windows.iter().map(each).collect()
}

/// The last event that took a fault away, if there is one.
pub fn last_off(events: &[Event]) -> Option<usize> {
    events
        .iter()
        .rposition(|event| event.on_lane("nemesis") && event.phase() == Some("off"))
}

fn judge(
    window: &Window,
    marks: Option<&Injected<'_>>,
    target: &str,
    events: &[Event],
    busy: &Busy<'_, '_>,
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
    let heal = marks.heal.or(marks.off()).unwrap_or(events.len());
    let begin = marks.begin.unwrap_or(on);
    let clients: Vec<&str> = target
        .split(',')
        .map(str::trim)
        .filter(|node| node.starts_with('c'))
        .collect();
    if clients.is_empty() {
        return match busy.any.in_flight(on, heal) {
            Some(op) => (true, format!("verified, and {} of {} was in flight", op.f, op.node)),
            None => (false, "verified, but no operation was in flight".to_owned()),
        };
    }
    let kind = FaultKind::of(&window.fault);
    let until = if kind.fatal { begin } else { heal };
    let theirs = || clients.iter().filter_map(|client| busy.of.get(client));
    let busy_since = |from: usize| {
        theirs()
            .filter_map(|spans| spans.in_flight(from, until))
            .min_by_key(|op| op.invoke)
    };
    // It is armed long before it acts; yet the answer to what it struck may be read before its word of that.
    let struck = window
        .payload
        .as_ref()
        .filter(|_| kind.armed)
        .and_then(|_| busy_since(on));
    if let Some(op) = struck.or_else(|| busy_since(begin)) {
        return (true, format!("verified, and {} of {} was in flight", op.f, op.node));
    }
    let holders = clients.iter().filter_map(|client| busy.holds.get(client));
    let held = holders
        .filter_map(|holds| holds.held(begin, until))
        .min_by_key(|grant| grant.read);
    match held {
        Some(grant) => (true, format!("verified, and {} held {}", grant.node, grant.name)),
        None => (
            false,
            format!("verified, but {} neither held, waited nor worked", clients.join(", ")),
        ),
    }
}

/// Who was busy from when to when, by place in the history.
struct Busy<'r, 'a> {
    any: Spans<'r, 'a>,
    of: HashMap<&'a str, Spans<'r, 'a>>,
    holds: HashMap<&'a str, Holds<'r, 'a>>,
}

/// Operations in the order in which they were sent, and where each was over.
struct Spans<'r, 'a> {
    ops: Vec<&'r Op<'a>>,
    over: Peaks,
}

/// Grants in the order in which they were read, and where each ended.
struct Holds<'r, 'a> {
    grants: Vec<&'r Grant<'a>>,
    over: Peaks,
}

impl<'r, 'a> Busy<'r, 'a> {
    fn new(ops: &'r Ops<'a>, grants: &'r Grants<'a>) -> Self {
        let mut of: HashMap<&str, Vec<&Op<'_>>> = HashMap::new();
        for op in &ops.work {
            of.entry(op.node).or_default().push(op);
        }
        let mut holds: HashMap<&str, Vec<&Grant<'_>>> = HashMap::new();
        for grant in grants.all.iter().filter(|grant| grant.read.is_some()) {
            holds.entry(grant.node).or_default().push(grant);
        }
        Self {
            any: Spans::new(ops.work.iter().collect()),
            of: of.into_iter().map(|(node, ops)| (node, Spans::new(ops))).collect(),
            holds: holds
                .into_iter()
                .map(|(node, grants)| (node, Holds::new(grants)))
                .collect(),
        }
    }
}

impl<'r, 'a> Spans<'r, 'a> {
    fn new(mut ops: Vec<&'r Op<'a>>) -> Self {
        // One whose request is missing may have been sent at any time.
        ops.sort_by_key(|op| op.invoke);
        let over = |op: &&Op<'_>| {
            op.end
                .into_iter()
                .chain(op.cut)
                .min()
                .map_or(u64::MAX, |end| end as u64)
        };
        let over = Peaks::new(ops.iter().map(over).collect());
        Self { ops, over }
    }

    /// The first operation that was in flight at some moment between two events.
    fn in_flight(&self, from: usize, to: usize) -> Option<&'r Op<'a>> {
        let op = self.ops[self.over.first(0, from as u64)?];
        op.in_flight(from, to).then_some(op)
    }
}

impl<'r, 'a> Holds<'r, 'a> {
    fn new(mut grants: Vec<&'r Grant<'a>>) -> Self {
        grants.sort_by_key(|grant| grant.read);
        let over = |grant: &&Grant<'_>| grant.end.map_or(u64::MAX, |end| end as u64);
        let over = Peaks::new(grants.iter().map(over).collect());
        Self { grants, over }
    }

    /// The first grant that was read by the event `until` and had not ended before `begin`.
    fn held(&self, begin: usize, until: usize) -> Option<&'r Grant<'a>> {
        let grant = self.grants[self.over.first(0, begin as u64)?];
        grant.read.is_some_and(|read| read <= until).then_some(grant)
    }
}
