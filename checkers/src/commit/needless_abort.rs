//! `needless-abort`: abort though every site voted yes in time and no fault was on.
//!
//! In time: each yes was answered no later than one session timeout after `decide` was sent, before or after the abort
//! was reported. A vote that has not come yet is no no: a coordinator, or a site, waits one session timeout for it
//! before it gives the transaction up. One that was asked to vote no, or answered that it had, excuses an abort,
//! whatever came of it.
//!
//! What a fault has begun may go on after it: one that was healed less than a session timeout before the transaction
//! began counts as on, and so do the end of a client's process, the expiry of a session and a stall of the harness
//! itself. Also an attempt to inject one counts, from its begin until it was skipped.

use super::transactions::{JudgedTransaction, RequestedVote, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use crate::text::seconds;
use std::collections::{BTreeSet, HashMap};
use zooquake_history::operation::commit::Decision;
use zooquake_history::operation::nemesis::STALLED_MS;
use zooquake_history::{Event, Value};

/// Looks for aborts that nothing asked for, once for each transaction.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let faults = Faults::new(run);
    let patience = session(run);
    let mut looked_at = 0;
    for transaction in all.all.iter().filter(|transaction| !transaction.disputed) {
        let (Some(begin), Some(asked)) = (transaction.begin, transaction.asked) else {
            continue;
        };
        let Some(abort) = transaction.reported(Decision::Abort) else {
            continue;
        };
        looked_at += 1;
        let Some(votes) = acknowledged(run, transaction, run.time(asked).saturating_add(patience)) else {
            continue;
        };
        if faults.between(run.time(begin), run.time(abort.read)) {
            continue;
        }
        let why = format!(
            "{} reported abort of transaction {} at {}, though every site ({}) answered that it voted yes no later than one \
             session timeout ({}) after the decision was asked for at {}, and no fault was on.",
            abort.node,
            transaction.name,
            run.at(abort.read),
            transaction.sites.join(", "),
            seconds(patience),
            run.at(asked),
        );
        let mut witness = votes;
        witness.extend([begin, asked, abort.read]);
        out.add(run, Finding::new("needless-abort", "progress", witness, why));
    }
    out.ran("needless-abort", looked_at);
}

/// The session timeout, in nanoseconds.
fn session(run: &Analysis<'_>) -> u64 {
    run.record.plan.cluster.timing.session_ms.saturating_mul(1_000_000)
}

/// The answers by which every site had voted yes by the time `by`, in nanoseconds since the run began; `None` if one
/// had not, or ever may have voted no.
fn acknowledged(run: &Analysis<'_>, transaction: &JudgedTransaction<'_>, by: u64) -> Option<Vec<usize>> {
    let no = |vote: &RequestedVote<'_>| vote.wanted == Some(false) || vote.voted.is_some_and(|(yes, _)| !yes);
    if transaction.sites.is_empty() || transaction.votes.iter().any(no) {
        return None;
    }
    let mut yes: HashMap<&str, usize> = HashMap::new();
    for vote in &transaction.votes {
        if let Some((true, read)) = vote.voted.filter(|&(_, read)| run.time(read) <= by) {
            let first = yes.entry(vote.node).or_insert(read);
            *first = read.min(*first);
        }
    }
    let sites: BTreeSet<&str> = transaction.sites.iter().copied().collect();
    sites.into_iter().map(|site| yes.get(site).copied()).collect()
}

/// When faults were on, with what may come after them, in nanoseconds since the run began.
struct Faults {
    /// Begin and end, by begin; each end is the latest one up to there.
    spans: Vec<(u64, u64)>,
}

impl Faults {
    fn new(run: &Analysis<'_>) -> Self {
        let after = session(run);
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for window in run.injected.values() {
            let over = window.healed().or(window.skipped.filter(|_| !window.was_on()));
            let until = over.map_or(u64::MAX, |over| run.time(over).saturating_add(after));
            spans.extend(window.began().map(|begin| (run.time(begin), until)));
        }
        // When the fault of an event that names no window ended is unknown.
        let nameless = |event: &&Event| event.is_of("nemesis") && event.window().is_none();
        spans.extend(run.events.iter().filter(nameless).map(|event| (event.time, u64::MAX)));
        for &exit in run.clients.exits.values().flatten() {
            spans.push((run.time(exit), run.time(exit).saturating_add(after)));
        }
        for event in run.events {
            let before = match event.f.as_str() {
                "session" if event.state() == Some("expired") => 0,
                "stall" if event.is_of("run") => event.get(STALLED_MS.any()).and_then(Value::as_u64).unwrap_or(0),
                _ => continue,
            };
            let from = event.time.saturating_sub(before.saturating_mul(1_000_000));
            spans.push((from, event.time.saturating_add(after)));
        }
        spans.sort_unstable();
        let mut latest = 0;
        for (_, until) in &mut spans {
            latest = latest.max(*until);
            *until = latest;
        }
        Self { spans }
    }

    fn between(&self, from: u64, to: u64) -> bool {
        let begun = self.spans.partition_point(|&(begin, _)| begin <= to);
        begun.checked_sub(1).is_some_and(|last| self.spans[last].1 >= from)
    }
}
