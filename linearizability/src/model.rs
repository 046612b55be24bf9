//! The sequential type of an object, by which a history is decided: its operations as that type has them, and what
//! contradicts an order of them.

use crate::search::{Budget, SearchDecision, search};
use std::borrow::Cow;
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

    /// Decides a history whose initial state is unknown.
    fn decide_anywhere(&self, ops: &[Op<Self::Input>], budget: &mut Budget<'_>) -> SearchDecision {
        search(&UnknownStart(self), ops, budget).into()
    }
}

/// An operation of a history: what it did, and from when to when it was in flight.
///
/// Positions are those of events in the history; only their order matters, and no two of them are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op<I> {
    /// What was done and answered.
    pub input: I,
    /// The position of its invocation in the history.
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
    pub fn with_input<J>(&self, input: J) -> Op<J> {
        Op {
            input,
            invoke: self.invoke,
            complete: self.complete,
            required: self.required,
        }
    }

    /// Whether an order must hold it.
    pub(crate) fn must(&self) -> bool {
        self.required && self.complete.is_some()
    }
}

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
    /// The decision of a history by this; `None` for [`Undecided`](Self::Undecided).
    pub fn decision(self) -> Option<SearchDecision> {
        match self {
            Self::Linearizable => Some(SearchDecision::Linearizable),
            Self::Not(found) => Some(SearchDecision::Not { stuck: found.stuck }),
            Self::Undecided => None,
        }
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

/// Operations that prove that a history is not linearizable: it is not, even if of every other operation nobody knew
/// whether it took effect between its invocation and its completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The operations, by their place in the list given, ascending.
    pub ops: Vec<usize>,
    /// Whether none of them can be left out. `false`: the budget ran out before that was known.
    pub least: bool,
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
/// A model in a state that is not known until an operation shows it.
pub struct UnknownStart<'m, M>(pub &'m M);

impl<M: Model> Model for UnknownStart<'_, M> {
    type State = Option<M::State>;
    type Input = M::Input;

    fn initial(&self) -> Self::State {
        None
    }

    fn step(&self, state: &Self::State, input: &M::Input) -> Option<Self::State> {
        match state {
            Some(state) => self.0.step(state, input).map(Some),
            None => Some(self.0.after(input)),
        }
    }

    fn is_read(&self, input: &M::Input) -> bool {
        self.0.is_read(input)
    }

    fn after(&self, input: &M::Input) -> Option<Self::State> {
        self.0.after(input).map(Some)
    }

    fn heap(&self, state: &Self::State) -> usize {
        state.as_ref().map_or(0, |state| self.0.heap(state))
    }
}

/// Decides by the operations `kept`, which are all that matter; `None` if all do.
pub fn narrowed<I: Clone>(
    ops: &[Op<I>],
    kept: Option<Vec<usize>>,
    decide: impl FnOnce(&[Op<I>]) -> SearchDecision,
) -> SearchDecision {
    let Some(kept) = kept else { return decide(ops) };
    let fewer: Vec<Op<I>> = kept.iter().map(|&op| ops[op].clone()).collect();
    match decide(&fewer) {
        SearchDecision::Not { stuck } => SearchDecision::Not { stuck: kept[stuck] },
        other => other,
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

/// Whether something has an end although it need not have happened, as only witnesses in the making have it.
pub fn any_optional<I>(ops: &[Op<I>]) -> bool {
    ops.iter().any(|op| op.complete.is_some() && !op.required)
}

/// Operations that contradict each other; the one that ends last is stuck.
pub fn contradiction<I>(ops: &[Op<I>], mut witness: Vec<usize>, claim: &'static BrokenClaim) -> Contradiction {
    witness.sort_unstable();
    witness.dedup();
    let stuck = witness.iter().copied().max_by_key(|&op| ops[op].complete);
    Contradiction {
        stuck: stuck.unwrap_or_default(),
        witness: Witness {
            ops: witness,
            least: true,
        },
        claim: Some(claim),
    }
}

/// Of some contradictions the one that ends first.
pub fn earliest<I>(ops: &[Op<I>], found: impl IntoIterator<Item = Contradiction>) -> Option<Contradiction> {
    let end = |found: &Contradiction| (ops[found.stuck].complete, found.witness.ops.len());
    found.into_iter().min_by_key(end)
}

/// That no order of an object's operations fits, as the beginning of a sentence.
pub const fn unordered(says: &'static str) -> BrokenClaim {
    BrokenClaim {
        kind: "not-linearizable",
        property: "linearizability",
        says,
    }
}
