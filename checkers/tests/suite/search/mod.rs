//! The general search against its definition, against histories written by hand, and for long ones.

mod agree;
mod barriers_and_commits;
mod brute;
mod decided;
mod drains;
mod foreign;
pub mod judged;
mod keys;
mod kinds;
mod kv;
mod long;
mod models;
mod strays;
mod total;
mod unexplained;
mod words;

use zooquake_checkers::search::{Budget, Limit, Model, Op, Outcome};

/// Searches with a budget that no test should use up.
pub fn search<M: Model>(model: &M, ops: &[Op<M::Input>]) -> Outcome {
    with_budget(|budget| zooquake_checkers::search::search(model, ops, budget))
}

/// Calls with a budget that no test should use up.
pub fn with_budget<T>(call: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    call(&mut Budget {
        steps: 100_000_000,
        bytes: 1 << 30,
        expired: &mut || false,
    })
}

/// How a search ends that may use only so much.
pub fn limited<M: Model>(model: &M, ops: &[Op<M::Input>], steps: u64, bytes: usize, time: bool) -> Option<Limit> {
    let mut expired = || time;
    let mut budget = Budget {
        steps,
        bytes,
        expired: &mut expired,
    };
    match zooquake_checkers::search::search(model, ops, &mut budget) {
        Outcome::GaveUp(limit) => Some(limit),
        Outcome::Linearizable { .. } | Outcome::Not { .. } => None,
    }
}
