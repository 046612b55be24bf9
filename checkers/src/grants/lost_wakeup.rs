//! Liveness after recovery: while nobody holds in a way that excludes it, an acquire does not stay pending for long,
//! nor is it refused again and again.
//!
//! The clock runs from the phase `recovered` to the phase `audit`, and only in free time
//! ([`crate::grants::grantable_time`]). The bound is ten times the median duration of the run's answered acquires, at
//! least ten seconds. If the run cannot be judged ([`crate::analysis::recovery`]) nobody is convicted.

use super::grantable_time::{GrantableSpans, GrantableTime};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, mode};
use crate::cause::{AnomalySubject, WaitingClient};
use crate::findings::{Finding, Findings};
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, unfinished,
};
use crate::text::seconds;
use zooquake_history::EventType;

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
