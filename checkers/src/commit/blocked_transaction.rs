//! `blocked-transaction`: after recovery, every killed process restarted, a transaction stays undecided.
//!
//! A site that asks for the decision, or the coordinator that is to make it, stays without an answer for the bound of
//! liveness, or is answered `fail` or `info` again and again for so long. Where an answer was `info`, questions from
//! before and from after the moment at which another client was answered with the decision are not put together, as it
//! may have been made in between. A transaction whose znode never came into being cannot block anybody. If the run
//! cannot be judged ([`crate::analysis::recovery`]) nothing is convicted.

use super::transactions::{JudgedTransaction, Transactions};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, first_after};
use crate::cause::Cause;
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever::RefusalJudge;
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, refused_for_ever, unfinished,
};
use crate::text::{few, seconds};
use std::collections::{BTreeSet, HashMap, HashSet};
use zooquake_history::EventType;
use zooquake_history::operation::commit::f;

/// Looks for transactions that stay undecided, each once. What did not finish and cannot be judged is a reason against
/// `valid`.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        out.ran(refused_for_ever::NAME, 0);
        return out.ran("blocked-transaction", 0);
    };
    let bounds = LivenessBounds::new(run, span);
    let dead: Vec<&str> = run.recovery.dead.iter().copied().collect();
    let coordinators = coordinators(run, all);
    let (mut told, mut named) = (BTreeSet::new(), HashSet::new());
    let unfinished = unfinished(run, span);
    let mut refused = RefusalJudge::new(run, span);
    for one in &unfinished {
        let transaction = all.of_operation(run, one.op);
        let longest = UndecidedSpell::all(run, one, transaction, span);
        let longest = longest.into_iter().max_by_key(|spell| spell.waited);
        let Some(spell) = longest.filter(|_| matches!(one.op.f, f::DECIDE | f::DECIDED)) else {
            if !one.made_up {
                named.insert(one.op.node);
            }
            refused.check(one, out);
            continue;
        };
        let Some(transaction) = transaction.filter(|tx| tx.stands || tx.begun.is_some()) else {
            continue;
        };
        let bound = bounds.bound(one.op.f);
        if one.made_up && spell.waited < bound {
            continue;
        }
        named.insert(one.op.node);
        if !dead.is_empty() {
            let why = format!(", but {} was not running again, so that is not judged", few(&dead));
            out.reasons.push(one.reason(run, &why));
        } else if spell.waited < bound || run.recovery.doubt().is_some() {
            let why = format!(", for {}", bound_words(spell.waited, bound));
            out.reasons.push(one.reason(run, &why));
        } else if told.insert(transaction.name) {
            let coordinator = coordinators.get(transaction.name).and_then(|op| last_word(run, op));
            convict(run, transaction, &spell, (span, bound), coordinator, out);
        }
    }
    refused.close(out);
    idle(run, span, named, true, out);
    out.ran("blocked-transaction", unfinished.len());
}

/// From a sending to an end, in which the decision was asked for and not answered.
struct UndecidedSpell<'a> {
    op: &'a Op<'a>,
    asked: usize,
    until: usize,
    /// How it was answered, and how often.
    how: UnfinishedOutcome,
    attempts: usize,
    /// Nanoseconds after recovery.
    waited: u64,
}

impl<'a> UndecidedSpell<'a> {
    fn all(
        run: &Analysis<'_>,
        one: &UnfinishedOps<'a, 'a>,
        transaction: Option<&JudgedTransaction<'_>>,
        span: RecoverySpan,
    ) -> Vec<Self> {
        let spell = |(asked, until): (usize, usize), attempts| Self {
            op: one.op,
            asked,
            until,
            how: one.how,
            attempts,
            waited: span.waited(run, (asked, until)),
        };
        let alone = one.attempts.iter().map(|&ends| spell(ends, 1));
        let rounds = rounds(one, transaction)
            .into_iter()
            .filter(|round| round.len() > 1)
            .map(|round| spell((round[0].0, round[round.len() - 1].1), round.len()));
        alone.chain(rounds).collect()
    }
}

