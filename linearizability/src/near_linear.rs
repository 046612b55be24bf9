//! What is decided in time nearly linear, without a search.

use crate::{Contradiction, Model, Op, SearchDecision, Witness};

/// What was found without a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NearLinearDecision {
    /// There is an order that fits.
    Linearizable,
    /// There is none.
    Not(Contradiction),
    /// It takes a search to decide.
    Undecided,
}

impl NearLinearDecision {
    /// The same as a decision; `None` for [`Undecided`](Self::Undecided).
    pub fn decision(self) -> Option<SearchDecision> {
        match self {
            Self::Linearizable => Some(SearchDecision::Linearizable),
            Self::Not(found) => Some(SearchDecision::Not { stuck: found.stuck }),
            Self::Undecided => None,
        }
    }
}

/// The contradiction that ends first, of all that are found without a search in what was recorded before the one found
/// last; with it whether what was recorded before it is known to fit.
pub fn first<M: Model>(model: &M, ops: &[Op<M::Input>], mut found: Contradiction) -> (Contradiction, bool) {
    loop {
        let Some(end) = ops[found.stuck].complete else {
            return (found, false);
        };
        let (kept, known) = before(ops, end);
        match model.near(&known) {
            NearLinearDecision::Not(earlier) => {
                found = Contradiction {
                    stuck: kept[earlier.stuck],
                    witness: Witness {
                        ops: earlier.witness.ops.iter().map(|&op| kept[op]).collect(),
                        ..earlier.witness
                    },
                    claim: earlier.claim,
                };
            }
            other => return (found, other == NearLinearDecision::Linearizable),
        }
    }
}

/// The operations as they were known before a position, and which ones of `ops` they are.
fn before<I: Clone>(ops: &[Op<I>], end: usize) -> (Vec<usize>, Vec<Op<I>>) {
    let known = ops.iter().enumerate().filter(|(_, op)| op.invoke < end);
    let cut = |(place, op): (usize, &Op<I>)| match op.complete {
        Some(complete) if complete < end => (place, op.clone()),
        _ => (place, Op::unknown(op.input.clone(), op.invoke)),
    };
    known.map(cut).unzip()
}
