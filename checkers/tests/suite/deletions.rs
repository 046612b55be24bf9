//! What the transaction logs show of znodes that were created and deleted, by looking at every pair of transactions.

use crate::liveness::node;
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Node, Record, Txn};

/// The deletions of znodes of which the logs show what created them, each after that; none before which the znode may
/// have gone.
pub fn known_deletions(record: &Record) -> Vec<[&Txn; 2]> {
    let txns = record.txnlog.as_deref().unwrap_or_default();
    let named = |event: &Event| [event.czxid(), event.mzxid(), event.zxid()];
    let answers = record.history.events.iter().filter(|event| event.kind == EventType::Ok);
    let mut missing: BTreeSet<i64> = answers.flat_map(named).flatten().collect();
    missing.retain(|zxid| txns.iter().all(|txn| txn.zxid != *zxid));
    let mut found = Vec::new();
    for (at, delete) in txns.iter().enumerate().filter(|(_, txn)| txn.op == "delete") {
        let Some(made) = txns[..at]
            .iter()
            .rposition(|txn| txn.op == "create" && txn.paths == delete.paths)
        else {
            continue;
        };
        let create = &txns[made];
        // Whether it may have gone meanwhile.
        let gone = |txn: &Txn| match txn.op.as_str() {
            "delete" => txn.paths == delete.paths,
            "closeSession" => txn.session == create.session || txn.paths == delete.paths,
            "multi" => true,
            _ => false,
        };
        let gap = txns[made..=at].windows(2).any(|pair| pair[1].zxid != pair[0].zxid + 1);
        let lost = missing.range(create.zxid..delete.zxid).next().is_some();
        if !gap && !lost && !txns[made + 1..at].iter().any(gone) {
            found.push([create, delete]);
        }
    }
    found
}

/// Clients that deleted, at the path of a grant of theirs, a znode of another client.
pub fn unowned_by_log(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let client = |session: &str| session[2..3].parse::<usize>().expect("a number");
    let mut found = BTreeSet::new();
    for [create, delete] in known_deletions(record) {
        let who = Node::client(client(&delete.session)).to_string();
        let own = |event: &Event| {
            let path = event.path() == Some(delete.paths[0].as_str()) && event.czxid().is_some();
            event.f == "acquire" && event.kind == EventType::Ok && node(event) == who && path
        };
        let granted = |event: &Event| own(event) && event.czxid() == Some(create.zxid);
        let other = client(&create.session) != client(&delete.session);
        if other && events.iter().any(own) && !events.iter().any(granted) {
            found.insert(who);
        }
    }
    found
}

/// Where the first grant was read whose znode the logs show to be persistent.
pub fn persistent(record: &Record) -> Option<usize> {
    let rests = |txn: &&Txn, event: &Event| {
        let znode = event.czxid() == Some(txn.zxid) && event.path() == Some(txn.paths[0].as_str());
        znode && txn.op == "create" && txn.ephemeral == Some(false)
    };
    let txns = || record.txnlog.iter().flatten();
    let granted = |event: &Event| event.f == "acquire" && event.kind == EventType::Ok;
    let mut events = record.history.events.iter();
    events.position(|event| granted(event) && txns().any(|txn| rests(&txn, event)))
}
