//! The depth-first search of Wing and Gong, with Lowe's memoisation on the entry list of Horn and Kroening.

mod bit_set;
mod list;
mod longest;
mod visited;
mod walk;

pub use longest::{LongestOrder, OrderEnd, longest_order};

use crate::{Budget, Limit, Model, Op};

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchOutcome {
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
pub enum SearchDecision {
    /// There is an order that fits.
    Linearizable,
    /// There is none.
    Not {
        /// An operation, by its place in the list given: what was recorded up to its completion is not linearizable.
        stuck: usize,
    },
    /// The budget ran out before the search decided.
    GaveUp(Limit),
}

impl From<SearchOutcome> for SearchDecision {
    fn from(outcome: SearchOutcome) -> Self {
        match outcome {
            SearchOutcome::Linearizable { .. } => Self::Linearizable,
            SearchOutcome::Not { stuck } => Self::Not { stuck },
            SearchOutcome::GaveUp(limit) => Self::GaveUp(limit),
        }
    }
}

/// Searches for an order of `ops`, which may come in any order, that fits the model.
pub fn search<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> SearchOutcome {
    if list::fixed::<M>(ops) > budget.bytes {
        return SearchOutcome::GaveUp(Limit::Memory);
    }
    walk::Walk::new(model, ops).run(budget)
}
