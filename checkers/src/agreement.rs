//! Whether the transaction logs agree with the history: each granted znode was created as its client says.

use crate::evidence::Txn;
use crate::findings::Findings;
use crate::run::Run;
use std::collections::HashMap;

/// Compares the grants with the transactions. Disagreement is a reason against `valid`, as then one of the two is wrong.
pub fn check(run: &Run<'_>, out: &mut Findings) {
    let Some(txns) = run.record.txnlog.as_deref().filter(|txns| !txns.is_empty()) else {
        out.reasons
            .push("note: no transaction log was read; the verdict rests on the history and the tree".to_owned());
        return;
    };
    let first = txns.iter().map(|txn| txn.zxid).min().unwrap_or_default();
    let last = txns.iter().map(|txn| txn.zxid).max().unwrap_or_default();
    let by_zxid: HashMap<i64, &Txn> = txns.iter().map(|txn| (txn.zxid, txn)).collect();
    let mut looked_at = 0;
    for (number, grant) in run.grants.all.iter().enumerate() {
        let (Some(read), Some(czxid), Some(path)) = (grant.read, grant.czxid, grant.path) else {
            continue;
        };
        if czxid < first || czxid > last {
            continue;
        }
        looked_at += 1;
        let found = match by_zxid.get(&czxid) {
            None => "no such transaction".to_owned(),
            Some(txn) if creates(txn, path) => continue,
            Some(txn) => format!("there {} of {}", txn.op, txn.paths.join(", ")),
        };
        out.reasons.push(format!(
            "evidence disagrees: {} was read at {} with the znode {path}, but the transaction log has {found}",
            run.grant(number),
            run.at(read),
        ));
    }
    out.ran("evidence", looked_at);
}

/// Whether a transaction may have created the path: a create of it, or a multi, whose parts its line need not name.
fn creates(txn: &Txn, path: &str) -> bool {
    match txn.op.as_str() {
        "createSession" => false,
        "multi" => txn.paths.is_empty() || txn.paths.iter().any(|other| other == path),
        op => op.starts_with("create") && txn.paths.iter().any(|other| other == path),
    }
}
