//! What the transaction logs show of znodes, for what answers of clients lack.

use super::log_completeness::{self, HighestZxids, epoch};
use super::{Grants, RecordView};
use std::collections::{BTreeSet, HashMap};
use zooquake_history::Txn;

/// The transaction logs, by znode.
#[derive(Debug, Default)]
pub struct TransactionLog<'a> {
    /// What they lack to be complete, in words.
    lack: Option<String>,
    /// Whether a transaction hides what it touched.
    hidden: bool,
    /// The transactions that created something at each path, in their order.
    created: HashMap<&'a str, Vec<&'a Txn>>,
    /// The transactions that may have created a znode: with the path, if it is recorded, of what they touched.
    makers: HashMap<(i64, Option<&'a str>), &'a Txn>,
    /// Of each epoch the last transaction that was certainly committed; `None` of a record without the servers that
    /// logged each transaction.
    committed: Option<HighestZxids>,
}

impl<'a> TransactionLog<'a> {
    pub(crate) fn new(record: &RecordView<'a>) -> Self {
        let txns = record.txnlog.unwrap_or_default();
        let named = match txns {
            [] => HighestZxids::new(),
            _ => log_completeness::named(record),
        };
        let (mut created, mut makers) = (HashMap::<&str, Vec<&Txn>>::new(), HashMap::new());
        for txn in txns {
            // An older record of a multi may name some of what it touched, and not how.
            let hides = txn.hides_parts();
            for change in txn.changes().filter(|change| hides || creates(change.op)) {
                makers.insert((txn.zxid, Some(change.path)), txn);
                makers.insert((txn.zxid, None), txn);
                if !hides {
                    created.entry(change.path).or_default().push(txn);
                }
            }
            if hides && txn.paths.is_empty() {
                makers.insert((txn.zxid, None), txn);
            }
        }
        let of_servers = record.server_txnlogs.is_some() || log_completeness::is_without_servers(record);
        Self {
            lack: log_completeness::lack(record, &named),
            hidden: txns.iter().any(Txn::hides_parts),
            created,
            makers,
            committed: of_servers.then(|| committed(record, txns, named)),
        }
    }

    /// What the logs lack to be complete, in words: transactions may be missing that were made. `None` if none can be.
    pub fn lack(&self) -> Option<&str> {
        self.lack.as_deref()
    }

    /// Whether the logs have every transaction of the run, and none that hides what it touched, as a multi of an older
    /// record does.
    pub fn whole(&self) -> bool {
        self.lack.is_none() && !self.hidden
    }

    /// Whether a transaction was certainly committed: an answer, the znode tree or a committed later one of its epoch
    /// shows it, or a majority of the voters logged it. In a record without the servers that logged each, all are taken
    /// to be.
    pub fn committed(&self, txn: &Txn) -> bool {
        let last = |committed: &HighestZxids| committed.get(&epoch(txn.zxid)).copied();
        self.committed.as_ref().is_none_or(|all| last(all) >= Some(txn.zxid))
    }

    /// The transaction that created the znode at a path; `None` unless the logs are [whole](Self::whole) and have just
    /// one.
    pub fn only_create(&self, path: &str) -> Option<&'a Txn> {
        match self.created.get(path)?.as_slice() {
            [only] if self.whole() => Some(only),
            _ => None,
        }
    }

    /// Sets the creation zxid of grants whose clients did not report it to the one in the logs, found by the path of
    /// the znode.
    pub(super) fn date(&self, grants: &mut Grants<'_>) {
        for grant in grants.all.iter_mut().filter(|grant| grant.czxid.is_none()) {
            grant.czxid = grant.path.and_then(|path| self.only_create(path)).map(|txn| txn.zxid);
        }
    }

    /// The transaction with this zxid, if it may have created a znode at `path`, or anywhere if that is not known.
    pub fn create(&self, zxid: i64, path: Option<&str>) -> Option<&'a Txn> {
        let any = self.makers.get(&(zxid, None)).copied();
        let told = self.makers.get(&(zxid, path)).copied();
        told.or(any.filter(|txn| txn.hides_parts() && txn.paths.is_empty()))
    }
}

/// Whether a change is the creation of a znode.
pub fn creates(op: &str) -> bool {
    op.starts_with("create") && op != "createSession"
}

/// Of each epoch the last transaction that was certainly committed.
fn committed(record: &RecordView<'_>, txns: &[Txn], named: HighestZxids) -> HighestZxids {
    let voters: BTreeSet<String> = record.plan.cluster.voters().into_iter().collect();
    let majority = |txn: &&Txn| txn.servers.iter().filter(|&server| voters.contains(server)).count() * 2 > voters.len();
    let logged = txns.iter().filter(majority).map(|txn| txn.zxid);
    log_completeness::highest(logged.chain(named.into_values()))
}
