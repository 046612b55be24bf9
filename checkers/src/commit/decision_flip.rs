//! `decision-flip`: one site, or the decision znode, reports both.
//!
//! The znode reports through the readings of the tree, and through the sites that read it: where all sites agree on
//! another decision than the one that stands in it, it has held both, or was never read.

use super::split_decision;
use super::transactions::{DecisionReport, JudgedTransaction, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use std::collections::BTreeMap;
use zooquake_history::operation::commit::Decision;

/// Looks for decisions that changed.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for transaction in &all.all {
        looked_at += transaction.reports.len() + transaction.znode.len();
        let before = out.anomalies.len();
        sites(run, transaction, out);
        readings(run, transaction, out);
        if out.anomalies.len() == before && split_decision::find(transaction).is_none() {
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
        add(run, vec![commit.read, abort.read], why, out);
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
    add(run, vec![transaction.first], why, out);
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
    add(run, vec![told.read], why, out);
}

fn add(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Finding::new("decision-flip", "finality", witness, why));
}
