//! Linearizability by general search: is there an order of the operations that fits their intervals and the type?
//!
//! The algorithm is that of Wing and Gong ("Testing and verifying concurrent objects", 1993) with the memoisation of Lowe
//! ("Testing for linearizability", 2017) and the entry list of Horn and Kroening ("Faster linearizability checking via
//! P-compositionality", 2015). It works for any type that a [`Model`] describes, and takes exponential time at worst:
//! hence the [`Budget`]. Where a checker of the type itself exists, it is faster and says more.
//!
//! [`search`] is that algorithm. [`Model::decide`] decides by what is soonest: [`Model::near`] (`zones` for registers whose values are
//! written once, `holds` for mutexes that know their holders, and so on), and where that does not tell [`Model::explore`]: a `race` of the search with sweeps over
//! `configurations`: of `moves` that are `in_flight` each leads from one `configuration` to another.
//! Where some operations need not have happened, only what is `relevant` to the others is searched.
//!
//! The models, one a file: [`register`], [`mutex`], [`lease`], and in [`models`] those of other objects. `calls` pairs the events
//! of a history, `keys` sorts them by their keys, [`kinds`] tells which operations of which model they are (with `reading` for registers
//! and mutexes; `values` tells which values are equal), `unexplained` and `near` find what needs no search, and [`judge`] is the whole
//! way from a history to its verdict, with `words` for its texts.
//!
//! # A model of one's own
//!
//! ```
//! use zooquake_linearizability::{Budget, Decision, Model, Op};
//!
//! /// A flag that is raised once: whoever raises it learns whether it was the first.
//! struct Flag;
//!
//! impl Model for Flag {
//!     type State = bool;
//!     /// Raised, and whether that was the first time.
//!     type Input = bool;
//!
//!     fn initial(&self) -> bool {
//!         false
//!     }
//!     fn step(&self, raised: &bool, first: &bool) -> Option<bool> {
//!         (*first != *raised).then_some(true)
//!     }
//!     fn is_read(&self, first: &bool) -> bool {
//!         !first
//!     }
//!     fn after(&self, _: &bool) -> Option<bool> {
//!         Some(true)
//!     }
//! }
//!
//! let mut budget = Budget { steps: 1_000_000, bytes: 1 << 20, expired: &mut || false };
//! let both_first = [Op::done(true, 0, 2), Op::done(true, 1, 3)];
//! assert_eq!(Flag.decide(&both_first, &mut budget), Decision::Not { stuck: 1 });
//! let one_unknown = [Op::unknown(true, 0), Op::done(false, 1, 2)];
//! assert_eq!(Flag.decide(&one_unknown, &mut budget), Decision::Linearizable);
//! ```

mod anywhere;
mod bits;
mod budget;
mod call;
mod configuration;
mod configurations;
pub mod equality;
pub mod generate;
mod holds;
mod in_flight;
mod input;
mod judgement;
pub mod keys;
pub mod kinds;
pub mod lease;
mod list;
pub mod models;
mod moves;
pub mod mutex;
mod near;
mod prove;
mod race;
mod reading;
pub mod register;
mod relevant;
mod seen;
mod unexplained;
pub mod unique;
mod value;
mod walk;
mod witness;
mod zones;

use std::borrow::Cow;
use std::hash::Hash;

use anywhere::Anywhere;
pub use budget::{Budget, Limit};
pub use call::{Call, CallOutcome, Conventions};
pub use input::InputError;
pub use judgement::{Judgement, Remark, Violation};
pub use kinds::Kind;
pub use near::Near;
use relevant::narrowed;
pub use value::Value;
pub use witness::{Witness, prefix, reduce, shrink};

/// A sequential type: what each operation does to its state.
pub trait Model {
    /// The state; small, for each configuration that a search has been in holds one.
    type State: Clone + Eq + Hash;
    /// An operation together with its answer.
    type Input: Clone + Eq + Hash;

    /// The state in which a history begins.
    fn initial(&self) -> Self::State;

    /// The state after an operation; `None` if the operation cannot have had this answer in this state.
    fn step(&self, state: &Self::State, input: &Self::Input) -> Option<Self::State>;

    /// Whether an operation leaves every state as it is in which it is possible, but for states to which no operation leads
    /// back, such as an initial one that is not known. Saying `true` of one that does not would lose orders; saying `false`
    /// only costs time.
    fn is_read(&self, input: &Self::Input) -> bool;

    /// The state after an operation that was possible, whatever state it began in; `None` if that leaves more than one.
    fn after(&self, input: &Self::Input) -> Option<Self::State>;

    /// Bytes on the heap that a state owns, for the memory budget.
    fn heap(&self, _state: &Self::State) -> usize {
        0
    }

