//! Which write took a counter back: the first transaction that writes no more than an earlier one had written.

use super::Cause;
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use std::cell::OnceCell;
use zooquake_history::Txn;

/// The writes to a counter that took it back.
pub struct Overwrites<'r, 'a> {
    run: &'r Analysis<'a>,
    path: &'static str,
    /// Read out of the logs when they are asked for first.
    writes: OnceCell<Vec<Overwrite<'a>>>,
}

/// A write of no more than was there.
struct Overwrite<'a> {
    txn: &'a Txn,
    value: i64,
    /// The greatest value that had been written, and the transaction that wrote it first.
    held: (i64, &'a Txn),
}

impl<'r, 'a> Overwrites<'r, 'a> {
    /// Those of the counter at a path.
    pub fn new(run: &'r Analysis<'a>, path: &'static str) -> Self {
        let writes = OnceCell::new();
        Self { run, path, writes }
    }

    /// The first of them after the transaction `since`; `None` unless the logs are whole and have it.
    pub fn after(&self, since: i64) -> Option<Cause> {
        let writes = self.writes.get_or_init(|| read(self.run, self.path));
        let first = writes.partition_point(|write| write.txn.zxid <= since);
        Some(cause(self.run, writes.get(first)?))
    }
}

/// The writes to the counter at a path that took it back, each of a greater zxid than those before it; none unless the
/// logs are whole.
fn read<'a>(run: &Analysis<'a>, path: &str) -> Vec<Overwrite<'a>> {
    let txns = run.record.txnlog.filter(|_| run.log.whole()).unwrap_or_default();
    let mut greatest: Option<(i64, &Txn)> = None;
    let mut writes: Vec<Overwrite<'a>> = Vec::new();
    for txn in txns.iter().filter(|txn| run.log.committed(txn)) {
        for change in txn.changes().filter(|change| change.path == path) {
            let Some(value) = change.data.and_then(|data| data.parse::<i64>().ok()) else {
                continue;
            };
            match greatest.filter(|&(held, _)| value <= held) {
                None => greatest = Some((value, txn)),
                Some(held) if writes.last().is_none_or(|last| last.txn.zxid < txn.zxid) => {
                    writes.push(Overwrite { txn, value, held });
                }
                Some(_) => {}
            }
        }
    }
    writes
}

fn cause(run: &Analysis<'_>, write: &Overwrite<'_>) -> Cause {
    let &Overwrite {
        txn,
        value,
        held: (held, before),
    } = write;
    let whose = |txn: &Txn| run.clients.owner_words(&txn.session);
    // A client that never read the reply to its write may make it again.
    let lost = run.applied.all().iter().rev().find(|request| {
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
