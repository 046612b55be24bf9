//! The moment before which a transaction was certainly not made, from what ties other transactions to time.
//!
//! Transactions are made in the order of their zxids. So one that is later than another was not made before the request
//! that made the other was sent, nor before the leader of its epoch, asked what its last transaction was, named an
//! earlier one.

use crate::analysis::Analysis;
use std::collections::HashMap;
use zooquake_history::operation::grant::f;
use zooquake_history::{EventType, ServerSample};

/// Transactions and moments before which they were not made, in nanoseconds since the run began.
#[derive(Debug, Default)]
pub struct TransactionTimes {
    /// By zxid; each moment is the latest up to there.
    requests: Vec<(i64, u64)>,
    /// The last transactions of leaders, by zxid; each moment is the latest up to there within the epoch.
    leaders: Vec<(i64, u64)>,
}

impl TransactionTimes {
    /// Reads them out of a run.
    pub fn new(run: &Analysis<'_>) -> Self {
        let requests = requests(run).map(|(made, at)| (made, run.time(at)));
        Self {
            requests: latest(requests.collect(), |_, _| true),
            leaders: latest(leaders(run).collect(), |a, b| a >> 32 == b >> 32),
        }
    }

    /// The latest known moment before which the transaction `zxid` was not made, in nanoseconds since the run began;
    /// `None` if no evidence bounds it.
    pub fn not_before(&self, zxid: i64) -> Option<u64> {
        let below = |all: &[(i64, u64)]| {
            let place = all.partition_point(|&(other, _)| other < zxid);
            all[..place].last().copied()
        };
        let leader = below(&self.leaders).filter(|(other, _)| other >> 32 == zxid >> 32);
        below(&self.requests).into_iter().chain(leader).map(|(_, at)| at).max()
    }
}

/// In the order of zxids, each with the latest moment of those before it that are `alike`.
fn latest(mut all: Vec<(i64, u64)>, alike: impl Fn(i64, i64) -> bool) -> Vec<(i64, u64)> {
    all.sort_unstable();
    for at in 1..all.len() {
        let (zxid, before) = all[at - 1];
        if alike(zxid, all[at].0) {
            all[at].1 = all[at].1.max(before);
        }
    }
    all
}

/// The transactions that answers name as made by their requests, each with the event by which its request had not been
/// sent. A client whose last attempt ended without an answer may have made its transaction in that one.
fn requests(run: &Analysis<'_>) -> impl Iterator<Item = (i64, usize)> {
    let mut first: HashMap<(&str, &str), usize> = HashMap::new();
    let work = run.ops.work.iter().filter(|op| op.f != f::READ);
    work.chain(&run.ops.control).filter_map(move |op| {
        let sent = *first.entry((op.node, op.f)).or_insert(op.invoke?);
        let end = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
        first.remove(&(op.node, op.f));
        let event = &run.events[end];
        let made = [event.czxid(), event.mzxid(), event.zxid()]
            .into_iter()
            .flatten()
            .max()?;
        Some((made, sent))
    })
}

/// What leaders named as their last transaction, each with the moment at which the same server had answered before:
/// what comes later in the epoch was made after that.
fn leaders(run: &Analysis<'_>) -> impl Iterator<Item = (i64, u64)> {
    let mut last: HashMap<&str, u64> = HashMap::new();
    let samples = run.record.servers.into_iter().flatten();
    samples.filter_map(move |sample: &ServerSample| {
        let before = last.insert(&sample.server, sample.time)?;
        (sample.mode == "leader").then_some((sample.zxid, before))
    })
}
