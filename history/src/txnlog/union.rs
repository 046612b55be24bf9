//! The union of the servers' transaction logs.

use super::entry::LogEntry;
use crate::evidence::{ServerTxnLog, Txn};
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
    /// The transactions that servers logged, by zxid, each with the servers that did; of several of one zxid that one
    /// which a majority of the voters logged, and none where there is no such one.
    pub transactions: Vec<Txn>,
    /// What was read of each server's.
    pub servers: Vec<ServerTxnLog>,
}

/// The different transactions that servers logged under one zxid, each with the places of those servers; of nearly
/// every zxid one.
type Variants = Vec<(LogEntry, Vec<usize>)>;

/// Unites the logs of servers. Ephemerals that the end of a session does not name are those that the session created
/// and that stood until then by the logs.
pub fn union(logs: Vec<ServerEntries>) -> TxnLogs {
    let voters: Vec<bool> = logs.iter().map(|log| log.voter).collect();
    let mut united: BTreeMap<i64, Variants> = BTreeMap::new();
    let mut servers: Vec<ServerTxnLog> = Vec::new();
    for (place, log) in logs.into_iter().enumerate() {
        let ServerEntries {
            server,
            voter,
            entries,
            mut problems,
        } = log;
        let (own, twice) = own(entries);
        problems.extend(
            twice
                .iter()
                .map(|zxid| format!("it has two different transactions 0x{zxid:x}")),
        );
        let zxid = |entry: Option<&LogEntry>| entry.map_or(0, |entry| entry.txn.zxid);
        servers.push(ServerTxnLog {
            voter,
            whole: problems.is_empty(),
            problem: (!problems.is_empty()).then(|| shortened(&problems)),
            first: zxid(own.first()),
            last: zxid(own.last()),
            transactions: own.len() - twice.len(),
            server,
            differs: Vec::new(),
        });
        for entry in own {
            unite(united.entry(entry.txn.zxid).or_default(), entry, place);
        }
    }
    let names: Vec<String> = servers.iter().map(|log| log.server.clone()).collect();
    let mut counting = BTreeMap::new();
    for (zxid, variants) in united {
        let (counts, rest) = elect(variants, &voters);
        for (entry, places) in rest {
            for place in places {
                servers[place].differs.push(entry.txn.clone());
            }
        }
        if let Some((mut entry, places)) = counts {
            entry.txn.servers = places.into_iter().map(|place| names[place].clone()).collect();
            counting.insert(zxid, entry);
        }
    }
    TxnLogs {
        transactions: listed(counting),
        servers,
    }
}

/// The transactions of one server in the order of zxids, each once, and the zxids under which it has different ones,
/// all of which are kept.
fn own(mut entries: Vec<LogEntry>) -> (Vec<LogEntry>, Vec<i64>) {
    entries.sort_by_key(|entry| entry.txn.zxid);
    let (mut all, mut twice) = (Vec::<LogEntry>::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        let zxid = entry.txn.zxid;
        let first = all
            .iter()
            .rposition(|known| known.txn.zxid != zxid)
            .map_or(0, |last| last + 1);
        match all[first..].iter_mut().find(|known| is_same(known, &entry)) {
            Some(known) => complete(known, entry),
            None => {
                twice.extend((first < all.len()).then_some(zxid));
                all.push(entry);
            }
        }
    }
    (all, twice)
}

/// Adds a server's transaction to the one that it is, or as another one of its zxid.
fn unite(variants: &mut Variants, entry: LogEntry, place: usize) {
    match variants.iter_mut().find(|(known, _)| is_same(known, &entry)) {
        Some((known, places)) => {
            complete(known, entry);
            places.push(place);
        }
        None => variants.push((entry, vec![place])),
    }
}

/// Takes the ephemerals that the end of a session took from another log of the same transaction, if only that names
/// them.
fn complete(known: &mut LogEntry, other: LogEntry) {
    if known.unlisted {
        (known.txn.paths, known.unlisted) = (other.txn.paths, other.unlisted);
    }
}

/// Whether two logs have the same transaction: the ephemerals that the end of a session took are compared only where
/// both name them.
fn is_same(one: &LogEntry, other: &LogEntry) -> bool {
    let (left, right) = (&one.txn, &other.txn);
    let unlisted = one.unlisted || other.unlisted;
    one.data == other.data
        && left.op == right.op
        && left.session == right.session
        && left.ephemeral == right.ephemeral
        && left.data == right.data
        && left.parts == right.parts
        && (unlisted || left.paths == right.paths)
}

/// The one among transactions of one zxid that counts, and the others: the only one, else that which a majority of the
/// voters logged. A server that has several of them has logged none of them for certain.
fn elect(mut variants: Variants, voters: &[bool]) -> (Option<(LogEntry, Vec<usize>)>, Variants) {
    if variants.len() == 1 {
        return (variants.pop(), Vec::new());
    }
    let several = |place: usize| variants.iter().filter(|(_, places)| places.contains(&place)).count() > 1;
    let votes = |(_, places): &(LogEntry, Vec<usize>)| {
        let counted = places.iter().filter(|&&place| voters[place] && !several(place));
        counted.count() * 2 > voters.iter().filter(|&&voter| voter).count()
    };
    let elected = variants.iter().position(votes);
    (elected.map(|at| variants.remove(at)), variants)
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
