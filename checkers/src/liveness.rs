//! Liveness after recovery: while nobody holds, an acquire does not stay pending for long, nor is it refused again and again.
//!
//! The clock runs from the phase `recovered` to the phase `audit`, and only while nobody holds. The bound is ten times
//! the median duration of the run's answered acquires, at least ten seconds. If the run cannot be judged
//! ([`crate::recovery`]) nobody is convicted.

use crate::analysis::Analysis;
use crate::findings::{Findings, Found};
use crate::history::EventType;
use crate::ops::Op;
use crate::pending::{How, Unfinished, idle, of_bound, unfinished};
use crate::recovery::Span;
use crate::text::seconds;
use std::collections::HashSet;

/// Nanoseconds that an acquire may stay pending though nobody holds, whatever the run's median.
const LEAST_BOUND: u64 = 10_000_000_000;

/// Looks for acquires that are never granted. What did not finish and cannot be judged is a reason against `valid`.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        out.ran(run.names.pending, 0);
        return;
    };
    let bound = bound(run, run.names.acquire);
    let free = Free::new(run, span);
    let all = unfinished(run, span);
    let (mut looked_at, mut told) = (0, HashSet::new());
    for one in &all {
        if !one.made_up {
            told.insert(one.op.node);
        }
        if one.op.f != run.names.acquire {
            if !one.made_up {
                out.reasons.push(one.reason(run, ""));
            }
            continue;
        }
        looked_at += 1;
        let longest = free.longest(run, one, span);
        let waited = longest.as_ref().map_or(0, |spell| spell.waited);
        match longest.filter(|spell| spell.waited >= bound && run.recovery.doubt().is_none()) {
            Some(spell) => convict(run, one, &spell, (span, bound), out),
            None if one.made_up && waited < bound => {}
            None => {
                let why = format!(", and nobody held {} for {}", run.names.thing, of_bound(waited, bound));
                out.reasons.push(one.reason(run, &why));
            }
        }
    }
    idle(run, span, told, true, out);
    out.ran(run.names.pending, looked_at);
}

/// Ten times the median duration of the answered operations of this name, in nanoseconds, at least [`LEAST_BOUND`].
pub fn bound(run: &Analysis<'_>, f: &str) -> u64 {
    let answered = |op: &&Op<'_>| op.f == f && op.end.is_some_and(|end| run.events[end].kind == EventType::Ok);
    // One whose request is missing may have been sent at any time.
    let sent = |op: &Op<'_>| op.sent().map_or(0, |at| run.time(at));
    let duration = |op: &Op<'_>| Some(run.time(op.end?).saturating_sub(sent(op)));
    let mut durations: Vec<u64> = run.ops.work.iter().filter(answered).filter_map(duration).collect();
    durations.sort_unstable();
    let median = durations.get(durations.len() / 2).copied().unwrap_or(0);
    median.saturating_mul(10).max(LEAST_BOUND)
}

/// When nobody held, from recovery on.
struct Free {
    /// Begin and end in nanoseconds since the run began, in order, and how much was free before each.
    spans: Vec<(u64, u64, u64)>,
}

impl Free {
    fn new(run: &Analysis<'_>, Span { recovered, end, .. }: Span) -> Self {
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

    /// The longest spell in which a client asked and nobody held. A refusal while somebody held says nothing; it neither
    /// begins nor ends a spell of refusals.
    fn longest(&self, run: &Analysis<'_>, one: &Unfinished<'_, '_>, span: Span) -> Option<Spell> {
        let from = |asked: usize| run.time(asked.max(span.clock));
        let waited = |asked: usize, until: usize| self.between(from(asked), run.time(until));
        let spell = |(asked, until), attempts| Spell {
            asked,
            until,
            waited: waited(asked, until),
            attempts,
        };
        let longest = one
            .attempts
            .iter()
            .map(|&alone| spell(alone, 1))
            .max_by_key(|spell| spell.waited);
        let free =
            |&&(asked, until): &&(usize, usize)| waited(asked, until) == run.time(until).saturating_sub(from(asked));
        let mut refused = one.attempts.iter().filter(|_| one.how == How::Failed).filter(free);
        let (Some(&(asked, first)), count) = (refused.next(), refused.clone().count()) else {
            return longest;
        };
        let until = refused.next_back().map_or(first, |&(_, until)| until);
        let all = spell((asked, until), count + 1);
        longest.filter(|longest| longest.waited >= all.waited).or(Some(all))
    }
}

/// From a sending to an end, nanoseconds of it in which nobody held, and how many attempts were made in it.
struct Spell {
    asked: usize,
    until: usize,
    waited: u64,
    attempts: usize,
}

fn convict(
    run: &Analysis<'_>,
    one: &Unfinished<'_, '_>,
    spell: &Spell,
    (span, bound): (Span, u64),
    out: &mut Findings,
) {
    let Spell {
        asked,
        until,
        waited,
        attempts,
    } = *spell;
    let name = run.events[asked].grant().unwrap_or("without a name");
    let (at, asks, thing) = (run.at(until), run.names.acquire, run.names.thing);
    let what = match (one.how, attempts) {
        (How::Pending, _) => format!("was not answered by {at}"),
        (How::Unknown, _) => format!("was not granted it by {at}, when its `{asks}` ended with an unknown outcome"),
        (How::Failed, 1) => format!("was not granted it by {at}, when its `{asks}` failed"),
        (How::Failed, _) => {
            let within = |&&(from, to): &&(usize, usize)| asked <= from && to <= until;
            let count = one.attempts.iter().filter(within).count();
            format!("was refused, and asked again: it was refused {count} times by {at}")
        }
    };
    let why = format!(
        "{} asked for grant {name} at {} and {what}, though every fault was healed and the ensemble had recovered at {}, and \
         nobody held {thing} for {} of the time after that. The bound is {}: ten times the median of the run's answered \
         `{asks}` operations, at least ten seconds.",
        one.op.node,
        run.at(asked),
        run.at(span.recovered),
        seconds(waited),
        seconds(bound),
    );
    let witness = vec![asked, span.recovered, until];
    let found = Found {
        kind: run.names.pending,
        property: "liveness",
        advisory: false,
        witness,
        why,
    };
    out.add_at_end(run, found, Some(run.time(asked)));
}
