//! The deletions of znodes whose creation is in the transaction logs: which session deleted what which session had
//! created.

use super::clients::session;
use super::log_completeness::{epoch, follows};
use super::transaction_log::creates;
use super::{Analysis, named_zxids};
use std::collections::{BTreeSet, HashMap, HashSet};
use zooquake_history::{EventType, Txn};

/// A committed deletion of a znode by a request, alone or in a multi; none that the end of a session brings.
#[derive(Debug, Clone, Copy)]
pub struct Deletion<'a> {
    /// The transaction that deleted it.
    pub txn: &'a Txn,
    /// Where it was.
    pub path: &'a str,
    /// The transaction that created it.
    pub made: &'a Txn,
}

/// The deletions in the order of the logs, each of a znode that certainly was the one made by [`Deletion::made`], whose
/// session was not closed before.
///
/// Where the logs lack a transaction, or do not contain what one did or whether it was committed, nothing that stood
/// before is known until it is created again. Without the lists of parts of an older record that is so after each
/// multi.
pub fn deletions<'a>(run: &Analysis<'a>) -> Vec<Deletion<'a>> {
    let txns = run.record.txnlog.unwrap_or_default();
    let missing = missing(run, txns);
    let (mut standing, mut found) = (StandingZnodes::default(), Vec::new());
    let mut last: Option<i64> = None;
    for txn in txns {
        let lost = |last: i64| missing.range(last.min(txn.zxid)..txn.zxid).next().is_some();
        // Complete logs have the end of each epoch.
        let gap = |last: i64| !follows(last, txn.zxid) || epoch(last) < epoch(txn.zxid) && run.log.lack().is_some();
        if last.is_some_and(|last| gap(last) || lost(last)) || !run.log.committed(txn) {
            standing.forget();
        }
        last = Some(txn.zxid);
        if run.log.committed(txn) {
            standing.follow(txn, &mut found);
        }
    }
    found
}

/// The transactions that answers name and the logs do not have.
fn missing(run: &Analysis<'_>, txns: &[Txn]) -> BTreeSet<i64> {
    let logged: HashSet<i64> = txns.iter().map(|txn| txn.zxid).collect();
    let answers = run.events.iter().filter(|event| event.kind == EventType::Ok);
    let named = answers.flat_map(named_zxids::named);
    named.filter(|zxid| !logged.contains(zxid)).collect()
}

/// The znodes that stand after the transactions followed so far.
#[derive(Default)]
struct StandingZnodes<'a> {
    /// What created the znode at each path, and as the how many-th of the transactions.
    there: HashMap<&'a str, (usize, &'a Txn)>,
    /// How many transactions came until now.
    count: usize,
    /// By which of these all that stood before became unknown.
    forgotten: usize,
    /// By which of these each session ended.
    ended: HashMap<u64, usize>,
}

impl<'a> StandingZnodes<'a> {
    /// What stands now may have been made anew, or may be gone.
    fn forget(&mut self) {
        self.forgotten = self.count;
    }

    /// Follows a transaction. The end of a session removes its ephemerals: those that the transaction lists, and
    /// perhaps others that the session made.
    fn follow(&mut self, txn: &'a Txn, found: &mut Vec<Deletion<'a>>) {
        self.count += 1;
        if txn.op == "closeSession" {
            match session(&txn.session) {
                Some(ended) => drop(self.ended.insert(ended, self.count)),
                None => self.forget(),
            }
        }
        if txn.hides_parts() || txn.changes().next().is_none() && !changes_nothing(&txn.op) {
            return self.forget();
        }
        for change in txn.changes() {
            match change.op {
                op if creates(op) => drop(self.there.insert(change.path, (self.count, txn))),
                "delete" => found.extend(self.delete(txn, change.path)),
                "closeSession" => drop(self.there.remove(change.path)),
                op if changes_nothing(op) => {}
                _ => self.forget(),
            }
        }
    }

    fn delete(&mut self, txn: &'a Txn, path: &'a str) -> Option<Deletion<'a>> {
        let (at, made) = self.there.remove(path)?;
        let ended = session(&made.session).and_then(|session| self.ended.get(&session));
        let known = at > self.forgotten && ended.is_none_or(|&ended| at > ended);
        known.then_some(Deletion { txn, path, made })
    }
}

/// Whether a transaction, or a part of a multi, creates and deletes no znode. A multi with an empty list of parts had
/// none.
fn changes_nothing(op: &str) -> bool {
    matches!(
        op,
        "createSession" | "closeSession" | "setData" | "setACL" | "check" | "reconfig" | "error" | "multi"
    )
}
