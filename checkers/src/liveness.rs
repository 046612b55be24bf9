//! Liveness after recovery: while nobody holds, an acquire does not stay pending for long.
//!
//! The clock runs from the phase `recovered` to the phase `audit`, and only while nobody holds. The bound is ten times
//! the median duration of the run's answered acquires, at least ten seconds.

use crate::findings::{Findings, Found};
use crate::history::EventType;
use crate::ops::Op;
use crate::run::{Run, seconds};

/// Nanoseconds that an acquire may stay pending though nobody holds, whatever the run's median.
const LEAST_BOUND: u64 = 10_000_000_000;

/// Looks for acquires that are never granted. What is pending and cannot be judged is a reason against `valid`.
pub fn check(run: &Run<'_>, out: &mut Findings) {
    let Some(recovered) = run.phase("recovered") else {
        out.ran(run.names.pending, 0);
        return;
    };
    let last = run.events.len() - 1;
    let end = run.phase("audit").filter(|&audit| audit > recovered).unwrap_or(last);
    let bound = bound(run, run.names.acquire);
    let free = Free::new(run, recovered, end);
    let mut looked_at = 0;
    for op in &run.ops.work {
        let Some(asked) = op.invoke.filter(|&asked| asked < end) else {
            continue;
        };
        let Some(until) = pending_until(run, op, recovered, end) else {
            continue;
        };
        looked_at += 1;
        if op.f != run.names.acquire {
            let since = run.at(asked);
            out.reasons.push(format!(
                "the {} of {} sent at {since} was still pending after recovery",
                op.f, op.node
            ));
            continue;
        }
        let waited = free.between(run.time(asked.max(recovered)), run.time(until));
        if waited >= bound {
            pending(
                run,
                Pending {
                    op,
                    asked,
                    recovered,
                    until,
                    waited,
                    bound,
                },
                out,
            );
        } else {
            out.reasons.push(format!(
                "the {} of {} sent at {} was still pending after recovery, but nobody held {} for only {} of the {} after \
                 which that convicts",
                op.f,
                op.node,
                run.at(asked),
                run.names.thing,
                seconds(waited),
                seconds(bound),
            ));
        }
    }
    out.ran(run.names.pending, looked_at);
}

/// Ten times the median duration of the answered operations of this name, in nanoseconds, at least [`LEAST_BOUND`].
pub fn bound(run: &Run<'_>, f: &str) -> u64 {
    let answered = |op: &&Op<'_>| op.f == f && op.end.is_some_and(|end| run.events[end].kind == EventType::Ok);
    let duration = |op: &Op<'_>| Some(run.time(op.end?).saturating_sub(run.time(op.invoke?)));
    let mut durations: Vec<u64> = run.ops.work.iter().filter(answered).filter_map(duration).collect();
    durations.sort_unstable();
    let median = durations.get(durations.len() / 2).copied().unwrap_or(0);
    median.saturating_mul(10).max(LEAST_BOUND)
}

/// The event up to which the operation of a living client counts as pending after recovery; `None` if it does not.
pub fn pending_until(run: &Run<'_>, op: &Op<'_>, recovered: usize, end: usize) -> Option<usize> {
    if op.cut.is_some_and(|cut| cut <= end) {
        return None;
    }
    match op.end.filter(|&done| done <= end) {
        None => Some(end),
        Some(done) => {
            let event = &run.events[done];
            let error = event.error.as_deref().unwrap_or_default();
            let gave_up = event.kind != EventType::Ok && (error.contains("timeout") || error.contains("timed out"));
            (done > recovered && gave_up).then_some(done)
        }
    }
}

/// When nobody held, from recovery on.
struct Free {
    /// Begin and end in nanoseconds since the run began, in order, and how much was free before each.
    spans: Vec<(u64, u64, u64)>,
}

impl Free {
    fn new(run: &Run<'_>, recovered: usize, end: usize) -> Self {
        let mut changes: Vec<(usize, i64)> = Vec::new();
        for grant in &run.grants.all {
            if let Some(read) = grant.read {
                changes.push((read, 1));
                changes.extend(grant.end.map(|end| (end.max(read), -1)));
            }
        }
        changes.sort_unstable();
        let mut free = Self { spans: Vec::new() };
        let (mut held, mut since) = (0, recovered);
        for (at, change) in changes.into_iter().filter(|&(at, _)| at < end) {
            if held == 0 && at > recovered {
                free.push(run.time(since), run.time(at));
            }
            held += change;
            since = at.max(recovered);
        }
        if held == 0 {
            free.push(run.time(since), run.time(end));
        }
        free
    }

    fn push(&mut self, from: u64, to: u64) {
        let before = self.spans.last().map_or(0, |&(from, to, before)| before + (to - from));
        if from < to {
            self.spans.push((from, to, before));
        }
    }

    /// Nanoseconds between two moments while nobody held.
    fn between(&self, from: u64, to: u64) -> u64 {
        self.until(to).saturating_sub(self.until(from))
    }

    fn until(&self, moment: u64) -> u64 {
        let span = self.spans.partition_point(|&(from, _, _)| from < moment).checked_sub(1);
        span.map_or(0, |span| {
            let (from, to, before) = self.spans[span];
            before + moment.min(to).saturating_sub(from)
        })
    }
}

struct Pending<'a> {
    op: &'a Op<'a>,
    asked: usize,
    recovered: usize,
    until: usize,
    waited: u64,
    bound: u64,
}

fn pending(
    run: &Run<'_>,
    Pending {
        op,
        asked,
        recovered,
        until,
        waited,
        bound,
    }: Pending<'_>,
    out: &mut Findings,
) {
    let name = run.events[asked].str("grant").unwrap_or("without a name");
    let why = format!(
        "{} asked for grant {name} at {} and was not answered by {}, though every fault was healed and the ensemble had \
         recovered at {}, and nobody held {} for {} of the time after that. The bound is {}: ten times the median of the \
         run's answered `{}` operations, at least ten seconds.",
        op.node,
        run.at(asked),
        run.at(until),
        run.at(recovered),
        run.names.thing,
        seconds(waited),
        seconds(bound),
        run.names.acquire,
    );
    let witness = vec![asked, recovered, until];
    let found = Found {
        kind: run.names.pending,
        property: "liveness",
        advisory: false,
        witness,
        why,
    };
    out.add_at_end(run, found, Some(run.time(asked)));
}
