//! What was found of an object.

use crate::proof::Proof;
use crate::{BrokenClaim, Call, CallOrder, InputError, Limit};

/// What was found of the operations of one object. It is linearizable if there are neither violations nor remarks that
/// [leave that open](Remark::leaves_open).
#[derive(Debug, Default)]
pub struct Judgement<'a> {
    /// The contradictions found; empty if an order fits all that was judged.
    pub violations: Vec<Violation<'a>>,
    /// What was not judged, and other remarks on the judgement.
    pub remarks: Vec<Remark<'a>>,
    /// The longest order, if that was asked for in place of a verdict.
    pub(crate) order: Option<CallOrder<'a>>,
}

/// Operations that no order fits, with what they break.
#[derive(Debug, Clone)]
pub struct Violation<'a> {
    /// The property that they break.
    pub claim: BrokenClaim,
    /// The one that cannot have its answer.
    pub stuck: &'a Call<'a>,
    /// All of them: even if of every other operation nobody knew whether it happened, no order fits. The same operation
    /// may be among them more than once.
    pub witness: Vec<&'a Call<'a>>,
    /// Positions of the events that prove it, ascending.
    pub events: Vec<usize>,
    /// Whether none of them can be left out; if not, the budget ran out before that was known.
    pub minimal: bool,
    /// How many operations that were answered before `stuck` fit together; `None` if that is not known.
    pub fits: Option<usize>,
}

impl<'a> Violation<'a> {
    /// What proves that the operations of these calls have no order; `claim` is broken where the proof names no more
    /// specific one.
    pub(crate) fn new(claim: BrokenClaim, calls: &[&'a Call<'a>], proof: &Proof) -> Self {
        let witness: Vec<&Call<'_>> = proof.witness.ops.iter().map(|&op| calls[op]).collect();
        let both = |call: &&Call<'_>| [Some(call.invoke), call.complete];
        let mut events: Vec<usize> = witness.iter().flat_map(both).flatten().collect();
        events.sort_unstable();
        events.dedup();
        Self {
            claim: proof.claim.copied().unwrap_or(claim),
            stuck: calls[proof.stuck],
            witness,
            events,
            minimal: proof.witness.least,
            fits: proof.fits,
        }
    }
}

/// What a verdict leaves open, or should be read with.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark<'a> {
    /// The budget ran out before an order was found or all were excluded.
    GaveUp(Limit),
    /// Some operations were not judged.
    Unjudged(InputError),
    /// So many grants have no token that is a number.
    NoTokens(usize),
    /// A drain took several items out, and their order among each other was not judged.
    DrainUnordered,
    /// Whether items were lost was not judged: no drain was sent after all deliveries were answered and after this,
    /// whose item did not come out.
    LossesUnjudged {
        /// What put the item in.
        enqueue: &'a Call<'a>,
    },
    /// So many deliveries repeated an item that had come out already, as the model allows.
    Repeated(usize),
    /// Several processes name one client, so that it is not known which of its holds a release ends: of no hold of such
    /// a client more was judged than that it was granted.
    ClientShared {
        /// The first operation of such a client.
        first: &'a Call<'a>,
        /// The first one of the same client by another process.
        other: &'a Call<'a>,
    },
    /// A hold had ended when it was to be released, as the model allows.
    LeaseLost {
        /// The acquire.
        grant: &'a Call<'a>,
        /// The release, which failed.
        release: &'a Call<'a>,
    },
}

impl Remark<'_> {
    /// Whether the history is not known to be linearizable because of it.
    pub fn leaves_open(&self) -> bool {
        !matches!(self, Self::Repeated(_) | Self::LeaseLost { .. })
    }
}
