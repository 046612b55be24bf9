//! Leaves that wait for nobody: since when every other member of a round has certainly left it or is leaving it.
//!
//! A client may be inside from the sending of its first enter of the round that did not fail. It is so no more when it
//! was sent a leave after its last such enter, unless that ended as `fail` or `info`: what became of it is open then.
//! Nor is it, from `recovered` on, if its process ended before the recovery began: the session of that process is over
//! by then ([`crate::analysis::recovery`]). All is as of the end of the span, in time linear in the round.

use super::rounds::{BarrierRound, Rounds, told};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, first_after};
use crate::findings::{Finding, Findings};
use crate::liveness::{LivenessBounds, UnfinishedOps, bound_words, error_words};
use crate::text::seconds;
use std::collections::BTreeMap;
use zooquake_history::EventType;
use zooquake_history::operation::barrier::{ROUND, f};

/// The leaves of a run that did not finish.
pub struct LeaveOps<'r, 'a> {
    run: &'r Analysis<'a>,
    rounds: &'r Rounds<'a>,
    /// By round who is in it.
    of: BTreeMap<i64, RoundMembers<'a>>,
    span: RecoverySpan,
    bound: u64,
}

/// From the sending of a leave to the event up to which it was not answered, and since when it waited for nobody.
struct LeaveSpell {
    number: i64,
    asked: usize,
    until: usize,
    since: usize,
    waited: u64,
}

impl<'r, 'a> LeaveOps<'r, 'a> {
    /// Finds out who is in the rounds of all that did not finish.
    pub fn new(
        run: &'r Analysis<'a>,
        rounds: &'r Rounds<'a>,
        all: &[UnfinishedOps<'_, 'a>],
        span: RecoverySpan,
    ) -> Self {
        let mut of = BTreeMap::new();
        let leaves = all.iter().filter(|one| one.op.f == f::LEAVE);
        for number in leaves.filter_map(|one| told(run, one.op, ROUND)) {
            of.entry(number)
                .or_insert_with(|| RoundMembers::new(run, rounds, number, span));
        }
        Self {
            run,
            rounds,
            of,
            span,
            bound: LivenessBounds::new(run, span).bound(f::LEAVE),
        }
    }

    /// Adds the anomaly that a leave is, or a reason against `valid`.
    pub fn check(&self, one: &UnfinishedOps<'_, '_>, out: &mut Findings) {
        let (run, bound) = (self.run, self.bound);
        let why = match self.longest(one) {
            Ok(spell) if spell.waited >= bound && run.recovery.doubt().is_none() => {
                return self.convict(one, &spell, out);
            }
            Ok(spell) if one.made_up && spell.waited < bound => return,
            Err(_) if one.made_up => return,
            Ok(spell) => format!(
                ", with nobody else in its round for {}",
                bound_words(spell.waited, bound)
            ),
            Err(why) => why,
        };
        out.reasons.push(one.reason(run, &why));
    }

    /// The longest spell of a leave; why somebody else may be in its round, in words.
    fn longest(&self, one: &UnfinishedOps<'_, '_>) -> Result<LeaveSpell, String> {
        let run = self.run;
        let number = told(run, one.op, ROUND).ok_or_else(String::new)?;
        let leaving = self.of.get(&number).ok_or_else(String::new)?;
        if self.rounds.hidden_before(one.until()) {
            return Err(", and an enter that names no round that can be read may be of its round".to_owned());
        }
        if let Some(other) = leaving.inside(one.op.node) {
            return Err(format!(", and {other} may be in its round"));
        }
        let spell = |(asked, until)| {
            let since = leaving.since(one.op.node).max(asked).max(self.span.clock);
            LeaveSpell {
                number,
                asked,
                until,
                since,
                waited: run.time(until).saturating_sub(run.time(since)),
            }
        };
        Ok(spell(one.spell()))
    }

