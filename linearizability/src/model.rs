//! The sequential type of an object, by which a history is decided.

use crate::models::register::relevance::narrowed;
use crate::near_linear::NearLinearDecision;
use crate::operation::endless;
use crate::unknown_start::UnknownStart;
use crate::{Budget, Op, SearchDecision, Witness, search};
use std::hash::Hash;

/// A sequential type: what each operation does to its state.
pub trait Model: Sized {
    /// The state; small, for each configuration that a search has been in holds one.
    type State: Clone + Eq + Hash;
    /// An operation together with its answer.
    type Input: Clone + Eq + Hash;

    /// The state in which a history begins.
    fn initial(&self) -> Self::State;

    /// The state after an operation; `None` if the operation cannot have had this answer in this state.
    fn step(&self, state: &Self::State, input: &Self::Input) -> Option<Self::State>;

    /// Whether an operation leaves every state as it is in which it is possible, but for states to which no operation
    /// leads back, such as an initial one that is not known. Returning `true` for one that does not would lose orders;
    /// returning `false` only costs time.
    fn is_read(&self, _input: &Self::Input) -> bool {
        false
    }

    /// The state after an operation that was possible, whatever state it began in; `None` if that leaves more than one,
    /// or is not known.
    fn after(&self, _input: &Self::Input) -> Option<Self::State> {
        None
    }

    /// Bytes on the heap that a state owns, for the memory budget.
    fn heap(&self, _state: &Self::State) -> usize {
        0
    }

    /// A contradiction that is found in time nearly linear, without a search; `None` proves nothing.
    fn contradiction(&self, _ops: &[Op<Self::Input>]) -> Option<Contradiction> {
        None
    }

    /// What is decided in time nearly linear, without a search.
    fn near(&self, _ops: &[Op<Self::Input>]) -> NearLinearDecision {
        NearLinearDecision::Undecided
    }

    /// The operations that matter where some need not have happened, by their places, ascending: `ops` have an order
    /// exactly if these have. `None` if all matter, or that is not known.
    fn relevant(&self, _ops: &[Op<Self::Input>]) -> Option<Vec<usize>> {
        None
    }

    /// Decides by a search what [`near`](Self::near) leaves unsaid. Steps of all that is tried count.
    fn explore(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> SearchDecision {
        search(self, ops, budget).into()
    }

    /// Decides a history: without a search if that can be, else by one.
    fn decide(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> SearchDecision {
        self.near(&endless(ops))
            .decision()
            .unwrap_or_else(|| narrowed(ops, self.relevant(ops), |ops| self.explore(ops, budget)))
    }

    /// The same of a history whose initial state is unknown.
    fn decide_anywhere(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> SearchDecision {
        search(&UnknownStart(self), ops, budget).into()
    }
}

/// Operations that contradict each other whatever the others did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The one that cannot have its answer, by its place in the list given. Its completion is the last of theirs.
    pub stuck: usize,
    /// All of them.
    pub witness: Witness,
    /// What they break, if that is known more closely than that no order fits.
    pub claim: Option<&'static BrokenClaim>,
}

/// What a contradiction breaks, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenClaim {
    /// The name of the anomaly.
    pub kind: &'static str,
    /// The property that is broken.
    pub property: &'static str,
    /// What is wrong, as the beginning of a sentence.
    pub says: &'static str,
}
