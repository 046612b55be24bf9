//! Whether the transaction logs agree with the history: each znode of a grant or a registration was created by the
//! transaction that its answer names.

use super::holder_znodes::registrations;
use crate::analysis::Analysis;
use crate::analysis::transaction_log::creates;
use crate::findings::Findings;
use crate::text::few;
use std::collections::{HashMap, HashSet};
use zooquake_history::evidence::Txn;
use zooquake_history::operation::{FieldType, ZnodeName};

/// Compares grants and registrations with the transactions. Disagreement is a reason against `valid`, as then one of
/// the two is wrong.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let Some(logged) = LoggedTransactions::new(run) else {
        // Of a run it is a reason against `valid` that they are missing.
        if !run.record.own() {
            out.reasons
                .push("note: no transaction log was read; the verdict rests on the other evidence".to_owned());
        }
        return;
    };
    let mut looked_at = 0;
    for (words, read, path, czxid) in claimed(run) {
        if czxid < logged.first || czxid > logged.last {
            continue;
        }
        looked_at += 1;
        let Some(found) = logged.instead_of(czxid, path, creates) else {
            continue;
        };
        out.reasons.push(format!(
            "evidence disagrees: {words} was read at {} with the znode {path} of transaction 0x{czxid:x}, but the transaction log has \
             {found}",
            run.at(read),
        ));
    }
    out.ran("evidence", looked_at);
}

/// The znodes that grants and registrations were read with: what was read, the event, a path, the transaction that
/// created it. A leader's acknowledgement is one more.
fn claimed<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = (String, usize, &'a str, i64)> {
    let grants = run.grants.all.iter().enumerate().flat_map(|(number, grant)| {
        let own = || Some((run.grant(number), grant.read?, grant.path?, grant.czxid?));
        let ack = || {
            let read = grant.read?;
            let (path, czxid) = ZnodeName::read(run.events[read].ack()?)?;
            Some((run.grant(number), read, path?, czxid?))
        };
        own().into_iter().chain(ack())
    });
    grants.chain(registrations(run).filter_map(|of| Some((of.words, of.read, of.path?, of.czxid?))))
}

/// The transactions in the logs of a run.
#[derive(Debug)]
pub struct LoggedTransactions<'a> {
    by_zxid: HashMap<i64, &'a Txn>,
    /// The paths that they name, each with its transaction: of one that names many, any of as many answers may name it.
    named: HashSet<(i64, &'a str)>,
    /// The zxids under which servers logged different ones; of those no transaction may be known.
    differ: HashSet<i64>,
    /// The zxid of the oldest one that is left.
    pub first: i64,
    /// The zxid of the latest.
    pub last: i64,
}

impl<'a> LoggedTransactions<'a> {
    /// `None` if there are none.
    pub fn new(run: &Analysis<'a>) -> Option<Self> {
        let by_zxid: HashMap<i64, &Txn> = run.record.txnlog?.iter().map(|txn| (txn.zxid, txn)).collect();
        let txns = by_zxid.values().copied();
        let logs = run.record.server_txnlogs.into_iter().flatten();
        let named = txns.flat_map(|txn| txn.changes().map(|change| (txn.zxid, change.path)));
        Some(Self {
            first: *by_zxid.keys().min()?,
            last: *by_zxid.keys().max()?,
            named: named.collect(),
            differ: logs.flat_map(|log| log.differs.iter().map(|txn| txn.zxid)).collect(),
            by_zxid,
        })
    }

    /// What stands there instead of a transaction that did what `does` names to the znode at a path, in words; `None`
    /// if the one of this zxid may have done that. A multi may have in parts that its line need not name.
    pub fn instead_of(&self, zxid: i64, path: &str, does: impl Fn(&str) -> bool) -> Option<String> {
        let Some(txn) = self.by_zxid.get(&zxid) else {
            return (!self.differ.contains(&zxid)).then(|| "no such transaction".to_owned());
        };
        let named = self.named.contains(&(zxid, path));
        let fits = match txn.op.as_str() {
            "multi" => named || txn.hides_parts() && txn.paths.is_empty(),
            op => does(op) && named,
        };
        (!fits).then(|| told(txn))
    }
}

/// A transaction in words.
fn told(txn: &Txn) -> String {
    // Only a multi has parts, and few: of other transactions the many paths are not gone through for each answer.
    let parts: Vec<&str> = txn.parts.iter().map(|part| part.path.as_str()).collect();
    let paths = if parts.is_empty() { few(&txn.paths) } else { few(&parts) };
    format!("there {} of {paths}", txn.op)
}
