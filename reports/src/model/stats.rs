//! Numbers over the operations of a run.

use super::{Op, Outcome, Role, Story};
use crate::text;
use std::collections::{BTreeMap, HashMap};

/// Counts and latencies of one kind of operation.
#[derive(Debug, Default)]
pub struct OpStats {
    /// How many ended each way, in the order of [`Outcome::ALL`].
    pub counts: [usize; 4],
    /// Latencies of those that ended `ok`, ascending.
    pub latencies: Vec<u64>,
}

impl OpStats {
    /// The latency that the share `q` of the operations did not exceed.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        quantile(&self.latencies, q)
    }
}

/// The value of a sorted list that the share `q` does not exceed.
pub fn quantile(sorted: &[u64], q: f64) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    sorted
        .get(((sorted.len() as f64 * q).ceil() as usize).saturating_sub(1).min(last))
        .copied()
}

/// Statistics by operation, of clients' operations only.
pub fn op_stats<'a>(ops: &[Op<'a>]) -> BTreeMap<&'a str, OpStats> {
    let mut stats: BTreeMap<&str, OpStats> = BTreeMap::new();
    for op in ops.iter().filter(|op| !op.control) {
        let entry = stats.entry(op.f).or_default();
        entry.counts[op.outcome as usize] += 1;
        if op.outcome == Outcome::Ok {
            entry.latencies.extend(op.latency());
        }
    }
    for entry in stats.values_mut() {
        entry.latencies.sort_unstable();
    }
    stats
}

/// The passing of the lock (or the lead) from one client to the next while somebody waited.
#[derive(Debug)]
pub struct Handover {
    /// When the hold before had ended.
    pub at: u64,
    /// How long it took from then to the next grant.
    pub took: u64,
    /// Row of the client that was granted.
    pub to: usize,
    /// How the hold before had ended.
    pub after: &'static str,
    /// Whether a fault was on meanwhile.
    pub faulty: bool,
}

/// The handovers of a run.
pub fn handovers(story: &Story<'_>) -> Vec<Handover> {
    let waits = story
        .ops
        .iter()
        .filter(|op| op.role == Role::Wait && op.outcome == Outcome::Ok);
    let asked: HashMap<(usize, Option<u64>), u64> = waits.map(|op| ((op.lane, op.end), op.start)).collect();
    let mut found = Vec::new();
    for pair in story.holds.windows(2) {
        let (before, next) = (&pair[0], &pair[1]);
        let Some(ended) = before.until.filter(|u| *u <= next.from) else {
            continue;
        };
        // If the next holder asked only later, the lock lay idle, and nobody was kept waiting.
        if asked
            .get(&(next.lane, Some(next.from)))
            .is_some_and(|start| *start <= ended)
        {
            let faulty = story
                .bands
                .iter()
                .any(|b| b.from <= next.from && b.until.is_none_or(|u| u >= ended));
            found.push(Handover {
                at: ended,
                took: next.from - ended,
                to: next.lane,
                after: before.ended_by,
                faulty,
            });
        }
    }
    found
}

/// Operations per second that ended each way, in `bins` equal parts of the run.
pub fn rates(story: &Story<'_>, bins: usize) -> Vec<[f64; 3]> {
    let mut rates = vec![[0.0; 3]; bins];
    let width = (story.end as f64 / bins as f64).max(1.0);
    for op in story
        .ops
        .iter()
        .filter(|op| !op.control && op.outcome != Outcome::Pending)
    {
        let bin = (op.end.unwrap_or(op.start) as f64 / width) as usize;
        rates[bin.min(bins - 1)][op.outcome as usize] += 1e9 / width;
    }
    rates
}

/// Errors by operation, outcome and kind, with how often, the commonest first, at most 30.
pub fn errors(ops: &[Op<'_>]) -> Vec<((String, Outcome, String), usize)> {
    let mut counts: BTreeMap<(String, Outcome, String), usize> = BTreeMap::new();
    for op in ops {
        let Some(error) = op.answer.and_then(|a| a.error.as_deref()) else {
            continue;
        };
        // What follows the colon differs from one to the next: paths, numbers.
        let kind = error.split(':').next().unwrap_or(error).trim();
        *counts
            .entry((text::clip(op.f, 40), op.outcome, text::clip(kind, 100)))
            .or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    counts.truncate(30);
    counts
}
