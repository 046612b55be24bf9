//! Znodes that clients may wait or hold by without being able to name them: those of a client that cannot name the
//! session of what it acquires, such as one that runs a program for each grant.

use crate::analysis::transaction_log::TransactionBounds;
use crate::analysis::{Analysis, Op};
use crate::findings::Findings;
use crate::text::count;
use std::collections::{BTreeSet, HashSet};
use zooquake_history::EventType;
use zooquake_history::evidence::{Reading, Znode};
use zooquake_history::operation::grant::f;
use zooquake_history::protocol::ClientLimit;

/// Chooses among the contenders that stand in both readings, and that nobody named or has the session of, those that
/// requests may have made which are pending then, or whose grant is still held: as many as there are, each one made
/// after its request was sent, the latest first. A request without an `ok` that ended less than two session timeouts
/// before counts, as what its program had made goes with its session. What is not judged for it is noted.
pub fn excused<'z>(
    run: &Analysis<'_>,
    (before, after): (&Reading, &Reading),
    unnamed: &[&'z Znode],
    out: &mut Findings,
) -> BTreeSet<(&'z str, i64)> {
    if unnamed.is_empty() {
        return BTreeSet::new();
    }
    let held = held(run, after);
    let since = run
        .events
        .get(before.index.saturating_sub(1))
        .map_or(0, |event| event.time);
    let lives = run.record.plan.cluster.timing.session_ms.saturating_mul(2_000_000);
    let stands = |op: &&Op<'_>| {
        let asks = matches!(op.f, f::ACQUIRE | f::ELECT | f::TRY_ACQUIRE)
            && run.declared.cannot(op.node, ClientLimit::Session);
        let ended = op.end.into_iter().chain(op.cut).min().filter(|&end| end < before.index);
        let goes_on = ended.is_none_or(|end| match run.events[end].kind {
            EventType::Ok => held.contains(&end),
            _ => run.time(end).saturating_add(lives) > since,
        });
        asks && op.invoke.is_some_and(|sent| sent < before.end_index) && goes_on
    };
    let mut requests: Vec<&Op<'_>> = run.ops.work.iter().filter(stands).collect();
    if requests.is_empty() {
        return BTreeSet::new();
    }
    let bounds = TransactionBounds::new(run);
    let mut latest = unnamed.to_vec();
    latest.sort_unstable_by_key(|znode| std::cmp::Reverse(znode.czxid));
    let mut excused = BTreeSet::new();
    for znode in latest {
        // The last request that was sent before the znode was there for certain.
        let made = bounds.made_by(znode.czxid);
        let may = |op: &&Op<'_>| {
            op.invoke
                .is_some_and(|sent| made.is_none_or(|made| run.time(sent) <= made))
        };
        if let Some(at) = requests.iter().rposition(may) {
            requests.remove(at);
            excused.insert((znode.path.as_str(), znode.czxid));
        }
    }
    if !excused.is_empty() {
        out.leave(
            "orphan-node",
            format!(
                "clients cannot name the session of what they wait or hold by: {} of a session that no client named, which as many \
                 of their requests may have made, the latest ones",
                count(excused.len(), "znode")
            ),
        );
    }
    excused
}

/// Where the grants were read that were not asked back by the end of a reading.
fn held(run: &Analysis<'_>, after: &Reading) -> HashSet<usize> {
    let grants = run.grants.all.iter();
    let held = grants.filter(|grant| grant.end.is_none_or(|end| end >= after.end_index));
    held.filter_map(|grant| grant.read).collect()
}
