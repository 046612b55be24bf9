//! What the transaction logs tell of znodes, for what clients do not tell themselves.

use super::RecordView;
use super::grants::Grants;
use crate::Txn;
use std::collections::HashMap;

/// The transaction logs, by znode.
#[derive(Debug, Default)]
pub struct Log<'a> {
    /// Whether no transaction is missing, and none hides what it touched.
    whole: bool,
    /// The transactions that created something at each path, in their order.
    created: HashMap<&'a str, Vec<&'a Txn>>,
    by_zxid: HashMap<i64, &'a Txn>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(record: &RecordView<'a>) -> Self {
        let txns = record.txnlog.unwrap_or_default();
        let mut created: HashMap<&str, Vec<&Txn>> = HashMap::new();
        for txn in txns.iter().filter(|txn| creates(txn)) {
            for path in &txn.paths {
                created.entry(path).or_default().push(txn);
            }
        }
        Self {
            whole: unbroken(txns) && !txns.iter().any(|txn| txn.op == "multi" && txn.paths.is_empty()),
            created,
            by_zxid: txns.iter().map(|txn| (txn.zxid, txn)).collect(),
        }
    }

    /// Whether the logs have every transaction of the run, and none that hides what it touched, as a multi does.
    pub fn whole(&self) -> bool {
        self.whole
    }

    /// The transaction that created the znode at a path; `None` unless the logs are [whole](Self::whole) and have just one.
    pub fn only_create(&self, path: &str) -> Option<&'a Txn> {
        match self.created.get(path)?.as_slice() {
            [only] if self.whole => Some(only),
            _ => None,
        }
    }

    /// Gives grants whose clients did not tell their age the one that the logs tell, by the path of the znode.
    pub(super) fn date(&self, grants: &mut Grants<'_>) {
        for grant in grants.all.iter_mut().filter(|grant| grant.czxid.is_none()) {
            let created = grant.path.and_then(|path| self.only_create(path));
            grant.czxid = created.map(|txn| txn.zxid);
        }
    }

    /// The transaction with this zxid, if it may have created something.
    pub fn create(&self, zxid: i64) -> Option<&'a Txn> {
        let txn = self.by_zxid.get(&zxid).copied()?;
        (creates(txn) || txn.op == "multi").then_some(txn)
    }
}

/// Whether a transaction is a create of one znode.
fn creates(txn: &Txn) -> bool {
    txn.op.starts_with("create") && txn.op != "createSession"
}

/// Whether transactions follow each other without a gap: ZooKeeper counts those of each epoch from 1.
fn unbroken(txns: &[Txn]) -> bool {
    let counter = |zxid: i64| zxid & 0xffff_ffff;
    let begins = |zxid: i64| counter(zxid) == 1;
    let follows =
        |pair: &[Txn]| pair[1].zxid == pair[0].zxid + 1 || begins(pair[1].zxid) && pair[1].zxid > pair[0].zxid;
    txns.first().is_some_and(|first| begins(first.zxid)) && txns.windows(2).all(follows)
}
