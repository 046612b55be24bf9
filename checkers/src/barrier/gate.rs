//! Gates: `early-release`, a wait that was asked for while the gate of its round certainly stood, and was answered
//! before anybody was sent to lift it; `stuck-barrier`, after recovery a wait that stays pending, or is refused again
//! and again, though the gate was certainly lifted.
//!
//! A gate certainly stands from the answer `ok` to a `raise` of its round to the sending of the first `lift` of it. It
//! is certainly lifted from the answer `ok` to a `lift` that was sent when no `raise` of the round was at work any
//! more: each had been answered `ok` or `fail`, or its process had ended before the recovery began, after which its
//! session is over ([`crate::analysis::recovery`]). All is judged in time nearly linear in the operations.

use super::rounds::{answered, told};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, first_after};
use crate::cause::{AnomalySubject, WaitingClient};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever::{self, RefusalJudge};
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, unfinished,
};
use crate::text::seconds;
use std::collections::BTreeMap;
use zooquake_history::EventType;
use zooquake_history::operation::barrier::{ROUND, f};

/// Judges a run of a gate.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let gates = Gates::new(run);
    early_releases(run, &gates, out);
    liveness(run, &gates, out);
    out.doubt("rounds cannot be read", &gates.unread);
}

/// What the keepers did with the gate of one round. Operations are positions in
/// [`Ops::work`](crate::analysis::ops::Ops).
#[derive(Debug, Default)]
struct GateRound {
    raises: Vec<usize>,
    lifts: Vec<usize>,
    waits: Vec<usize>,
    /// Of the raises that were certainly answered `ok` the one whose answer was read first, with that answer.
    raised: Option<(usize, usize)>,
    /// Where the first lift was sent; 0 where that may be at any time.
    first_lift: Option<usize>,
}

/// The gates of a history, by their rounds.
#[derive(Debug, Default)]
struct Gates {
    all: BTreeMap<i64, GateRound>,
    /// Where the first raise, and the first lift, of a round that cannot be read was sent: it may be of any.
    hidden_raise: Option<usize>,
    hidden_lift: Option<usize>,
    /// All operations whose round cannot be read, and what they are.
    unread: Vec<(usize, String)>,
}

impl Gates {
    fn new(run: &Analysis<'_>) -> Self {
        let mut gates = Self::default();
        for (at, op) in run.ops.work.iter().enumerate() {
            if !matches!(op.f, f::RAISE | f::WAIT | f::LIFT) {
                continue;
            }
            // One whose request is missing was sent at some time before its answer.
            let sent = op.invoke.unwrap_or(0);
            let Some(number) = told(run, op, ROUND) else {
                gates.hide(op, sent);
                continue;
            };
            let round = gates.all.entry(number).or_default();
            match op.f {
                f::RAISE => {
                    round.raises.push(at);
                    let read = answered(run, op).filter(|_| !op.doubtful);
                    let earlier = |read: &usize| round.raised.is_none_or(|(_, first)| *read < first);
                    round.raised = read.filter(earlier).map(|read| (at, read)).or(round.raised);
                }
                f::LIFT => {
                    round.lifts.push(at);
                    round.first_lift = Some(round.first_lift.map_or(sent, |first| first.min(sent)));
                }
                _ => round.waits.push(at),
            }
        }
        gates
    }

    fn hide(&mut self, op: &Op<'_>, sent: usize) {
        let hidden = match op.f {
            f::RAISE => Some(&mut self.hidden_raise),
            f::LIFT => Some(&mut self.hidden_lift),
            _ => None,
        };
        if let Some(first) = hidden {
            *first = Some(first.map_or(sent, |first| first.min(sent)));
        }
        if let Some(at) = op.invoke.or(op.end) {
            let what = format!("the `{}` of {}, which names no round that can be read", op.f, op.node);
            self.unread.push((at, what));
        }
    }
}

fn early_releases(run: &Analysis<'_>, gates: &Gates, out: &mut Findings) {
    let mut looked_at = 0;
    for (number, round) in &gates.all {
        looked_at += round.waits.len();
        let Some((raise, raised)) = round.raised else { continue };
        let keeper = &run.ops.work[raise];
        // Its request is needed where the answer alone does not name the round.
        let request = keeper.invoke.filter(|_| run.events[raised].get(ROUND).is_none());
        let lifted = round.first_lift.into_iter().chain(gates.hidden_lift).min();
        for op in round.waits.iter().map(|&op| &run.ops.work[op]) {
            let (Some(asked), Some(read)) = (op.sent(), answered(run, op)) else {
                continue;
            };
            if asked < raised || lifted.is_some_and(|lifted| lifted < read) {
                continue;
            }
            let why = format!(
                "{} was sent to wait at the gate of round {number} at {} and answered `ok` at {}, when nobody had been sent to lift \
                 that gate: {} had raised it, and was answered at {}. So the gate stood all the time, and did not hold it back.",
                op.node,
                run.at(asked),
                run.at(read),
                keeper.node,
                run.at(raised),
            );
            let witness = request.into_iter().chain([raised, asked, read]).collect();
            out.add(run, Finding::new("early-release", "all or none", witness, why));
        }
    }
    out.ran("early-release", looked_at);
}

