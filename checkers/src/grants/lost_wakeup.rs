//! Liveness after recovery: while nobody holds in a way that excludes it, an acquire does not stay pending for long,
//! nor is it refused again and again.
//!
//! The clock runs from the phase `recovered` to the phase `audit`, and only in free time
//! ([`GrantableTime`]). The bound is ten times the median duration of the run's answered acquires, at
//! least ten seconds. If the run cannot be judged ([`crate::analysis::recovery`]) nobody is convicted.

use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, mode};
use crate::cause::{AnomalySubject, WaitingClient};
use crate::findings::{Finding, Findings};
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, unfinished,
};
use crate::text::seconds;
use zooquake_history::EventType;
use zooquake_history::operation::{Holders, Mode};

/// Looks for acquires that are never granted. What did not finish and cannot be judged is a reason against `valid`.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        return out.ran(run.names.pending, 0);
    };
    let bound = LivenessBounds::new(run, span).bound(run.names.ops.takes);
    let free = GrantableTime::new(run, span);
    let all = unfinished(run, span);
    let mut looked_at = 0;
    for one in &all {
        if one.op.f != run.names.ops.takes {
            if !one.made_up {
                out.reasons.push(one.reason(run, ""));
            }
            continue;
        }
        looked_at += 1;
        let longest = longest(run, &free, one, span);
        let waited = longest.as_ref().map_or(0, |spell| spell.waited);
        match longest.filter(|spell| spell.waited >= bound && run.recovery.doubt().is_none()) {
            Some(spell) => convict(run, one, &spell, (span, bound), out),
            None if one.made_up && waited < bound => {}
            None => {
                let why = format!(", and {} for {}", nobody(run), bound_words(waited, bound));
                out.reasons.push(one.reason(run, &why));
            }
        }
    }
    idle(run, span, open_clients(&all), true, out);
    out.ran(run.names.pending, looked_at);
}

/// The longest spell in which a client asked and nobody held. A refusal while somebody held proves nothing; it neither
/// begins nor ends a spell of refusals.
fn longest(
    run: &Analysis<'_>,
    free: &GrantableTime,
    one: &UnfinishedOps<'_, '_>,
    span: RecoverySpan,
) -> Option<WaitSpell> {
    let from = |asked: usize| run.time(asked.max(span.clock));
    let waited = |free: &GrantableSpans, asked: usize, until: usize| free.between(from(asked), run.time(until));
    let alone = |&(asked, until): &(usize, usize)| WaitSpell {
        asked,
        until,
        waited: waited(free.for_requests(run, [asked]), asked, until),
        attempts: 1,
    };
    let longest = one.attempts.iter().map(alone).max_by_key(|spell| spell.waited);
    let whole = |attempt: &&(usize, usize)| {
        let WaitSpell {
            asked, until, waited, ..
        } = alone(attempt);
        waited == run.time(until).saturating_sub(from(asked))
    };
    let refused = || {
        one.attempts
            .iter()
            .filter(|_| one.how != UnfinishedOutcome::Pending)
            .filter(whole)
    };
    let (Some(&(asked, _)), Some(&(_, until))) = (refused().next(), refused().next_back()) else {
        return longest;
    };
    let free = free.for_requests(run, refused().map(|&(asked, _)| asked));
    let all = WaitSpell {
        asked,
        until,
        waited: waited(free, asked, until),
        attempts: refused().count(),
    };
    longest.filter(|longest| longest.waited >= all.waited).or(Some(all))
}

/// Whose absence makes time free, in words.
fn nobody(run: &Analysis<'_>) -> String {
    let thing = run.names.thing;
    match (run.plain(), run.grants.moded) {
        (true, _) => format!("nobody held {thing}"),
        (false, true) => format!("nobody held {thing} in a mode that excludes it or another waiting client"),
        (false, false) => format!("fewer than {} clients held {thing}", run.capacity),
    }
}

/// From a sending to an end, nanoseconds of it in which nobody held, and how many attempts were made in it.
struct WaitSpell {
    asked: usize,
    until: usize,
    waited: u64,
    attempts: usize,
}

fn convict(
    run: &Analysis<'_>,
    one: &UnfinishedOps<'_, '_>,
    spell: &WaitSpell,
    (span, bound): (RecoverySpan, u64),
    out: &mut Findings,
) {
    let WaitSpell {
        asked,
        until,
        waited,
        attempts,
    } = *spell;
    let name = run.events[asked].grant().unwrap_or("without a name");
    let (at, asks, nobody) = (run.at(until), run.names.ops.takes, nobody(run));
    let what = match (one.how, attempts) {
        (UnfinishedOutcome::Pending, _) => format!("was not answered by {at}"),
        (_, 1) if run.events[until].kind == EventType::Info => {
            format!("was not granted it by {at}, when its `{asks}` ended with an unknown outcome")
        }
        (_, 1) => format!("was not granted it by {at}, when its `{asks}` failed"),
        _ => {
            let within = |&&(from, to): &&(usize, usize)| asked <= from && to <= until;
            let (count, answers) = (one.attempts.iter().filter(within).count(), one.answers());
            let error = error_words(run, until);
            format!("was {answers} and asked again: it was {answers} {count} times by {at}{error}")
        }
    };
    let why = format!(
        "{} asked for grant {name} at {} and {what}, though every fault was healed and the ensemble had recovered at {}, and \
         {nobody} for {} of the time after that. The bound is {}: ten times the median of the run's answered \
         `{asks}` operations, at least ten seconds.",
        one.op.node,
        run.at(asked),
        run.at(span.recovered),
        seconds(waited),
        seconds(bound),
    );
    let witness = vec![asked, span.recovered, span.end];
    let waiter = WaitingClient {
        node: one.op.node.to_owned(),
        asked,
        since: asked.max(span.clock),
        pending: one.how == UnfinishedOutcome::Pending,
        mode: mode(&run.events[asked]),
    };
    let found = Finding::new(run.names.pending, "liveness", witness, why).about(AnomalySubject::Waiter(waiter));
    out.add_at_end(run, found, Some(run.time(asked)));
}

