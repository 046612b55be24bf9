//! What earlier versions recorded where servers' logs differ: the transaction of the earlier server counted, and of the
//! others there are only words.

use crate::evidence::{ServerTxnLog, Txn};
use std::collections::BTreeMap;

/// What a problem of a server's log states.
enum FormerProblem {
    /// This transaction of it is not the one that counted.
    Differs(i64),
    /// There are more, which are not named.
    More,
    /// Anything else.
    Other,
}

fn problem(words: &str) -> FormerProblem {
    let differs = || {
        let (zxid, rest) = words.strip_prefix("its transaction 0x")?.split_once(' ')?;
        let named = rest.strip_prefix("is not the one that ")?.ends_with(" logged");
        i64::from_str_radix(zxid, 16).ok().filter(|_| named)
    };
    match differs() {
        Some(zxid) => FormerProblem::Differs(zxid),
        None if words.starts_with("and ") && words.ends_with(" more") => FormerProblem::More,
        None => FormerProblem::Other,
    }
}

/// Restates the words of an earlier version: what no majority of the voters logged alike is taken out of the
/// transactions. Where words name some differences and not all, any transaction that the server lacks between its first
/// and its last may be another one.
pub(crate) fn restate(txns: &mut Vec<Txn>, logs: &mut [ServerTxnLog]) {
    // By zxid the places of the logs that have another transaction.
    let mut others: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (place, log) in logs.iter_mut().enumerate() {
        let words = log.problem.clone().unwrap_or_default();
        let problems: Vec<FormerProblem> = words.split("; ").map(problem).collect();
        let mut zxids: Vec<i64> = problems
            .iter()
            .filter_map(|problem| match problem {
                FormerProblem::Differs(zxid) => Some(*zxid),
                _ => None,
            })
            .collect();
        if zxids.is_empty() {
            continue;
        }
        if problems.iter().any(|problem| matches!(problem, FormerProblem::More)) {
            let lacks = |txn: &&Txn| (log.first..=log.last).contains(&txn.zxid) && !txn.servers.contains(&log.server);
            zxids.extend(txns.iter().filter(lacks).map(|txn| txn.zxid));
            zxids.sort_unstable();
            zxids.dedup();
        }
        // All of its files were read.
        if problems
            .iter()
            .all(|problem| matches!(problem, FormerProblem::Differs(_)))
        {
            (log.whole, log.problem) = (true, None);
        }
        for zxid in zxids {
            others.entry(zxid).or_default().push(place);
        }
    }
    let voters = logs.iter().filter(|log| log.voter).count();
    txns.retain(|txn| {
        let Some(places) = others.remove(&txn.zxid) else {
            return true;
        };
        for place in places {
            logs[place].differs.push(Txn {
                zxid: txn.zxid,
                ..Txn::default()
            });
        }
        let agree = logs.iter().filter(|log| log.voter && txn.servers.contains(&log.server));
        if agree.count() * 2 > voters {
            return true;
        }
        for log in logs.iter_mut().filter(|log| txn.servers.contains(&log.server)) {
            log.differs.push(Txn {
                servers: Vec::new(),
                ..txn.clone()
            });
        }
        false
    });
}