    fn convict(&self, one: &UnfinishedOps<'_, '_>, spell: &LeaveSpell, out: &mut Findings) {
        let run = self.run;
        let why = format!(
            "{} was sent to leave round {} at {} and was not answered `ok` by {}{}, though every fault was healed, the ensemble had \
             recovered at {}, and from {} on every other client that had been sent to the round had left it, was leaving it, or had \
             ended. The bound is {}: ten times the median of the run's answered leaves, at least ten seconds.",
            one.op.node,
            spell.number,
            run.at(spell.asked),
            run.at(spell.until),
            error_words(run, spell.until),
            run.at(self.span.recovered),
            run.at(spell.since),
            seconds(self.bound),
        );
        let witness = vec![spell.asked, self.span.recovered, self.span.end];
        let found = Finding::new("stuck-barrier", "liveness", witness, why);
        out.add_at_end(run, found, Some(run.time(spell.asked)));
    }
}

/// Who is in one round at the end of the span.
#[derive(Debug, Default)]
struct RoundMembers<'a> {
    /// The two clients that went last, each with the event since which it certainly is inside no more.
    last: [Option<(usize, &'a str)>; 2],
    /// Two of those that may be inside.
    inside: [Option<&'a str>; 2],
}

/// What a client was sent in a round, by where.
#[derive(Debug, Default)]
struct RoundRequests {
    /// Its last enter that did not fail.
    entered: Option<usize>,
    /// Its leaves that were answered `ok` or are pending, in order.
    leaves: Vec<usize>,
}

impl<'a> RoundMembers<'a> {
    fn new(run: &Analysis<'a>, rounds: &Rounds<'a>, number: i64, span: RecoverySpan) -> Self {
        let recover = run.phase("recover").filter(|&at| at < span.recovered);
        let mut leaving = Self::default();
        let round = rounds.all.get(&number);
        for (node, part) in round.map(|round| parts(run, round, span)).unwrap_or_default() {
            let Some(entered) = part.entered else { continue };
            let left = part.leaves.iter().copied().find(|&sent| sent > entered);
            let over = first_after(run.clients.exits_of(node), entered).filter(|&at| Some(at) < recover);
            match left.into_iter().chain(over.map(|_| span.recovered)).min() {
                Some(gone) => leaving.went(gone, node),
                None if leaving.inside[0].is_none() => leaving.inside[0] = Some(node),
                None => leaving.inside[1] = Some(node),
            }
        }
        leaving
    }

    fn went(&mut self, gone: usize, node: &'a str) {
        let [first, second] = self.last;
        match first {
            Some((latest, _)) if latest >= gone => self.last[1] = second.max(Some((gone, node))),
            _ => self.last = [Some((gone, node)), first],
        }
    }

    /// A client beside this one that may be inside.
    fn inside(&self, node: &str) -> Option<&'a str> {
        self.inside.into_iter().flatten().find(|other| *other != node)
    }

    /// The event since which no client beside this one is inside; 0 if none was.
    fn since(&self, node: &str) -> usize {
        let others = self.last.into_iter().flatten().filter(|(_, other)| *other != node);
        others.map(|(gone, _)| gone).max().unwrap_or(0)
    }
}

/// What each client was sent in a round.
fn parts<'a>(run: &Analysis<'a>, round: &BarrierRound, span: RecoverySpan) -> BTreeMap<&'a str, RoundRequests> {
    let mut parts: BTreeMap<&str, RoundRequests> = BTreeMap::new();
    let op = |&at: &usize| &run.ops.work[at];
    for op in round.enters.iter().map(op).filter(|op| op.failed(run.events).is_none()) {
        // One whose request is missing was sent before its answer.
        let sent = op.invoke.or(op.end).filter(|&at| at < span.end);
        let part = parts.entry(op.node).or_default();
        part.entered = part.entered.max(sent);
    }
    let certain = |op: &&Op<'_>| {
        let open = |end: usize| end > span.end || run.events[end].kind == EventType::Ok;
        op.end.is_none_or(open) && op.cut.is_none_or(|cut| cut > span.end)
    };
    for op in round.leaves.iter().map(op).filter(certain) {
        let sent = op.sent().filter(|&at| at < span.end);
        parts.entry(op.node).or_default().leaves.extend(sent);
    }
    parts
}
