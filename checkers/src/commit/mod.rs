//! The family `commit`: two-phase commit. All sites of a transaction come to the same decision; it is commit only if
//! all of them voted yes, and it comes.
//!
//! What is the same for all checkers is read once (`transactions`); then come the checkers, those of decisions that
//! contradict each other in one file.

mod blocked_transaction;
mod commit_without_votes;
mod decisions;
mod needless_abort;
mod transactions;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, asks};
use crate::findings::Findings;
use crate::liveness::refused_for_ever;
use crate::statistics::percentiles;
use crate::text::count;
use crate::verdict::Requirements;
use crate::{Results, verdict};
use serde_json::{Value, json};
use transactions::{JudgedTransaction, Transactions};
use zooquake_history::Record;
use zooquake_history::operation::commit::{self, Decision, TX, f};

/// How many transactions of each decision a valid run has at least.
pub const ENOUGH: usize = 5;

/// The family of two-phase commits.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &commit::FAMILY,
    check,
    checkers: &[
        "split-decision",
        "decision-flip",
        "commit-without-votes",
        "wrong-outcome",
        "needless-abort",
        "blocked-transaction",
        refused_for_ever::NAME,
    ],
    measures: Some(FamilyMeasures {
        units: "transactions",
        unit: "transaction",
        wait: "decision",
        wait_sentence: "from the sending of a transaction's begin to each answer that gives a site its decision",
        compete: false,
        source: UnitSource::Answered(&[f::DECIDED], Some(TX.name())),
        latency: LatencyKind::Decision,
    }),
    infer: |history| {
        let votes = asks(history, &[f::BEGIN, f::DECIDE, f::VOTE, f::DECIDED], TX.any());
        votes.then(|| Inference::family("it votes and decides, so it was judged as a two-phase commit"))
    },
    needs_plan: &[("needless-abort", "the session timeout")],
};

const NEEDS: Requirements = Requirements {
    progress: &[&[f::BEGIN], &[f::DECIDED]],
    tree: "decision znodes were not looked at",
    logged: &[],
};

/// The whole verdict over a run of a two-phase commit.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let all = Transactions::new(&run);
    let mut found = Findings::default();
    for check in [
        decisions::split_decisions,
        decisions::decision_flips,
        commit_without_votes::check,
        decisions::wrong_outcomes,
        needless_abort::check,
        blocked_transaction::check,
    ] {
        check(&run, &all, &mut found);
    }
    enough(&all, &mut found);
    readable(&all, &mut found);
    let mut results = verdict::close(&run, found, &NEEDS);
    results.stats.extend(stats(&run, &all));
    results
}

/// Adds a reason against `valid` if fewer than `ENOUGH` transactions were committed or aborted.
fn enough(all: &Transactions<'_>, out: &mut Findings) {
    let (commits, aborts) = (all.decided(Decision::Commit), all.decided(Decision::Abort));
    if commits < ENOUGH || aborts < ENOUGH {
        out.reasons.push(format!(
            "{} committed and {aborts} aborted; it takes {ENOUGH} of each",
            count(commits, "transaction")
        ));
    }
}

/// Adds reasons against `valid` for events and decision znodes that cannot be read.
fn readable(all: &Transactions<'_>, out: &mut Findings) {
    out.doubt("transactions cannot be read", &all.unread);
    if let Some(path) = all.unreadable.first() {
        out.reasons.push(format!(
            "{} of decision znodes showed neither commit nor abort, such as that of {path}: what was decided there was not judged",
            count(all.unreadable.len(), "reading")
        ));
    }
}

/// Counts and durations of transactions, by name.
fn stats(run: &Analysis<'_>, all: &Transactions<'_>) -> Vec<(String, Value)> {
    // From the sending of `begin` to the first report of a site.
    let duration =
        |tx: &JudgedTransaction<'_>| Some(run.time(tx.reports.first()?.read).saturating_sub(run.time(tx.begin?)));
    let counts = [
        ("transactions", json!(all.all.len())),
        ("commits", json!(all.decided(Decision::Commit))),
        ("aborts", json!(all.decided(Decision::Abort))),
    ];
    counts
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .chain(percentiles("decision", all.all.iter().filter_map(duration)))
        .collect()
}
