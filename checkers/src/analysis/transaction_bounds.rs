//! The moment, or the event, by which a transaction was certainly made, from what names it or a later one.
//!
//! Transactions are made in the order of their zxids, so that an event that names one, or the state of a server that
//! has one, comes after all before it.

use super::{Analysis, named_zxids};

/// Transactions and that by which they were made: a moment, in nanoseconds since the run began, or an event.
#[derive(Debug)]
pub struct TransactionBounds<T = u64> {
    /// By zxid; each bound is the earliest from there on.
    known: Vec<(i64, T)>,
}

impl TransactionBounds {
    /// The moments that a run shows, by its events and the samples of servers.
    pub fn new(run: &Analysis<'_>) -> Self {
        let events = run.events.iter();
        let named = events.flat_map(|event| named_zxids::named(event).into_iter().map(|zxid| (zxid, event.time)));
        let samples = run.record.servers.into_iter().flatten();
        Self::known(named.chain(samples.map(|sample| (sample.zxid, sample.time))))
    }
}

impl TransactionBounds<usize> {
    /// The first events that show the transactions of a run; a disputed answer shows nothing.
    pub fn events(run: &Analysis<'_>) -> Self {
        let events = run.events.iter().enumerate();
        let certain = events.filter(|(at, _)| !run.ops.disputed.contains(at));
        Self::known(certain.flat_map(|(at, event)| named_zxids::named(event).into_iter().map(move |zxid| (zxid, at))))
    }
}

impl<T: Copy + Ord> TransactionBounds<T> {
    /// The bounds by transactions that are named, each at one.
    pub fn known(named: impl Iterator<Item = (i64, T)>) -> Self {
        let mut known: Vec<(i64, T)> = named.collect();
        known.sort_unstable();
        for at in (1..known.len()).rev() {
            known[at - 1].1 = known[at - 1].1.min(known[at].1);
        }
        Self { known }
    }

    /// The earliest known bound by which a transaction was made; `None` if nothing names it or a later one.
    pub fn made_by(&self, zxid: i64) -> Option<T> {
        let place = self.known.partition_point(|&(other, _)| other < zxid);
        self.known.get(place).map(|&(_, bound)| bound)
    }
}