    /// A contradiction that is found in time nearly linear, without a search; `None` says nothing.
    fn contradiction(&self, _ops: &[Op<Self::Input>]) -> Option<Contradiction> {
        None
    }

    /// What is decided in time nearly linear, without a search.
    fn near(&self, _ops: &[Op<Self::Input>]) -> Near {
        Near::Unsaid
    }

    /// The operations that matter where some need not have happened, by their places, ascending: `ops` have an order exactly
    /// if these have. `None` if all matter, or that is not known.
    fn relevant(&self, _ops: &[Op<Self::Input>]) -> Option<Vec<usize>> {
        None
    }

    /// Decides by a search what [`near`](Self::near) leaves unsaid. Steps of all that is tried count.
    fn explore(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> Decision
    where
        Self: Sized,
    {
        search(self, ops, budget).into()
    }

    /// Decides a history: without a search if that can be, else by one.
    fn decide(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> Decision
    where
        Self: Sized,
    {
        let near = self.near(&endless(ops)).decision();
        near.unwrap_or_else(|| narrowed(ops, self.relevant(ops), |ops| self.explore(ops, budget)))
    }

    /// The same of a history whose initial state is unknown.
    fn decide_anywhere(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> Decision
    where
        Self: Sized,
    {
        search(&Anywhere(self), ops, budget).into()
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
    pub claim: Option<&'static Claim>,
}

/// What a contradiction breaks, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The name of the anomaly.
    pub kind: &'static str,
    /// The property that is broken.
    pub property: &'static str,
    /// What is wrong, as the beginning of a sentence.
    pub says: &'static str,
}

/// An operation of a history: what it did, and from when to when it was in flight.
///
/// Positions are those of events in the history; only their order matters, and no two of them are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op<I> {
    /// What was done and answered.
    pub input: I,
    /// Where it was invoked.
    pub invoke: usize,
    /// Where it was completed; `None` if it may take effect at any later time.
    pub complete: Option<usize>,
    /// Whether it certainly took effect. One without a completion never is required.
    pub required: bool,
}

impl<I> Op<I> {
    /// An operation that certainly took effect between its invocation and its completion.
    pub fn done(input: I, invoke: usize, complete: usize) -> Self {
        Self {
            input,
            invoke,
            complete: Some(complete),
            required: true,
        }
    }

    /// An operation of unknown outcome: it takes effect at any time after its invocation, or never.
    pub fn unknown(input: I, invoke: usize) -> Self {
        Self {
            input,
            invoke,
            complete: None,
            required: false,
        }
    }

    /// The same operation for another model.
    pub fn of<J>(&self, input: J) -> Op<J> {
        Op {
            input,
            invoke: self.invoke,
            complete: self.complete,
            required: self.required,
        }
    }

    /// Whether an order must hold it.
    fn must(&self) -> bool {
        self.required && self.complete.is_some()
    }
}

/// Operations without the ends of those that need not have happened and end after all that must have.
fn endless<I: Clone>(ops: &[Op<I>]) -> Cow<'_, [Op<I>]> {
    let last = ops.iter().filter(|op| op.must()).filter_map(|op| op.complete).max();
    let late = |op: &Op<I>| !op.required && op.complete.is_some() && op.complete > last;
    if !ops.iter().any(late) {
        return Cow::Borrowed(ops);
    }
    let mut ops = ops.to_vec();
    ops.iter_mut().filter(|op| late(op)).for_each(|op| op.complete = None);
    Cow::Owned(ops)
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There is an order that fits.
    Linearizable {
        /// The operations in such an order, by their place in the list given; those left out never took effect.
        order: Vec<usize>,
    },
    /// There is none.
    Not {
        /// The operation, by its place in the list given, whose completion no order gets past: what was recorded before
        /// that completion is linearizable, with it it is not.
        stuck: usize,
    },
    /// The budget ran out before the search decided.
    GaveUp(Limit),
}

/// Whether there is an order that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// There is one.
    Linearizable,
    /// There is none.
    Not {
        /// An operation, by its place in the list given: what was recorded up to its completion is not linearizable.
        stuck: usize,
    },
    /// The budget ran out before the search decided.
    GaveUp(Limit),
}

impl From<Outcome> for Decision {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Linearizable { .. } => Self::Linearizable,
            Outcome::Not { stuck } => Self::Not { stuck },
            Outcome::GaveUp(limit) => Self::GaveUp(limit),
        }
    }
}

/// Searches for an order of `ops`, which may come in any order, that fits the model.
pub fn search<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> Outcome {
    if walk::fixed::<M>(ops) > budget.bytes {
        return Outcome::GaveUp(Limit::Memory);
    }
    walk::Walk::new(model, ops).run(budget)
}
