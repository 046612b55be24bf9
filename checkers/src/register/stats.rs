//! Durations of accesses.

use crate::analysis::Analysis;
use crate::history::EventType;
use crate::stats::{milliseconds, percentile};
use serde_json::{Value, json};

/// The statistics, by name.
pub fn of(run: &Analysis<'_>, stale: Option<usize>) -> Vec<(String, Value)> {
    let mut stats = vec![("stale_reads".to_owned(), json!(stale))];
    for f in ["read", "write", "cas"] {
        // From the sending of each to its answer `ok`.
        let answered = run.ops.work.iter().filter(|op| op.f == f).filter_map(|op| {
            let end = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
            Some(run.time(end).saturating_sub(run.time(op.invoke?)))
        });
        let mut times: Vec<u64> = answered.collect();
        times.sort_unstable();
        for (name, share) in [("p50", 50), ("p95", 95), ("max", 100)] {
            let time = percentile(&times, share).map(milliseconds);
            stats.push((format!("{f}_{name}_ms"), json!(time)));
        }
    }
    stats
}
