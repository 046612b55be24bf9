//! The search against histories as they are written down.

mod barriers_and_commits;
#[path = "../../../../linearizability/tests/suite/brute.rs"]
mod brute;
mod drains;
#[path = "../../../../linearizability/tests/suite/drawn.rs"]
mod drawn;
mod foreign;
pub mod judged;
mod keys;
mod kinds;
mod kv;
mod pictures;
mod strays;
mod total;

use zooquake_checkers::Results;
use zooquake_checkers::search::{Budget, ModelKind, Notation, judge};
use zooquake_history::History;

/// How many histories each test tries.
fn histories() -> usize {
    crate::histories(25_000) as usize
}

/// What is found in a history that is written as maps, with a budget that no test should use up.
pub fn told(history: &History, kind: ModelKind) -> Results {
    with_budget(|budget| judge(history, Vec::new(), kind, Notation::Maps, budget))
}

/// Calls with a budget that no test should use up.
pub fn with_budget<T>(call: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    call(&mut Budget {
        steps: 100_000_000,
        bytes: 1 << 30,
        expired: &mut || false,
    })
}
