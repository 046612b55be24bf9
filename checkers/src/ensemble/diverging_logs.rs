//! `diverging-logs`: servers logged different transactions under one zxid.
//!
//! A zxid has the epoch of the leader that proposed it, and an epoch has one leader, so that under one zxid there is
//! one transaction: a server may lack it, or have one that was never committed, and none has another one. Only logs
//! convict that were read whole, every entry with its checksum. Digests, times and padding are no difference.

use super::Suspicion;
use crate::text::few;
use std::collections::BTreeMap;
use zooquake_history::{ServerTxnLog, Txn};

/// The servers with whole logs that have a transaction of a zxid, by what each has.
type Variants<'a> = Vec<(&'a Txn, Vec<&'a str>)>;

/// Looks for zxids under which logs differ; all together are one anomaly. Returns how many logs it judged.
pub fn check(txns: &[Txn], logs: &[ServerTxnLog], found: &mut Vec<Suspicion>) -> usize {
    let whole = || logs.iter().filter(|log| log.whole);
    let mut all: BTreeMap<i64, Variants<'_>> = BTreeMap::new();
    for log in whole() {
        for txn in &log.differs {
            let variants = all.entry(txn.zxid).or_default();
            match variants.iter_mut().find(|(known, _)| *known == txn) {
                Some((_, servers)) => servers.push(&log.server),
                None => variants.push((txn, vec![&log.server])),
            }
        }
    }
    for (zxid, variants) in &mut all {
        let Ok(at) = txns.binary_search_by_key(zxid, |txn| txn.zxid) else {
            continue;
        };
        let servers = txns[at].servers.iter().map(String::as_str);
        let servers: Vec<&str> = servers
            .filter(|&server| whole().any(|log| log.server == server))
            .collect();
        if !servers.is_empty() {
            variants.push((&txns[at], servers));
        }
    }
    all.retain(|_, variants| variants.len() > 1);
    if let Some((zxid, variants)) = all.first_key_value() {
        let words: Vec<String> = variants
            .iter()
            .map(|(txn, servers)| format!("{} {}", servers.join(", "), told(txn)))
            .collect();
        let others: Vec<String> = all.keys().skip(1).map(|zxid| format!("0x{zxid:x}")).collect();
        let more = match others.is_empty() {
            true => String::new(),
            false => format!(" They differ at {}, too.", few(&others)),
        };
        found.push(Suspicion {
            kind: "diverging-logs",
            property: "one transaction under each zxid",
            span: None,
            why: format!(
                "Servers whose logs were read whole logged different transactions under zxid 0x{zxid:x}: {}.{more}",
                words.join("; ")
            ),
        });
    }
    whole().count()
}

/// A transaction of a server in words; of one that its record does not have, that it is another one.
fn told(txn: &Txn) -> String {
    if txn.op.is_empty() {
        return "another one".to_owned();
    }
    let paths: Vec<&str> = txn.changes().map(|change| change.path).collect();
    let of = match paths.is_empty() {
        true => String::new(),
        false => format!(" of {}", few(&paths)),
    };
    let data: Vec<String> = txn
        .changes()
        .filter_map(|change| change.data)
        .map(|data| format!("{data:?}"))
        .collect();
    let with = match data.is_empty() {
        true => String::new(),
        false => format!(" with the data {}", few(&data)),
    };
    format!("the {}{of}{with} by the session {}", txn.op, txn.session)
}