/// Free time, by the modes of requests: how long after recovery an acquire could have been granted, for all that holds
/// and waits.
struct GrantableTime {
    exclusive: GrantableSpans,
    shared: GrantableSpans,
    /// For a request of either mode.
    either: GrantableSpans,
}

/// Some begin to hold or to wait, or cease to.
struct HoldOrWait {
    at: usize,
    begins: bool,
    holds: bool,
    /// `None` if it is not known.
    mode: Option<Mode>,
}

impl GrantableTime {
    /// Reads the free time out of a run, from recovery on.
    fn new(run: &Analysis<'_>, RecoverySpan { recovered, end, .. }: RecoverySpan) -> Self {
        let mut all = [
            GrantableSpans::default(),
            GrantableSpans::default(),
            GrantableSpans::default(),
        ];
        let (mut held, mut waiting) = (Holders::default(), Holders::default());
        let mut since = recovered;
        let mut pass = |since: usize, until: usize, held: Holders, waiting: Holders| {
            let free = Mode::ALL.map(|mode| held.free_for(mode, waiting, run.capacity));
            for (of, free) in all.iter_mut().zip([free[0], free[1], free[0] && free[1]]) {
                if free {
                    of.push(run.time(since), run.time(until));
                }
            }
        };
        for change in changes(run).into_iter().take_while(|change| change.at < end) {
            if change.at > recovered {
                pass(since, change.at, held, waiting);
            }
            let counted = if change.holds { &mut held } else { &mut waiting };
            // One of an unknown mode counts as one of each.
            for mode in Mode::ALL
                .into_iter()
                .filter(|one| change.mode.is_none_or(|mode| mode == *one))
            {
                let count = counted.count_mut(mode);
                *count = if change.begins { *count + 1 } else { *count - 1 };
            }
            since = change.at.max(recovered);
        }
        pass(since, end, held, waiting);
        let [exclusive, shared, either] = all;
        Self {
            exclusive,
            shared,
            either,
        }
    }

    /// The time that is free for all of these requests, given by their events.
    fn for_requests(&self, run: &Analysis<'_>, requests: impl IntoIterator<Item = usize>) -> &GrantableSpans {
        let mut modes = requests.into_iter().map(|at| mode(&run.events[at]));
        let first = modes.next().flatten();
        match first.filter(|first| modes.all(|mode| mode == Some(*first))) {
            Some(Mode::Exclusive) => &self.exclusive,
            Some(Mode::Shared) => &self.shared,
            None => &self.either,
        }
    }
}

/// All changes of who holds and who waits, in their order.
fn changes(run: &Analysis<'_>) -> Vec<HoldOrWait> {
    let mut changes = Vec::new();
    let mut span = |from: usize, until: Option<usize>, holds: bool, mode: Option<Mode>| {
        let change = |(at, begins)| HoldOrWait {
            at,
            begins,
            holds,
            mode,
        };
        if until.is_none_or(|until| until > from) {
            let both = [(from, true)].into_iter().chain(until.map(|until| (until, false)));
            changes.extend(both.map(change));
        }
    };
    for (from, until, mode) in holds(run) {
        span(from, until, true, mode);
    }
    for op in run.ops.work.iter().filter(|op| op.f == run.names.ops.takes) {
        if let Some(asked) = op.invoke {
            span(asked, op.end, false, mode(&run.events[asked]));
        }
    }
    changes.sort_unstable_by_key(|change| (change.at, change.begins));
    changes
}

/// Since when each grant may be in the way of others, until when, and how it is held. A lease that lasts for a time may
/// be from the sending of its request to its latest end, if that did not fail, whether or not it was given back.
fn holds(run: &Analysis<'_>) -> Vec<(usize, Option<usize>, Option<Mode>)> {
    let Some(term) = run.term else {
        let read = run.grants.all.iter().filter_map(|grant| Some((grant, grant.read?)));
        return read.map(|(grant, read)| (read, grant.end, grant.mode)).collect();
    };
    let over = |end: usize| {
        let latest = run.latest_end(term, end);
        let first = run.events.partition_point(|event| event.time < latest);
        (first < run.events.len()).then_some(first)
    };
    let takes = run.ops.work.iter().filter(|op| op.f == run.names.ops.takes);
    let failed = |end: usize| run.events[end].kind == EventType::Fail;
    let takes = takes.filter(|op| op.doubtful || !op.end.is_some_and(failed));
    let span = |op: &Op<'_>| (op.invoke.unwrap_or(0), op.end.and_then(over), Some(Mode::Exclusive));
    takes.map(span).collect()
}

#[derive(Default)]
struct GrantableSpans {
    /// Begin and end in nanoseconds since the run began, in order, and how much was free before each.
    spans: Vec<(u64, u64, u64)>,
}

impl GrantableSpans {
    fn push(&mut self, from: u64, to: u64) {
        let before = self.spans.last().map_or(0, |&(from, to, before)| before + (to - from));
        if from < to {
            self.spans.push((from, to, before));
        }
    }

    /// Nanoseconds of it between two moments.
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
