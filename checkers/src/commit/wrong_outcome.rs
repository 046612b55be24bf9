//! `wrong-outcome`: the coordinator's answer differs from the decision: it answered `ok` with another one, or it
//! answered the only `begin` with `fail`, by which the transaction certainly never existed, and it was committed.
//!
//! The decision is what stands in the decision znode, or, where the tree shows none, what all sites report alike. Where
//! sites disagree there is no decision to differ from, and the anomaly is `split-decision`.

use super::transactions::{DecisionReport, JudgedTransaction, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_history::operation::commit::Decision;

/// Compares the coordinator's answers, once for each transaction.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
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
                convict(run, transaction, answer, &says, vec![], out);
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
                convict(run, transaction, answer, &says, vec![told.read], out);
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
    out.add(run, found([asked, failed].into_iter().chain(committed).collect(), why));
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("wrong-outcome", "validity", witness, why)
}

fn convict(
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
    out.add(run, found(witness, why));
}
