//! Whether the transaction logs are complete: what they have to have for the absence of a transaction to prove
//! anything.
//!
//! They are complete if the logs of a majority of the voters were read whole and have nothing that does not count (a
//! record of an older version does not contain that), if no zxid is unknown because servers logged different
//! transactions under it, if the transactions of each epoch count from 1 without a gap, as ZooKeeper counts them, and
//! if no later transaction is named: in its epoch by an answer, by the evidence of a lost reply or by the znode tree;
//! of any epoch by a sample of a server, since a server that starts may name a transaction that nobody else has, and
//! loses it.

use super::{RecordView, named_zxids};
use crate::text::few;
use std::collections::BTreeMap;
use zooquake_history::plan::record_files::TXNLOGS;
use zooquake_history::{ServerTxnLog, Txn};

/// By epoch the highest transaction of it.
pub type HighestZxids = BTreeMap<i64, i64>;

/// The epoch of a transaction.
pub fn epoch(zxid: i64) -> i64 {
    zxid >> 32
}

/// The place of a transaction in its epoch, from 1.
fn counter(zxid: i64) -> i64 {
    zxid & 0xffff_ffff
}

/// Whether no transaction can be missing between two of the logs. No log contains with which transaction an epoch
/// ended.
pub fn follows(before: i64, next: i64) -> bool {
    next == before + 1 || counter(next) == 1 && epoch(next) > epoch(before)
}

/// The highest of some transactions in each epoch. What is no transaction (an epoch before its first one, a number that
/// is none) is left out.
pub fn highest(zxids: impl Iterator<Item = i64>) -> HighestZxids {
    let mut all = HighestZxids::new();
    for zxid in zxids.filter(|&zxid| zxid > 0 && counter(zxid) > 0) {
        let highest = all.entry(epoch(zxid)).or_insert(zxid);
        *highest = zxid.max(*highest);
    }
    all
}

/// The highest transaction of each epoch that an event or the znode tree names: all up to it in its epoch were
/// committed.
pub fn named(record: &RecordView<'_>) -> HighestZxids {
    let events = record.history.events.iter().flat_map(named_zxids::named);
    let znodes = record
        .readings
        .into_iter()
        .flatten()
        .flat_map(|reading| &reading.znodes);
    highest(events.chain(znodes.flat_map(|znode| [znode.czxid, znode.mzxid])))
}

/// What the transaction logs lack to be complete, in words; `None` if nothing. `named` is what [`named`] gives.
pub fn lack(record: &RecordView<'_>, named: &HighestZxids) -> Option<String> {
    let txns = match record.txnlog {
        None => return Some("no transaction log was read".to_owned()),
        Some([]) => return Some("the transaction logs that were read have no transaction".to_owned()),
        Some(txns) => txns,
    };
    if is_without_servers(record) {
        return Some(format!(
            "{TXNLOGS}, which states what was read of each server's log, was not read"
        ));
    }
    let logs = record.server_txnlogs;
    let unknown = logs.and_then(|logs| unknown(txns, logs));
    let servers = || logs.and_then(|logs| unread(record, logs));
    unknown
        .or_else(servers)
        .or_else(|| gap(txns))
        .or_else(|| end(record, txns, named))
}

/// Whether what was read of each server's log is not there, and no older version recorded the run.
pub fn is_without_servers(record: &RecordView<'_>) -> bool {
    record.server_txnlogs.is_none() && record.plan.names(TXNLOGS)
}

/// Where servers logged different transactions under one zxid, and no majority of the voters the same.
fn unknown(txns: &[Txn], logs: &[ServerTxnLog]) -> Option<String> {
    let counts = |zxid| txns.binary_search_by_key(&zxid, |txn| txn.zxid).is_ok();
    let differ = logs.iter().flat_map(|log| log.differs.iter().map(|txn| txn.zxid));
    let first = differ.filter(|&zxid| !counts(zxid)).min()?;
    let has = |log: &&ServerTxnLog| log.differs.iter().any(|txn| txn.zxid == first);
    let servers: Vec<&str> = logs.iter().filter(has).map(|log| log.server.as_str()).collect();
    Some(format!(
        "the transaction logs of {} differ at 0x{first:x}, and no majority of the voters logged the same there",
        servers.join(" and ")
    ))
}

/// Of which voters the logs were not read whole, or are no evidence of what was committed, unless those of a majority
/// are.
fn unread(record: &RecordView<'_>, logs: &[ServerTxnLog]) -> Option<String> {
    let voters = record.plan.cluster.voters();
    let lack = |voter: &String| match logs.iter().find(|log| log.server == *voter) {
        None => Some(format!("nothing of {voter}")),
        Some(log) if log.whole && log.transactions == 0 => Some(format!("no transaction of {voter}")),
        Some(log) if log.whole && !log.differs.is_empty() => Some(format!("other transactions of {voter}")),
        Some(log) if log.whole => None,
        Some(log) => Some(format!(
            "not all of {voter} ({})",
            log.problem.as_deref().unwrap_or("the record gives no reason")
        )),
    };
    let lacks: Vec<String> = voters.iter().filter_map(lack).collect();
    let whole = voters.len() - lacks.len();
    (whole * 2 <= voters.len() && !voters.is_empty()).then(|| {
        let lacks: Vec<&str> = lacks.iter().map(String::as_str).collect();
        format!(
            "the transaction logs of {whole} of {} voters were read whole, and of no majority: {}",
            voters.len(),
            few(&lacks)
        )
    })
}

/// Where a transaction is missing before another one of its epoch.
fn gap(txns: &[Txn]) -> Option<String> {
    let first = txns.first().map(|txn| txn.zxid).filter(|&zxid| counter(zxid) != 1);
    let pairs = txns.windows(2).map(|pair| (pair[0].zxid, pair[1].zxid));
    let missing = || pairs.clone().find(|&(before, next)| !follows(before, next));
    match (first, missing()) {
        (Some(first), _) => Some(format!(
            "the transaction logs begin with 0x{first:x}, which is not the first transaction of its epoch"
        )),
        (None, Some((before, next))) => Some(format!(
            "the transaction logs have a gap: 0x{next:x} follows on 0x{before:x}"
        )),
        (None, None) => None,
    }
}

/// Where an epoch, or all, ends before a transaction that is named.
fn end(record: &RecordView<'_>, txns: &[Txn], named: &HighestZxids) -> Option<String> {
    let logged = highest(txns.iter().map(|txn| txn.zxid));
    let last = txns.iter().map(|txn| txn.zxid).max().unwrap_or(0);
    if let Some((epoch, zxid)) = named.iter().find(|&(epoch, zxid)| logged.get(epoch) < Some(zxid)) {
        let until = match logged.get(epoch) {
            Some(last) => format!("end at 0x{last:x}"),
            None => format!("have none of epoch {epoch}"),
        };
        return Some(format!(
            "the transaction logs {until}, while the history or the znode tree names 0x{zxid:x}"
        ));
    }
    let samples = record.servers.into_iter().flatten();
    let later = samples.filter(|sample| counter(sample.zxid) > 0 && sample.zxid > last);
    later.max_by_key(|sample| sample.zxid).map(|sample| {
        format!(
            "the transaction logs end at 0x{last:x}, while {} named 0x{:x} as its last transaction",
            sample.server, sample.zxid
        )
    })
}
