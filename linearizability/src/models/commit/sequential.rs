//! One transaction of an atomic commit: all its sites get the same decision, and it is commit only if each of them
//! voted yes before (Gray and Lamport, "Consensus on transaction commit", ACM TODS 31(1), 2006: stability, consistency,
//! and non-blocking aside).
//!
//! An order exists exactly if the sites did not get both decisions, and, where one got commit, nobody voted no and each
//! site's yes was sent before the first commit was answered. That takes time O(n). A vote of unknown outcome may have
//! come at any time after its invocation; only a yes is of use.

use crate::model::{BrokenClaim, Model, NearLinearDecision, Op, contradiction, earliest};
use std::collections::HashMap;
use std::rc::Rc;

/// Two sites got different decisions.
pub const SPLIT: BrokenClaim = BrokenClaim {
    kind: "split-decision",
    property: "atomicity",
    says: "both commit and abort of one transaction were reported",
};
const FLIP: BrokenClaim = BrokenClaim {
    kind: "decision-flip",
    property: "finality",
    says: "one site received both commit and abort of one transaction",
};
const UNVOTED: BrokenClaim = BrokenClaim {
    kind: "commit-without-votes",
    property: "validity",
    says: "commit was reported although a site had voted no, or had not voted yes by then",
};

/// The transaction, of which nothing is decided at the beginning.
#[derive(Debug, Clone, Copy)]
pub struct Transaction;

/// What happens to it. Sites are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitOp {
    /// This site takes part.
    Site(u32),
    /// It voted, yes or no.
    Vote(u32, bool),
    /// It got the decision to commit, or to abort.
    Decided(u32, bool),
}

/// How far a transaction is. Both lists are ascending, and change no more once it is committed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Progress {
    /// Who takes part.
    sites: Rc<[u32]>,
    /// Who voted yes.
    yes: Rc<[u32]>,
    /// Whether somebody voted no.
    no: bool,
    /// Whether it is committed, or aborted.
    committed: Option<bool>,
}

impl Progress {
    fn may_commit(&self) -> bool {
        !self.no && self.sites.iter().all(|site| self.yes.binary_search(site).is_ok())
    }
}

impl Model for Transaction {
    type State = Progress;
    type Input = CommitOp;

    fn initial(&self) -> Progress {
        Progress::default()
    }

    fn step(&self, progress: &Progress, input: &CommitOp) -> Option<Progress> {
        let mut next = progress.clone();
        match (*input, progress.committed == Some(true)) {
            (CommitOp::Site(site), false) => next.sites = with(&progress.sites, site),
            (CommitOp::Site(site), true) => drop(progress.yes.binary_search(&site).ok()?),
            (CommitOp::Vote(site, true), false) => next.yes = with(&progress.yes, site),
            (CommitOp::Vote(_, true), true) => {}
            (CommitOp::Vote(_, false), false) => next.no = true,
            (CommitOp::Vote(_, false), true) => return None,
            (CommitOp::Decided(_, commit), _) => {
                let decided = progress.committed.is_some();
                if decided && progress.committed != Some(commit) || !decided && commit && !progress.may_commit() {
                    return None;
                }
                next.committed = Some(commit);
            }
        }
        Some(next)
    }

    fn heap(&self, progress: &Progress) -> usize {
        size_of_val(&*progress.sites) + size_of_val(&*progress.yes)
    }

    fn near(&self, ops: &[Op<CommitOp>]) -> NearLinearDecision {
        let first = |wanted: fn(&CommitOp) -> bool| {
            let all = (0..ops.len()).filter(|&op| ops[op].must() && wanted(&ops[op].input));
            all.min_by_key(|&op| ops[op].complete)
        };
        let Some(commit) = first(|op| matches!(op, CommitOp::Decided(_, true))) else {
            return NearLinearDecision::Linearizable;
        };
        let abort = first(|op| matches!(op, CommitOp::Decided(_, false)));
        let both = abort.map(|abort| {
            let by = |op: usize| match ops[op].input {
                CommitOp::Site(site) | CommitOp::Vote(site, _) | CommitOp::Decided(site, _) => site,
            };
            let claim = if by(commit) == by(abort) { &FLIP } else { &SPLIT };
            contradiction(ops, vec![commit, abort], claim)
        });
        let no = first(|op| matches!(op, CommitOp::Vote(_, false)));
        let lacking = no.into_iter().chain(lacking(ops, commit));
        let unvoted = lacking.map(|op| contradiction(ops, vec![op, commit], &UNVOTED));
        earliest(ops, both.into_iter().chain(unvoted)).map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

/// The first site to take part that was sent no yes before a commit was answered.
fn lacking(ops: &[Op<CommitOp>], commit: usize) -> Option<usize> {
    let mut sent: HashMap<u32, usize> = HashMap::new();
    for op in ops {
        if let CommitOp::Vote(site, true) = op.input {
            let first = sent.entry(site).or_insert(op.invoke);
            *first = op.invoke.min(*first);
        }
    }
    let in_time = |site: &u32| sent.get(site).is_some_and(|&at| Some(at) < ops[commit].complete);
    let lacks = |&op: &usize| ops[op].must() && matches!(&ops[op].input, CommitOp::Site(site) if !in_time(site));
    (0..ops.len()).filter(lacks).min_by_key(|&op| ops[op].complete)
}

/// A list with one more, if it is not among them.
fn with(list: &Rc<[u32]>, one: u32) -> Rc<[u32]> {
    match list.binary_search(&one) {
        Ok(_) => Rc::clone(list),
        Err(at) => [&list[..at], &[one], &list[at..]].concat().into(),
    }
}
