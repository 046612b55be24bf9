//! Which write took a counter back: the first transaction that writes no more than an earlier one had written.

use super::Cause;
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use zooquake_history::Txn;

/// The first write to the counter at a path, after the transaction `since`, that writes no more than was there; `None`
/// unless the logs are whole and have it.
pub fn overwrite(run: &Analysis<'_>, path: &str, since: i64) -> Option<Cause> {
    let txns = run.record.txnlog.filter(|_| run.log.whole())?;
    let mut greatest: Option<(i64, &Txn)> = None;
    for txn in txns.iter().filter(|txn| run.log.committed(txn)) {
        for change in txn.changes().filter(|change| change.path == path) {
            let Some(value) = change.data.and_then(|data| data.parse::<i64>().ok()) else {
                continue;
            };
            if let Some((held, before)) = greatest.filter(|&(held, _)| value <= held && txn.zxid > since) {
                return Some(cause(run, txn, value, (held, before)));
            }
            if greatest.is_none_or(|(held, _)| value > held) {
                greatest = Some((value, txn));
            }
        }
    }
    None
}

fn cause(run: &Analysis<'_>, txn: &Txn, value: i64, (held, before): (i64, &Txn)) -> Cause {
    let whose = |txn: &Txn| run.clients.owner_words(&txn.session);
    let applied = run.applied();
    // A client that never read the reply to its write may make it again.
    let lost = applied.iter().rev().find(|request| {
        let same = session(&request.txn.session) == session(&txn.session) && request.txn.zxid < txn.zxid;
        same && request.txn.data.as_deref().and_then(|data| data.parse().ok()) == Some(value)
    });
    let again = lost.and_then(|request| Some((run.events[request.on].window()?, request)));
    let why = again.map(|(window, request)| {
        format!(
            " Window {window} had lost the reply to the same write of this client (transaction 0x{:x}).",
            request.txn.zxid
        )
    });
    Cause {
        proven: true,
        window: again.map(|(window, _)| window),
        transaction: Some(txn.zxid),
        session: Some(txn.session.clone()),
        events: again.map_or_else(Vec::new, |(_, request)| vec![request.begin, request.on]),
        sentence: format!(
            "Transaction 0x{:x} of the session {}{} wrote {value} where transaction 0x{:x} of the session {}{} had written {held}.{}",
            txn.zxid,
            txn.session,
            whose(txn),
            before.zxid,
            before.session,
            whose(before),
            why.unwrap_or_default()
        ),
        ..Cause::default()
    }
}
