//! Counts and durations of transactions.

use super::decision::Decision;
use super::transactions::Transactions;
use crate::analysis::Analysis;
use crate::stats::{milliseconds, percentile};
use serde_json::{Value, json};

/// The statistics, by name.
pub fn of(run: &Analysis<'_>, all: &Transactions<'_>) -> Vec<(String, Value)> {
    // From the sending of `begin` to the first report of a site.
    let mut times: Vec<u64> = all
        .all
        .iter()
        .filter_map(|tx| {
            let first = tx.reports.first()?;
            Some(run.time(first.read).saturating_sub(run.time(tx.begin?)))
        })
        .collect();
    times.sort_unstable();
    let at = |share| json!(percentile(&times, share).map(milliseconds));
    [
        ("transactions", json!(all.all.len())),
        ("commits", json!(all.decided(Decision::Commit))),
        ("aborts", json!(all.decided(Decision::Abort))),
        ("decision_p50_ms", at(50)),
        ("decision_p95_ms", at(95)),
        ("decision_max_ms", at(100)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
