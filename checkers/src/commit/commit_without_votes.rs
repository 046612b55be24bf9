//! `commit-without-votes`: commit though a site's vote was no, failed, or was not yet asked for when the first commit
//! was read.
//!
//! A yes whose outcome is unknown may have arrived, and a site that is asked again may vote then. So a site convicts
//! only if it answered no, or if nothing that it was asked before the first commit was read can have come to a yes.

use super::transactions::{JudgedTransaction, RequestedVote, Transactions};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use std::collections::BTreeMap;
use zooquake_history::operation::commit::Decision;

/// The first commit of a transaction.
struct Commit<'a> {
    /// How many events had been recorded when it was read.
    by: usize,
    /// The event that reports it; `None` if only a reading of the tree shows it.
    event: Option<usize>,
    who: &'a str,
}

/// Looks for commits that nobody may have decided, once for each transaction.
pub fn check(run: &Analysis<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    let transactions = all.all.iter();
    for (transaction, commit) in transactions.filter_map(|transaction| Some((transaction, first_commit(transaction)?)))
    {
        looked_at += 1;
        let mut sites: BTreeMap<&str, Vec<&RequestedVote<'_>>> =
            transaction.sites.iter().map(|&site| (site, Vec::new())).collect();
        for vote in &transaction.votes {
            sites.entry(vote.node).or_default().push(vote);
        }
        let lacking = sites.iter().find_map(|(site, votes)| {
            let unnamed = all.voted_unnamed.contains(site);
            let lack = no(run, votes).or_else(|| lack(run, (transaction, site), votes, &commit).filter(|_| !unnamed));
            Some((*site, lack?))
        });
        if let Some((site, (witness, what))) = lacking {
            convict(run, transaction, &commit, (site, what), witness, out);
        }
    }
    out.ran("commit-without-votes", looked_at);
}

fn first_commit<'a>(transaction: &JudgedTransaction<'a>) -> Option<Commit<'a>> {
    if let Some(told) = transaction.reported(Decision::Commit) {
        return Some(Commit {
            by: told.read,
            event: Some(told.read),
            who: told.node,
        });
    }
    let mut said = transaction.znode.iter();
    let (by, _) = said.find(|(_, decision)| *decision == Decision::Commit)?;
    Some(Commit {
        by: *by,
        event: None,
        who: "the decision znode",
    })
}

/// The event that proves that a site voted no, and its description for a text.
fn no(run: &Analysis<'_>, votes: &[&RequestedVote<'_>]) -> Option<(Vec<usize>, String)> {
    let (_, read) = votes.iter().find_map(|vote| vote.voted.filter(|(yes, _)| !yes))?;
    Some((vec![read], format!("answered at {} that it had voted no", run.at(read))))
}

/// The events that prove that a site did not vote yes in time, and their description for a text.
fn lack(
    run: &Analysis<'_>,
    (transaction, site): (&JudgedTransaction<'_>, &str),
    votes: &[&RequestedVote<'_>],
    commit: &Commit<'_>,
) -> Option<(Vec<usize>, String)> {
    // One whose request is missing may have been asked for at any time.
    let in_time = |vote: &&RequestedVote<'_>| vote.asked.is_none_or(|asked| asked < commit.by) && vote.may_be_yes();
    if transaction.disputed || votes.iter().any(in_time) {
        return None;
    }
    let failed = votes
        .iter()
        .filter(|vote| vote.wanted != Some(false) && vote.asked.is_some_and(|asked| asked < commit.by))
        .find_map(|vote| Some((vote.asked?, vote.failed?)));
    if let Some((asked, failed)) = failed {
        let what = format!(
            "was asked for its vote at {} and answered at {} that it had certainly not voted",
            run.at(asked),
            run.at(failed)
        );
        return Some((vec![asked, failed], what));
    }
    let mut against = votes.iter().filter(|vote| vote.wanted == Some(false));
    if let Some(asked) = against.find_map(|vote| vote.asked) {
        let what = format!(
            "was asked at {} to vote no, and before that commit was read it was not asked to vote yes",
            run.at(asked)
        );
        return Some((vec![asked], what));
    }
    let late = votes.iter().find_map(|vote| vote.asked);
    let named = transaction
        .begin
        .filter(|_| transaction.sites.contains(&site))
        .or(late)?;
    let what = match late {
        Some(late) => format!("was asked for its vote only at {}", run.at(late)),
        None => "was never asked for its vote".to_owned(),
    };
    Some((vec![named], what))
}

fn convict(
    run: &Analysis<'_>,
    transaction: &JudgedTransaction<'_>,
    commit: &Commit<'_>,
    (site, what): (&str, String),
    mut witness: Vec<usize>,
    out: &mut Findings,
) {
    witness.extend(commit.event);
    let told = match commit.event {
        Some(read) => format!("was reported committed by {} at {}", commit.who, run.at(read)),
        None => "was committed by its decision znode when the tree was read".to_owned(),
    };
    let why = format!(
        "Transaction {} {told}, but site {site} {what}. Commit requires a yes vote of every site.",
        transaction.name,
    );
    out.add(run, Finding::new("commit-without-votes", "validity", witness, why));
}
