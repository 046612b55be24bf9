//! Whether the transaction logs agree with the history: each znode of a grant or a registration was created by the
//! transaction that its answer names.

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::text::few;
use crate::znodes::claims::registrations;
use std::collections::{HashMap, HashSet};
use zooquake_history::evidence::Txn;
use zooquake_history::operation::{FieldType, ZnodeName};

/// Compares grants and registrations with the transactions. Disagreement is a reason against `valid`, as then one of
/// the two is wrong.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let Some(txns) = run.record.txnlog.filter(|txns| !txns.is_empty()) else {
        // Of a run it is a reason against `valid` that they are missing.
        if !run.record.own() {
            out.reasons
                .push("note: no transaction log was read; the verdict rests on the other evidence".to_owned());
        }
        return;
    };
    let first = txns.iter().map(|txn| txn.zxid).min().unwrap_or_default();
    let last = txns.iter().map(|txn| txn.zxid).max().unwrap_or_default();
    let by_zxid: HashMap<i64, &Txn> = txns.iter().map(|txn| (txn.zxid, txn)).collect();
    let touched = touched(by_zxid.values().copied());
    let mut looked_at = 0;
    for (words, read, path, czxid) in claimed(run) {
        if czxid < first || czxid > last {
            continue;
        }
        looked_at += 1;
        let found = match by_zxid.get(&czxid) {
            None => "no such transaction".to_owned(),
            Some(txn) if creates(txn, touched.contains(&(czxid, path))) => continue,
            Some(txn) => told(txn),
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
    let registrations = registrations(run).filter_map(|of| Some((of.words, of.read, of.path?, of.czxid?)));
    grants.chain(registrations)
}

/// The paths that transactions name, each with its transaction: of one that names many, any of as many answers may name
/// it.
pub fn touched<'a>(txns: impl Iterator<Item = &'a Txn>) -> HashSet<(i64, &'a str)> {
    txns.flat_map(|txn| txn.changes().map(|change| (txn.zxid, change.path)))
        .collect()
}

/// What stands in the transaction logs instead, in words.
pub fn told(txn: &Txn) -> String {
    // Only a multi has parts, and few: of other transactions the many paths are not gone through for each answer.
    let parts: Vec<&str> = txn.parts.iter().map(|part| part.path.as_str()).collect();
    let paths = if parts.is_empty() { few(&txn.paths) } else { few(&parts) };
    format!("there {} of {paths}", txn.op)
}

/// Whether a transaction may have created a path that it names or not: a create of it, or a multi, whose parts its line
/// need not name.
fn creates(txn: &Txn, names: bool) -> bool {
    match txn.op.as_str() {
        "createSession" => false,
        "multi" => names || txn.hides_parts() && txn.paths.is_empty(),
        op => op.starts_with("create") && names,
    }
}
