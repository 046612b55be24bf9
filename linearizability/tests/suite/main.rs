//! The search and its models against their definitions, against histories written by hand, and for long histories.
//!
//! # Random histories
//!
//! Most tests draw small random histories of each model, and hold what is decided against the definition taken
//! literally. The environment sets how many each of them draws; without it 25,000:
//!
//! ```text
//! ZOOQUAKE_HISTORIES=1000000 cargo test --release -p zooquake-linearizability --test suite
//! ```

mod agree;
mod brute;
mod decided;
mod drawn;
mod generated;
mod kv;
mod long;
mod longest;
mod models;
mod registry;
mod textbook;
mod unexplained;

use zooquake_linearizability::{Budget, Limit, Model, Op, SearchOutcome};

/// How many histories each test draws.
fn histories() -> usize {
    match std::env::var("ZOOQUAKE_HISTORIES") {
        Ok(text) => text.parse().expect("ZOOQUAKE_HISTORIES is a number"),
        Err(_) => 25_000,
    }
}

/// Searches with a budget that no test should use up.
fn search<M: Model>(model: &M, ops: &[Op<M::Input>]) -> SearchOutcome {
    with_budget(|budget| zooquake_linearizability::search(model, ops, budget))
}

/// Calls with a budget that no test should use up.
fn with_budget<T>(call: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    call(&mut Budget {
        steps: 100_000_000,
        bytes: 1 << 30,
        expired: &mut || false,
    })
}

/// How a search ends that may use only so much.
fn limited<M: Model>(model: &M, ops: &[Op<M::Input>], steps: u64, bytes: usize, time: bool) -> Option<Limit> {
    let mut expired = || time;
    let mut budget = Budget {
        steps,
        bytes,
        expired: &mut expired,
    };
    match zooquake_linearizability::search(model, ops, &mut budget) {
        SearchOutcome::GaveUp(limit) => Some(limit),
        SearchOutcome::Linearizable { .. } | SearchOutcome::Not { .. } => None,
    }
}
