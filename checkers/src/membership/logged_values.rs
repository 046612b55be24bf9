//! The values that members' znodes were given, by the transaction logs.
//!
//! Only of complete logs, and of paths all of whose data read as decimal numbers: a recipe may write its value in
//! another form, and then nothing is compared with it.

use crate::analysis::Analysis;
use crate::analysis::transaction_log::creates;
use std::collections::HashMap;

/// A transaction that gave the znode at a path its data.
#[derive(Debug, Clone, Copy)]
pub struct ValueWrite<'a> {
    pub zxid: i64,
    /// The session that asked for it.
    pub session: &'a str,
    pub value: i64,
    /// Whether it was certainly committed.
    pub committed: bool,
}

/// The writes by path, in the order of their transactions.
#[derive(Debug)]
pub struct LoggedValues<'a> {
    /// `None` where some data are no decimal number.
    by_path: HashMap<&'a str, Option<Vec<ValueWrite<'a>>>>,
}

impl<'a> LoggedValues<'a> {
    /// Reads them out of the logs; `None` unless these are complete.
    pub fn new(run: &Analysis<'a>) -> Option<Self> {
        let txns = run.record.txnlog.filter(|_| run.log.whole())?;
        let mut by_path: HashMap<&str, Option<Vec<ValueWrite<'_>>>> = HashMap::new();
        for txn in txns {
            let writes = txn.changes().filter(|of| creates(of.op) || of.op == "setData");
            for change in writes {
                let write = change.data.and_then(decimal).map(|value| ValueWrite {
                    zxid: txn.zxid,
                    session: &txn.session,
                    value,
                    committed: run.log.committed(txn),
                });
                let of_path = by_path.entry(change.path).or_insert_with(|| Some(Vec::new()));
                match (of_path.as_mut(), write) {
                    (Some(all), Some(write)) => all.push(write),
                    _ => *of_path = None,
                }
            }
        }
        Some(Self { by_path })
    }

    /// The writes of a path; `None` if there are none, or they cannot be compared.
    pub fn writes_at(&self, path: &str) -> Option<&[ValueWrite<'a>]> {
        self.by_path.get(path)?.as_deref()
    }

    /// What the logs show instead of a transaction that wrote this value at a path, in words; `None` if one may have.
    pub fn instead_of(&self, path: &str, mzxid: i64, value: i64) -> Option<String> {
        let at: Vec<&ValueWrite<'_>> = self
            .writes_at(path)?
            .iter()
            .filter(|write| write.zxid == mzxid)
            .collect();
        match at.last() {
            None => Some(format!("no transaction 0x{mzxid:x} wrote that znode")),
            Some(last) => {
                let other = at.iter().all(|write| write.committed && write.value != value);
                other.then(|| format!("transaction 0x{mzxid:x} wrote the value {}", last.value))
            }
        }
    }
}

/// The number that data are, in decimal digits; `None` if they are none.
pub fn decimal(data: &str) -> Option<i64> {
    data.trim().parse().ok()
}
