//! A file of ZooKeeper's transaction logs, alone and united with a part of it; and its bytes as one transaction, which
//! no checksum guards.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_history::txnlog::entry::decode;
use zooquake_history::txnlog::{LogEnd, ServerEntries, read, union};

fuzz_target!(|bytes: &[u8]| {
    let file = read(bytes);
    if let LogEnd::Torn(at) | LogEnd::Damaged(at, _) = file.end {
        assert!(at <= bytes.len());
    }
    let mut entries = file.entries;
    entries.extend(decode(bytes));
    let half = entries[entries.len() / 2..].to_vec();
    let log = |server: &str, entries| ServerEntries {
        server: server.to_owned(),
        voter: true,
        entries,
        problems: Vec::new(),
    };
    let logs = union(vec![log("n1", entries.clone()), log("n2", half)]);
    assert!(logs.transactions.len() <= entries.len());
    assert!(logs.transactions.is_sorted_by_key(|txn| txn.zxid));
    for txn in &logs.transactions {
        assert!(txn.changes().count() <= bytes.len() && !txn.servers.is_empty());
    }
});
