//! A mutex whose holder may lose it without doing anything: a lock that rests on a lease or a session.
//!
//! A hold is certain only if its own release was answered with `ok`, because then it had not been lost until the
//! release took effect. Any other hold may have ended the moment after its grant, so its grant proves only that nobody
//! held with certainty at that moment.

use crate::model::{Model, NearLinearDecision, Op};
use crate::models::mutex::certain_holds;

/// The mutex, free at the beginning. Its state is the certain hold that is on, if one is.
#[derive(Debug, Clone, Copy)]
pub struct LeaseMutex;

/// An operation on the mutex that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseOp {
    /// A hold began that its release proves to have lasted until then. Holds are numbered.
    Grant(usize),
    /// That hold ended.
    Release(usize),
    /// A hold began that lasted for an unknown time.
    Glimpse,
}

impl Model for LeaseMutex {
    type State = Option<usize>;
    type Input = LeaseOp;

    fn initial(&self) -> Option<usize> {
        None
    }

    fn step(&self, hold: &Option<usize>, input: &LeaseOp) -> Option<Option<usize>> {
        match *input {
            LeaseOp::Grant(new) => hold.is_none().then_some(Some(new)),
            LeaseOp::Release(old) => (*hold == Some(old)).then_some(None),
            LeaseOp::Glimpse => hold.is_none().then_some(None),
        }
    }

    fn is_read(&self, input: &LeaseOp) -> bool {
        matches!(input, LeaseOp::Glimpse)
    }

    fn after(&self, input: &LeaseOp) -> Option<Option<usize>> {
        match *input {
            LeaseOp::Grant(new) => Some(Some(new)),
            LeaseOp::Release(_) | LeaseOp::Glimpse => Some(None),
        }
    }

    fn near(&self, ops: &[Op<LeaseOp>]) -> NearLinearDecision {
        certain_holds::judge(ops)
    }
}
