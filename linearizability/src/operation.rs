//! Operations as a model has them.

use std::borrow::Cow;

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

/// Operations without the ends of those that need not have happened and end after all that must have.
pub(crate) fn endless<I: Clone>(ops: &[Op<I>]) -> Cow<'_, [Op<I>]> {
    let last = ops.iter().filter(|op| op.must()).filter_map(|op| op.complete).max();
    let late = |op: &Op<I>| !op.required && op.complete.is_some() && op.complete > last;
    if !ops.iter().any(late) {
        return Cow::Borrowed(ops);
    }
    let mut ops = ops.to_vec();
    ops.iter_mut().filter(|op| late(op)).for_each(|op| op.complete = None);
    Cow::Owned(ops)
}
