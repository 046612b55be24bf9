//! `refused-for-ever`: after recovery one process of a client answers every attempt at one operation with `fail` or
//! `info`, one after the other, for the bound of liveness. Of the operations that wait for nobody else, in families
//! whose checkers have no name of their own for it.
//!
//! The chain reaches from the sending of the first attempt to the end of the last, and is of two at least. An answer
//! that finishes the operation ends it, and so does one that states what the client is
//! ([`crate::liveness`]). If the run cannot be judged ([`crate::analysis::recovery`]) nobody is convicted.

use super::{LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words};
use crate::analysis::Analysis;
use crate::analysis::recovery::RecoverySpan;
use crate::findings::{Finding, Findings};
use crate::text::seconds;
use zooquake_history::operation::{barrier, commit, counter, family, membership, queue, register};

pub const NAME: &str = "refused-for-ever";

/// The operations that it is found of. Under a grant some of these names are another matter.
const OPS: [&str; 11] = [
    register::f::READ,
    register::f::WRITE,
    register::f::CAS,
    counter::f::INCREMENT,
    counter::f::GET,
    membership::f::UPDATE,
    membership::f::DEREGISTER,
    queue::f::ENQUEUE,
    commit::f::BEGIN,
    barrier::f::RAISE,
    barrier::f::LIFT,
];

/// Whether an operation of this name is one of those in the run's family.
pub fn convicts(run: &Analysis<'_>, f: &str) -> bool {
    OPS.contains(&f) && family(&run.record.plan.workload.family).is_none_or(|family| !family.grants)
}

/// The judge of a run.
pub struct RefusalJudge<'r, 'a> {
    run: &'r Analysis<'a>,
    span: RecoverySpan,
    bounds: LivenessBounds,
    looked_at: usize,
}

impl<'r, 'a> RefusalJudge<'r, 'a> {
    pub fn new(run: &'r Analysis<'a>, span: RecoverySpan) -> Self {
        Self {
            run,
            span,
            bounds: LivenessBounds::new(run, span),
            looked_at: 0,
        }
    }

    /// Adds the anomaly that something is that did not finish, or a reason against `valid`, unless another one makes up
    /// for it.
    pub fn check(&mut self, one: &UnfinishedOps<'_, '_>, out: &mut Findings) {
        let run = self.run;
        if one.how == UnfinishedOutcome::Pending || !convicts(run, one.op.f) {
            out.reasons.extend((!one.made_up).then(|| one.reason(run, "")));
            return;
        }
        self.looked_at += 1;
        let (waited, bound) = (self.span.waited(run, one.spell()), self.bounds.bound(one.op.f));
        if one.attempts.len() < 2 || waited < bound || run.recovery.doubt().is_some() {
            let words = || format!(", for {}", bound_words(waited, bound));
            let why = if one.attempts.len() < 2 { String::new() } else { words() };
            out.reasons.extend((!one.made_up).then(|| one.reason(run, &why)));
            return;
        }
        self.convict(one, (waited, bound), out);
    }

    fn convict(&self, one: &UnfinishedOps<'_, '_>, (waited, bound): (u64, u64), out: &mut Findings) {
        let (run, f) = (self.run, one.op.f);
        let why = format!(
            "{} was sent `{f}` at {} and was {} again and again, {} times by {}{}, though every fault was healed and the \
             ensemble had recovered at {}: for {} of the time after that. The bound is {}: ten times the median of the run's \
             answered `{f}` operations, at least ten seconds.",
            one.op.node,
            run.at(one.asked()),
            one.answers(),
            one.attempts.len(),
            run.at(one.until()),
            error_words(run, one.until()),
            run.at(self.span.recovered),
            seconds(waited),
            seconds(bound),
        );
        let (first, last) = (one.attempts[0], one.attempts[one.attempts.len() - 1]);
        let witness = vec![first.0, first.1, last.0, last.1, self.span.recovered, self.span.end];
        let found = Finding::new(NAME, "liveness", witness, why);
        out.add_at_end(run, found, Some(run.time(first.0)));
    }

    /// Says how many operations were looked at.
    pub fn close(self, out: &mut Findings) {
        out.ran(NAME, self.looked_at);
    }
}
