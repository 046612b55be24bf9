//! `needless-abort`: abort though every yes was acknowledged before the decision was asked for and no fault was on.
//!
//! What a fault has begun may go on after it: one that ended less than a session timeout before the transaction began
//! counts as on, and so does the end of a client's process.

use super::transactions::{Decision, Transaction, Transactions};
use crate::findings::{Findings, Found};
use crate::run::Run;
use std::collections::{BTreeSet, HashMap};

/// Looks for aborts that nothing asked for, once for each transaction.
pub fn check(run: &Run<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let faults = Faults::new(run);
    let mut looked_at = 0;
    for transaction in &all.all {
        let (Some(begin), Some(asked)) = (transaction.begin, transaction.asked) else {
            continue;
        };
        let Some(abort) = transaction.told(Decision::Abort) else {
            continue;
        };
        looked_at += 1;
        let Some(votes) = acknowledged(transaction, asked) else {
            continue;
        };
        if faults.between(run.time(begin), run.time(abort.read)) {
            continue;
        }
        let why = format!(
            "{} reported abort of transaction {} at {}, though every site ({}) had answered that it voted yes before the \
             decision was asked for at {}, and no fault was on.",
            abort.node,
            transaction.name,
            run.at(abort.read),
            transaction.sites.join(", "),
            run.at(asked),
        );
        let mut witness = votes;
        witness.extend([begin, asked, abort.read]);
        out.add(
            run,
            Found {
                kind: "needless-abort",
                property: "progress",
                advisory: false,
                witness,
                why,
            },
        );
    }
    out.ran("needless-abort", looked_at);
}

/// The answers by which every site had voted yes by the event `asked`; `None` if one had not, or ever may have voted no.
fn acknowledged(transaction: &Transaction<'_>, asked: usize) -> Option<Vec<usize>> {
    let no =
        |vote: &super::transactions::Vote<'_>| vote.wanted == Some(false) || vote.voted.is_some_and(|(yes, _)| !yes);
    if transaction.sites.is_empty() || transaction.votes.iter().any(no) {
        return None;
    }
    let mut yes: HashMap<&str, usize> = HashMap::new();
    for vote in &transaction.votes {
        if let Some((true, read)) = vote.voted.filter(|&(_, read)| read < asked) {
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
    fn new(run: &Run<'_>) -> Self {
        let after = run.record.plan.cluster.timing.session_ms.saturating_mul(1_000_000);
        let mut spans: Vec<(u64, u64)> = Vec::new();
        let mut open: HashMap<(&str, Option<i64>), usize> = HashMap::new();
        for event in run.events.iter().filter(|event| event.on_lane("nemesis")) {
            let window = (event.f.as_str(), event.int("window"));
            match event.str("phase") {
                Some("off" | "skipped") => {
                    if let Some(span) = open.remove(&window) {
                        spans[span].1 = event.time.saturating_add(after);
                    }
                }
                _ => {
                    open.entry(window).or_insert_with(|| {
                        spans.push((event.time, u64::MAX));
                        spans.len() - 1
                    });
                }
            }
        }
        for &exit in run.clients.exits.values().flatten() {
            spans.push((run.time(exit), run.time(exit).saturating_add(after)));
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
