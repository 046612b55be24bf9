//! The sequential types of histories of others, beside registers and mutexes, with what decides them in time nearly linear.
//!
//! [`permits`] are semaphores, read-write locks and reentrant mutexes; [`fenced`] is a mutex whose grants have tokens; [`fifo`] and
//! [`bag`] are queues, and so is [`total`], which delivers at least once; [`set`], [`counter`] and [`ids`] are what their names say;
//! [`barrier`] is a round of a double barrier, and [`commit`] a transaction of an atomic commit. [`kv`] is searched: nothing nearly
//! linear decides it. `pairs` searches FIFO queues. `presence` knows when a queue or a barrier held something with certainty, `schedule`
//! when a counter was added to.

pub mod bag;
pub mod barrier;
pub mod commit;
pub mod counter;
pub mod fenced;
pub mod fifo;
pub mod ids;
pub mod kv;
mod pairs;
pub mod permits;
mod presence;
mod schedule;
pub mod set;
pub mod total;

use super::{Claim, Contradiction, Op, Witness};

/// Whether something has an end although it need not have happened, as only witnesses in the making have it.
fn any_optional<I>(ops: &[Op<I>]) -> bool {
    ops.iter().any(|op| op.complete.is_some() && !op.required)
}

/// Operations that contradict each other; the one that ends last is stuck.
fn contradiction<I>(ops: &[Op<I>], mut witness: Vec<usize>, claim: &'static Claim) -> Contradiction {
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
fn earliest<I>(ops: &[Op<I>], found: impl IntoIterator<Item = Contradiction>) -> Option<Contradiction> {
    let end = |found: &Contradiction| (ops[found.stuck].complete, found.witness.ops.len());
    found.into_iter().min_by_key(end)
}
