//! Decisions that contradict each other.
//!
//! - `split-decision`: one site reports commit, another abort.
//! - `decision-flip`: one site, or the decision znode, reports both. The znode reports through the readings of the
//!   tree, and through the sites that read it: where all sites agree on another decision than the one that stands in
//!   it, it has held both, or was never read.
//! - `wrong-outcome`: the coordinator's answer differs from the decision: it answered `ok` with another one, or it
//!   answered the only `begin` with `fail`, by which the transaction certainly never existed, and it was committed. The
//!   decision is what stands in the decision znode, or, where the tree shows none, what all sites report alike. Where
//!   sites disagree there is no decision to differ from, and the anomaly is `split-decision`.

use super::transactions::{DecisionReport, JudgedTransaction, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use std::collections::BTreeMap;
use zooquake_history::operation::commit::Decision;

/// Looks for sites that disagree, once for each transaction.
pub fn split_decisions(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.reports.len();
        if let Some((commit, abort)) = disagreement(transaction) {
            split(run, transaction, commit, abort, out);
        }
    }
    out.ran("split-decision", looked_at);
}

/// The first commit and the first abort that two different sites report.
fn disagreement<'a>(transaction: &JudgedTransaction<'a>) -> Option<(DecisionReport<'a>, DecisionReport<'a>)> {
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

/// Looks for decisions that changed.
pub fn decision_flips(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.reports.len() + transaction.znode.len();
        let before = out.anomalies.len();
        sites(run, transaction, out);
        readings(run, transaction, out);
        if out.anomalies.len() == before && disagreement(transaction).is_none() {
            against_znode(run, transaction, out);
        }
    }
    out.ran("decision-flip", looked_at);
}

fn sites(run: &Analysis<'_>, transaction: &JudgedTransaction<'_>, out: &mut Findings) {
    let mut by_site: BTreeMap<&str, [Option<DecisionReport<'_>>; 2]> = BTreeMap::new();
    for report in &transaction.reports {
        let first = &mut by_site.entry(report.node).or_default()[usize::from(report.decision == Decision::Abort)];
        first.get_or_insert(*report);
    }
    for (site, reports) in by_site {
        let [Some(commit), Some(abort)] = reports else { continue };
        let why = format!(
            "Site {site} reported commit of transaction {} at {}, and abort at {}. A reported decision is final.",
            transaction.name,
            run.at(commit.read),
            run.at(abort.read),
        );
        add_flip(run, vec![commit.read, abort.read], why, out);
    }
}

fn readings(run: &Analysis<'_>, transaction: &JudgedTransaction<'_>, out: &mut Findings) {
    let Some(changed) = transaction.znode.windows(2).find(|pair| pair[0].1 != pair[1].1) else {
        return;
    };
    let why = format!(
        "The decision znode of transaction {} held {} in one reading of the tree and {} in a later one. A published \
         decision is final.",
        transaction.name,
        changed[0].1.word(),
        changed[1].1.word(),
    );
    add_flip(run, vec![transaction.first], why, out);
}

fn against_znode(run: &Analysis<'_>, transaction: &JudgedTransaction<'_>, out: &mut Findings) {
    let (Some(written), Some(told)) = (transaction.written(), transaction.unanimous()) else {
        return;
    };
    if told.decision == written {
        return;
    }
    let why = format!(
        "Site {} reported {} of transaction {} at {}, no site reported anything else, and the decision znode held {} \
         in the last reading of the tree that has it. A reported decision is final.",
        told.node,
        told.decision.word(),
        transaction.name,
        run.at(told.read),
        written.word(),
    );
    add_flip(run, vec![told.read], why, out);
}

fn add_flip(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Finding::new("decision-flip", "finality", witness, why));
}

/// Compares the coordinator's answers, once for each transaction.
pub fn wrong_outcomes(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.answers.len();
        let unbegun = transaction.never_begun().filter(|_| !all.begun_unnamed);
        if let Some(unbegun) = unbegun {
            looked_at += 1;
            if let Some((who, committed)) = committed(run, transaction) {
                never_begun(run, transaction, unbegun, &who, committed, out);
                continue;
            }
        }
        if let Some(written) = transaction.written() {
            let wrong = transaction.answers.iter().find(|answer| answer.decision != written);
            if let Some(answer) = wrong {
                let says = format!("its decision znode held {} at its last reading", written.word());
                convict_outcome(run, transaction, answer, &says, vec![], out);
            }
        } else if let Some(told) = transaction.unanimous() {
            let mut answers = transaction.answers.iter();
            if let Some(answer) = answers.find(|answer| answer.decision != told.decision) {
                let says = format!(
                    "site {} reported {} at {}, and no site reported anything else",
                    told.node,
                    told.decision.word(),
                    run.at(told.read)
                );
                convict_outcome(run, transaction, answer, &says, vec![told.read], out);
            }
        }
    }
    out.ran("wrong-outcome", looked_at);
}

/// The report that a transaction was committed, in words, and its event: `None` if only the decision znode has it. The
/// result is `None` without a report.
fn committed(run: &Analysis<'_>, transaction: &JudgedTransaction<'_>) -> Option<(String, Option<usize>)> {
    if let Some(told) = transaction.reported(Decision::Commit) {
        let who = format!("{} reported at {} that it was committed", told.node, run.at(told.read));
        return Some((who, Some(told.read)));
    }
    let mut said = transaction.znode.iter();
    said.any(|&(_, decision)| decision == Decision::Commit)
        .then(|| ("its decision znode held commit when the tree was read".to_owned(), None))
}

fn never_begun(
    run: &Analysis<'_>,
    transaction: &JudgedTransaction<'_>,
    (asked, failed): (usize, usize),
    who: &str,
    committed: Option<usize>,
    out: &mut Findings,
) {
    let why = format!(
        "`begin` of transaction {} was sent at {} and answered at {} with `fail`: it certainly did not happen, and no \
         other `begin` of it can have. Yet {who}. So its client treats a transaction that happened as undone.",
        transaction.name,
        run.at(asked),
        run.at(failed),
    );
    out.add(
        run,
        wrong_outcome([asked, failed].into_iter().chain(committed).collect(), why),
    );
}

fn wrong_outcome(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("wrong-outcome", "validity", witness, why)
}

fn convict_outcome(
    run: &Analysis<'_>,
    transaction: &JudgedTransaction<'_>,
    answer: &DecisionReport<'_>,
    says: &str,
    mut witness: Vec<usize>,
    out: &mut Findings,
) {
    witness.push(answer.read);
    let why = format!(
        "The coordinator {} answered {} for transaction {} at {}, but {says}. So its client relies on a decision that \
         was not made.",
        answer.node,
        answer.decision.word(),
        transaction.name,
        run.at(answer.read),
    );
    out.add(run, wrong_outcome(witness, why));
}