/// The lift after which a gate stands no more.
#[derive(Clone, Copy)]
struct CertainLift<'a> {
    node: &'a str,
    sent: usize,
    read: usize,
}

impl<'a> CertainLift<'a> {
    /// The first one of a round in the span; why the gate may still stand, in words.
    fn first(run: &Analysis<'a>, gates: &Gates, number: i64, span: RecoverySpan) -> Result<Self, &'static str> {
        if gates.hidden_raise.is_some_and(|sent| sent < span.end) {
            return Err(", and a raise that names no round that can be read may be of its gate");
        }
        let round = gates.all.get(&number).ok_or("")?;
        let recover = run.phase("recover").filter(|&at| at < span.recovered);
        // The event from which on a raise is not at work any more.
        let over = |op: &Op<'_>| {
            let ended = op.end.filter(|&end| {
                !op.doubtful && op.invoke.is_some() && matches!(run.events[end].kind, EventType::Ok | EventType::Fail)
            });
            let exit = || {
                let exit = first_after(run.clients.exits_of(op.node), op.invoke.or(op.end)?);
                exit.filter(|&at| Some(at) < recover).map(|_| span.recovered)
            };
            ended.or_else(exit)
        };
        let begun = |op: &&Op<'_>| op.invoke.or(op.end).is_some_and(|at| at < span.end);
        let raises = round.raises.iter().map(|&op| &run.ops.work[op]).filter(begun);
        let mut free = 0;
        for op in raises {
            free = over(op)
                .ok_or(", and a raise of its gate may still be at work")?
                .max(free);
        }
        let lifts = round.lifts.iter().map(|&op| &run.ops.work[op]);
        let lifts = lifts.filter_map(|op| {
            let (sent, read) = (op.sent()?, answered(run, op)?);
            let node = op.node;
            (free <= sent && read < span.end).then_some(Self { node, sent, read })
        });
        lifts.min_by_key(|lift| lift.read).ok_or(", and its gate may stand")
    }
}

/// A wait that did not finish, and since when it waits for nothing.
struct GateWait<'a> {
    number: i64,
    lift: CertainLift<'a>,
    since: usize,
    waited: u64,
}

fn liveness(run: &Analysis<'_>, gates: &Gates, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        out.ran("stuck-barrier", 0);
        return out.ran(refused_for_ever::NAME, 0);
    };
    let all = unfinished(run, span);
    let bound = LivenessBounds::new(run, span).bound(f::WAIT);
    let mut refused = RefusalJudge::new(run, span);
    let mut lifts: BTreeMap<i64, Result<CertainLift<'_>, &str>> = BTreeMap::new();
    for one in &all {
        if one.op.f != f::WAIT {
            refused.check(one, out);
            continue;
        }
        let wait = told(run, one.op, ROUND).ok_or("").and_then(|number| {
            let lift = lifts
                .entry(number)
                .or_insert_with(|| CertainLift::first(run, gates, number, span));
            let lift = (*lift)?;
            let (asked, until) = one.spell();
            let since = lift.read.max(asked).max(span.clock);
            let waited = run.time(until).saturating_sub(run.time(since));
            Ok(GateWait {
                number,
                lift,
                since,
                waited,
            })
        });
        let why = match wait {
            Ok(wait) if wait.waited >= bound && run.recovery.doubt().is_none() => {
                convict(run, one, &wait, (span, bound), out);
                continue;
            }
            Ok(wait) if wait.waited < bound && one.made_up => continue,
            Err(_) if one.made_up => continue,
            Ok(wait) => format!(", with its gate lifted for {}", bound_words(wait.waited, bound)),
            Err(why) => why.to_owned(),
        };
        out.reasons.push(one.reason(run, &why));
    }
    refused.close(out);
    idle(run, span, open_clients(&all), true, out);
    out.ran("stuck-barrier", all.len());
}

fn convict(
    run: &Analysis<'_>,
    one: &UnfinishedOps<'_, '_>,
    wait: &GateWait<'_>,
    (span, bound): (RecoverySpan, u64),
    out: &mut Findings,
) {
    let what = match one.attempts.len() {
        2.. => format!(
            "was {} again and again until {}{}",
            one.answers(),
            run.at(one.until()),
            error_words(run, one.until())
        ),
        _ => format!("was not let on by {}", run.at(one.until())),
    };
    let why = format!(
        "{} was sent to gate {} at {} and {what}, though every fault was healed, the ensemble had recovered at {}, and {} had lifted \
         the gate: it was sent to do so at {} and answered at {}. The bound is {}: ten times the median of the run's answered waits, \
         at least ten seconds.",
        one.op.node,
        wait.number,
        run.at(one.asked()),
        run.at(span.recovered),
        wait.lift.node,
        run.at(wait.lift.sent),
        run.at(wait.lift.read),
        seconds(bound),
    );
    let waiter = WaitingClient {
        node: one.op.node.to_owned(),
        asked: one.asked(),
        since: wait.since,
        pending: one.how == UnfinishedOutcome::Pending,
        mode: None,
    };
    let witness = vec![one.asked(), wait.lift.sent, wait.lift.read, span.recovered, span.end];
    let first = run.time(one.asked().min(wait.lift.sent));
    let found = Finding::new("stuck-barrier", "liveness", witness, why).about(AnomalySubject::Member(waiter));
    out.add_at_end(run, found, Some(first));
}
