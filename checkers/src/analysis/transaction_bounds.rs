//! The moment by which a transaction was certainly made, from what names it or a later one.
//!
//! Transactions are made in the order of their zxids, so that an event that names one, or the state of a server that
//! has one, comes after all before it.

use super::{Analysis, named_zxids};

/// Transactions and moments by which they were made, in nanoseconds since the run began.
pub struct TransactionBounds {
    /// By zxid; each moment is the earliest from there on.
    known: Vec<(i64, u64)>,
}

impl TransactionBounds {
    /// Reads them out of a run.
    pub fn new(run: &Analysis<'_>) -> Self {
        let events = run.events.iter();
        let named = events.flat_map(|event| named_zxids::named(event).into_iter().map(|zxid| (zxid, event.time)));
        let samples = run.record.servers.into_iter().flatten();
        Self::from_moments(named.chain(samples.map(|sample| (sample.zxid, sample.time))))
    }

    /// The same by transactions that are named, each at a moment.
    pub fn from_moments(named: impl Iterator<Item = (i64, u64)>) -> Self {
        let mut known: Vec<(i64, u64)> = named.collect();
        known.sort_unstable();
        for at in (1..known.len()).rev() {
            known[at - 1].1 = known[at - 1].1.min(known[at].1);
        }
        Self { known }
    }

    /// The earliest known moment by which a transaction was made; `None` if nothing names it or a later one.
    pub fn made_by(&self, zxid: i64) -> Option<u64> {
        self.known
            .get(self.known.partition_point(|&(other, _)| other < zxid))
            .map(|&(_, moment)| moment)
    }
}
