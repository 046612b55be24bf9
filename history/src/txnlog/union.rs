//! The union of the servers' transaction logs.

use super::entry::LogEntry;
use crate::evidence::{ServerTxnLog, Txn};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// What was read of one server's log files.
#[derive(Debug, Clone, Default)]
pub struct ServerEntries {
    /// `n1`, ….
    pub server: String,
    /// Whether it votes.
    pub voter: bool,
    /// The transactions of all its files; one may be there several times.
    pub entries: Vec<LogEntry>,
    /// What was not read, and why, in any words; empty if all was.
    pub problems: Vec<String>,
}

/// The transaction logs of all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TxnLogs {
    /// The transactions that any server logged, by zxid, each with the servers that did.
    pub transactions: Vec<Txn>,
    /// What was read of each server's.
    pub servers: Vec<ServerTxnLog>,
}

/// Unites the logs of servers. Of two different transactions of one zxid that of the earlier server is kept, and the
/// log of the other is not whole. Ephemerals that the end of a session does not name are those that the session created
/// and that stood until then by the logs.
pub fn union(logs: Vec<ServerEntries>) -> TxnLogs {
    let mut united: BTreeMap<i64, LogEntry> = BTreeMap::new();
    let mut servers = Vec::new();
    for log in logs {
        let mut read = ServerTxnLog {
            server: log.server,
            voter: log.voter,
            ..ServerTxnLog::default()
        };
        let mut problems = log.problems;
        for entry in log.entries {
            let zxid = entry.txn.zxid;
            let known = match united.entry(zxid) {
                Entry::Vacant(vacant) => vacant.insert(entry),
                Entry::Occupied(known) => {
                    let known = known.into_mut();
                    if let Err(problem) = unite(known, entry) {
                        problems.push(problem);
                        continue;
                    }
                    known
                }
            };
            if known.txn.servers.last() != Some(&read.server) {
                known.txn.servers.push(read.server.clone());
                read.first = if read.transactions == 0 {
                    zxid
                } else {
                    read.first.min(zxid)
                };
                read.last = if read.transactions == 0 {
                    zxid
                } else {
                    read.last.max(zxid)
                };
                read.transactions += 1;
            }
        }
        read.whole = problems.is_empty();
        read.problem = (!read.whole).then(|| shortened(&problems));
        servers.push(read);
    }
    TxnLogs {
        transactions: listed(united),
        servers,
    }
}

/// The most problems of a server that are named, and how many characters of each.
const NAMED: usize = 5;
const CHARACTERS: usize = 300;

/// Problems in one line: an engine may have put anything into its words.
fn shortened(problems: &[String]) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let one = |problem: &String| problem.chars().take(CHARACTERS).map(printable).collect();
    let named: Vec<String> = problems.iter().take(NAMED).map(one).collect();
    match problems.len().saturating_sub(NAMED) {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}

/// Holds a transaction of another log, or of another file, against the known one of its zxid.
fn unite(known: &mut LogEntry, entry: LogEntry) -> Result<(), String> {
    let LogEntry { mut txn, unlisted } = entry;
    if unlisted {
        txn.paths.clone_from(&known.txn.paths);
    } else if known.unlisted {
        known.txn.paths.clone_from(&txn.paths);
    }
    txn.servers.clone_from(&known.txn.servers);
    if txn != known.txn {
        let first = known.txn.servers.join(", ");
        return Err(format!(
            "its transaction 0x{:x} is not the one that {first} logged",
            txn.zxid
        ));
    }
    known.unlisted &= unlisted;
    Ok(())
}

/// The transactions in order, with the ephemerals that ends of sessions do not name.
fn listed(united: BTreeMap<i64, LogEntry>) -> Vec<Txn> {
    // The sessions of the ephemerals that stand, by path.
    let mut standing: HashMap<String, String> = HashMap::new();
    let unlisted = united.values().any(|logged| logged.unlisted);
    let mut transactions = Vec::with_capacity(united.len());
    for mut logged in united.into_values() {
        if unlisted {
            follow(&mut standing, &mut logged);
        }
        transactions.push(logged.txn);
    }
    transactions
}

fn follow(standing: &mut HashMap<String, String>, logged: &mut LogEntry) {
    let txn = &mut logged.txn;
    if logged.unlisted {
        let own = standing.iter().filter(|(_, session)| **session == txn.session);
        txn.paths = own.map(|(path, _)| path.clone()).collect();
        txn.paths.sort_unstable();
    }
    for change in txn.changes() {
        match change.op {
            "create" if change.ephemeral == Some(true) => {
                standing.insert(change.path.to_owned(), txn.session.clone());
            }
            "create" | "delete" | "closeSession" => drop(standing.remove(change.path)),
            _ => {}
        }
    }
}
