//! Numbers over the operations of a run.

use super::{DrawnOperation, OperationOutcome, RunModel};
use crate::text;
use std::collections::BTreeMap;
use zooquake_checkers::analysis::LatencyKind;

/// Counts and latencies of one kind of operation.
#[derive(Debug, Clone, Default)]
pub struct OpStats {
    /// How many ended each way, in the order of [`OperationOutcome::ALL`].
    pub counts: [usize; 4],
    /// Latencies of those that ended `ok`, ascending.
    pub latencies: Vec<u64>,
}

impl OpStats {
    /// The latency that the share `q` of the operations did not exceed.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let last = self.latencies.len().checked_sub(1)?;
        let rank = (self.latencies.len() as f64 * q).ceil() as usize;
        self.latencies.get(rank.saturating_sub(1).min(last)).copied()
    }

    /// Counts an operation. Its latency comes last, in whatever order the others are.
    fn add(&mut self, op: &DrawnOperation<'_>) {
        self.counts[op.outcome as usize] += 1;
        if op.outcome == OperationOutcome::Ok {
            self.latencies.extend(op.latency());
        }
    }
}

/// Statistics by operation, of clients' operations only.
pub fn op_stats<'a>(ops: &[DrawnOperation<'a>]) -> BTreeMap<&'a str, OpStats> {
    let mut stats: BTreeMap<&str, OpStats> = BTreeMap::new();
    for op in ops.iter().filter(|op| !op.control) {
        stats.entry(op.f).or_default().add(op);
    }
    for entry in stats.values_mut() {
        entry.latencies.sort_unstable();
    }
    stats
}

/// Statistics of the operations of one name that were sent in each of `parts` equal parts of the run.
pub fn stats_by_part(model: &RunModel<'_>, f: &str, parts: usize) -> Vec<OpStats> {
    let mut stats = vec![OpStats::default(); parts];
    for op in model.ops.iter().filter(|op| !op.control && op.f == f) {
        stats[part(op.start, part_width(model, parts), parts)].add(op);
    }
    stats.iter_mut().for_each(|stats| stats.latencies.sort_unstable());
    stats
}

/// Operations per second that ended each way, in `bins` equal parts of the run.
pub fn rates(model: &RunModel<'_>, bins: usize) -> Vec<[f64; 3]> {
    let mut rates = vec![[0.0; 3]; bins];
    let width = part_width(model, bins);
    let over = |op: &&DrawnOperation<'_>| !op.control && op.outcome != OperationOutcome::Pending;
    for op in model.ops.iter().filter(over) {
        rates[part(op.end.unwrap_or(op.start), width, bins)][op.outcome as usize] += 1e9 / width;
    }
    rates
}

/// The nanoseconds of each of so many equal parts of the run.
fn part_width(model: &RunModel<'_>, parts: usize) -> f64 {
    (model.end as f64 / parts as f64).max(1.0)
}

/// The part of that width in which a moment lies; the last one also has the end.
fn part(time: u64, width: f64, parts: usize) -> usize {
    ((time as f64 / width) as usize).min(parts - 1)
}

/// Errors by operation, outcome and kind, with how often, the commonest first, at most 30.
pub fn errors(ops: &[DrawnOperation<'_>]) -> Vec<((String, OperationOutcome, String), usize)> {
    let mut counts: BTreeMap<(String, OperationOutcome, String), usize> = BTreeMap::new();
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

/// Words for the latencies of one kind.
#[derive(Debug)]
pub struct LatencyTerms {
    /// The heading of their numbers.
    pub heading: &'static str,
    /// What they are, in a table.
    pub noun: &'static str,
    /// From what to what, in a sentence.
    pub sentence: &'static str,
    /// What one begins with.
    pub after: &'static str,
}

impl LatencyTerms {
    /// The words for a kind; `None` for the latencies of single operations, which have a section of their own.
    pub fn from_kind(kind: LatencyKind) -> Option<Self> {
        let (heading, noun, sentence, after) = match kind {
            LatencyKind::HandOver => (
                "Handover",
                "handovers",
                "From the sending of a release to the next client's grant, where that client was waiting already.",
                "released",
            ),
            LatencyKind::Delivery => (
                "From enqueue to delivery",
                "deliveries",
                "From the answer to an item's enqueue to the first answer that gave it to a client.",
                "its enqueue was answered",
            ),
            LatencyKind::Opening => (
                "Opening of the barrier",
                "openings",
                "From the sending of the last request by which a member arrives to the answer that lets a client in.",
                "the last member had set out",
            ),
            LatencyKind::Decision => (
                "From begin to decision",
                "decisions received",
                "From the sending of a transaction's begin to the answer that gives a site its decision.",
                "its begin was sent",
            ),
            LatencyKind::Spread => (
                "From change to view",
                "changes seen",
                "From the answer to a register or an update to the first view of each other client that shows it.",
                "the change was answered",
            ),
            LatencyKind::Answer => return None,
        };
        Some(Self {
            heading,
            noun,
            sentence,
            after,
        })
    }
}