/// The attempts that are put together: all, where each failed; else those before another client was answered with the
/// decision, then those after it.
fn rounds(one: &UnfinishedOps<'_, '_>, transaction: Option<&JudgedTransaction<'_>>) -> Vec<Vec<(usize, usize)>> {
    if one.how == UnfinishedOutcome::Failed {
        return vec![one.attempts.clone()];
    }
    let told = transaction.and_then(|tx| tx.reports.iter().chain(&tx.answers).map(|report| report.read).min());
    let told = told.unwrap_or(usize::MAX);
    let all = || one.attempts.iter().copied();
    let before = all().filter(|&(_, until)| until < told).collect();
    let after = all().filter(|&(asked, _)| asked > told).collect();
    vec![before, after]
}

/// The last operation by which each transaction's coordinator was to bring a decision about.
fn coordinators<'r, 'a>(run: &'r Analysis<'a>, all: &Transactions<'a>) -> HashMap<&'a str, &'r Op<'a>> {
    let ops = run.ops.work.iter().filter(|op| matches!(op.f, f::BEGIN | f::DECIDE));
    ops.filter_map(|op| Some((all.of_operation(run, op)?.name, op)))
        .collect()
}

/// What became of an operation of the coordinator; nothing if it was answered. That the end of its process left the
/// transaction undecided is proven, other ends may have.
fn last_word(run: &Analysis<'_>, op: &Op<'_>) -> Option<Cause> {
    let sent = op
        .invoke
        .map(|at| format!(", sent at {},", run.at(at)))
        .unwrap_or_default();
    let ended = match (op.end, op.cut) {
        (Some(end), _) if run.events[end].kind == EventType::Ok => return None,
        (Some(end), _) => {
            let event = &run.events[end];
            let outcome = match event.kind {
                EventType::Fail => "failed",
                _ => "ended with an unknown outcome",
            };
            let error = event.error.as_deref().map(|error| format!(": {error}"));
            format!("{outcome} at {}{}", run.at(end), error.unwrap_or_default())
        }
        (None, Some(cut)) => format!("was cut off by the end of its process at {}", run.at(cut)),
        (None, None) => "was never answered".to_string(),
    };
    // A client that dies leaves its operation open, or with an unknown outcome that the harness records.
    let died = |end: usize| first_after(run.clients.exits_of(op.node), op.invoke?).filter(|&at| at <= end + 1);
    let cut = op.end.map_or(op.cut, died);
    let kills = |at: usize| {
        let mut on = run.faults.hitting(op.node, run.time(at), run.time(at));
        on.next().map(|window| window.id)
    };
    let mut events: Vec<usize> = op.invoke.into_iter().chain(cut).chain(op.end).collect();
    events.sort_unstable();
    Some(Cause {
        proven: cut.is_some(),
        window: cut.and_then(kills),
        events,
        sentence: format!(
            "The coordinator's last word on it: `{}` of {}{sent} {ended}.",
            op.f, op.node
        ),
        ..Cause::default()
    })
}

fn convict(
    run: &Analysis<'_>,
    transaction: &JudgedTransaction<'_>,
    spell: &UndecidedSpell<'_>,
    (span, bound): (RecoverySpan, u64),
    coordinator: Option<Cause>,
    out: &mut Findings,
) {
    let &UndecidedSpell {
        op,
        asked,
        until,
        waited,
        ..
    } = spell;
    let what = match (spell.how, spell.attempts) {
        (_, 1) => format!("gave no decision by {}", run.at(until)),
        (UnfinishedOutcome::Failed, count) => format!(
            "was asked again and again, and answered `fail` {count} times by {}{}",
            run.at(until),
            error_words(run, until)
        ),
        (_, count) => format!(
            "was asked {count} times by {}, and never gave a decision{}",
            run.at(until),
            error_words(run, until)
        ),
    };
    let why = format!(
        "{} was asked for the decision about transaction {} (operation `{}`) at {} and {what}, though every fault was \
         healed, every killed process was running again, and the ensemble had recovered at {}: for {} of the time \
         after that it gave no answer with the decision. The bound is {}: ten times the median of the run's answered \
         `decided` operations, at least ten seconds.",
        op.node,
        transaction.name,
        op.f,
        run.at(asked),
        run.at(span.recovered),
        seconds(waited),
        seconds(bound),
    );
    let begun = transaction.begun.filter(|_| !transaction.stands);
    let witness = [asked, span.recovered, span.end].into_iter().chain(begun).collect();
    let found = Finding::new("blocked-transaction", "liveness", witness, why).caused(coordinator);
    out.add_at_end(run, found, Some(run.time(transaction.first)));
}
