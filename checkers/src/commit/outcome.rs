//! `wrong-outcome`: the coordinator's ok answer differs from the decision.
//!
//! The decision is what stands in the decision znode, or, where the tree tells none, what all sites report alike. Where
//! sites disagree there is no decision to differ from, and `split-decision` says so.

use super::transactions::{Report, Transaction, Transactions};
use crate::findings::{Findings, Found};
use crate::run::Run;

/// Compares the coordinator's answers, once for each transaction.
pub fn check(run: &Run<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.answers.len();
        if let Some(written) = transaction.written() {
            let wrong = transaction.answers.iter().find(|answer| answer.decision != written);
            if let Some(answer) = wrong {
                let says = format!("its decision znode says {}", written.word());
                convict(run, transaction, answer, &says, vec![], out);
            }
        } else if let Some(told) = transaction.unanimous() {
            let wrong = transaction
                .answers
                .iter()
                .find(|answer| answer.decision != told.decision);
            if let Some(answer) = wrong {
                let says = format!(
                    "site {} reported {} at {}, and no site anything else",
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

fn convict(
    run: &Run<'_>,
    transaction: &Transaction<'_>,
    answer: &Report<'_>,
    says: &str,
    mut witness: Vec<usize>,
    out: &mut Findings,
) {
    witness.push(answer.read);
    let why = format!(
        "The coordinator {} answered {} for transaction {} at {}, but {says}. Whoever asked it acts on what did not happen.",
        answer.node,
        answer.decision.word(),
        transaction.name,
        run.at(answer.read),
    );
    out.add(
        run,
        Found {
            kind: "wrong-outcome",
            property: "validity",
            advisory: false,
            witness,
            why,
        },
    );
}
