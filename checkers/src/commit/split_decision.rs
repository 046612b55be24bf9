//! `split-decision`: one site reports commit, another abort.

use super::transactions::{DecisionReport, JudgedTransaction, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_history::operation::commit::Decision;

/// Looks for sites that disagree, once for each transaction.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.reports.len();
        if let Some((commit, abort)) = find(transaction) {
            split(run, transaction, commit, abort, out);
        }
    }
    out.ran("split-decision", looked_at);
}

/// The first commit and the first abort that two different sites report.
pub fn find<'a>(transaction: &JudgedTransaction<'a>) -> Option<(DecisionReport<'a>, DecisionReport<'a>)> {
    let first = |decision: Decision, but: Option<&str>| {
        let fits = |report: &&DecisionReport<'_>| report.decision == decision && Some(report.node) != but;
        transaction.reports.iter().find(fits).copied()
    };
    let (commit, abort) = (first(Decision::Commit, None)?, first(Decision::Abort, None)?);
    match first(Decision::Abort, Some(commit.node)) {
        Some(other) => Some((commit, other)),
        None => first(Decision::Commit, Some(abort.node)).map(|other| (other, abort)),
    }
}

fn split(
    run: &Analysis<'_>,
    transaction: &JudgedTransaction<'_>,
    commit: DecisionReport<'_>,
    abort: DecisionReport<'_>,
    out: &mut Findings,
) {
    let why = format!(
        "For transaction {}, site {} reported commit at {}, and site {} reported abort at {}. All sites must reach one \
         decision: what {} did stands at one site and not at the other.",
        transaction.name,
        commit.node,
        run.at(commit.read),
        abort.node,
        run.at(abort.read),
        transaction.name,
    );
    let found = Finding::new("split-decision", "atomicity", vec![commit.read, abort.read], why);
    out.add(run, found);
}
