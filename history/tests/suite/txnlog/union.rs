//! The union of several servers' logs.

use super::three;
use super::writer::{Record, close, create, file, headed, multi, part, path, payload};
use zooquake_history::txnlog::{ServerEntries, TxnLogs, read, union};

fn logged(server: &str, entries: &[Vec<u8>]) -> ServerEntries {
    let log = read(&file(entries));
    ServerEntries {
        server: server.to_owned(),
        voter: true,
        entries: log.entries,
        problems: Vec::new(),
    }
}

/// The logs of two servers that voted.
pub fn united(first: &[Vec<u8>], second: &[Vec<u8>]) -> TxnLogs {
    union(vec![logged("n1", first), logged("n2", second)])
}

fn servers_of(logs: &TxnLogs) -> Vec<String> {
    logs.transactions.iter().map(|txn| txn.servers.join("+")).collect()
}

#[test]
fn the_union_names_who_logged_what() {
    let all = three();
    let logs = union(vec![
        logged("n1", &all[..2]),
        logged("n2", &all),
        logged("n3", &[]),
        logged("n4", &all[2..]),
    ]);
    assert_eq!(servers_of(&logs), ["n1+n2", "n1+n2", "n2+n4"]);
    let read: Vec<_> = logs
        .servers
        .iter()
        .map(|log| (log.first, log.last, log.transactions, log.whole))
        .collect();
    assert_eq!(
        read,
        [(1, 2, 2, true), (1, 3, 3, true), (0, 0, 0, true), (3, 3, 1, true)]
    );
    // In two files of one server, as after a restart.
    let twice = union(vec![logged("n1", &[all.clone(), all.clone()].concat())]);
    assert_eq!((servers_of(&twice).len(), twice.servers[0].transactions), (3, 3));
    assert!(twice.servers[0].whole);
}

#[test]
fn logs_that_contradict_each_other_are_not_whole() {
    let other = payload(2, 1, &create("/lock/b", true));
    let logs = union(vec![logged("n1", &three()), logged("n2", &[other])]);
    assert_eq!(logs.transactions[1].paths, ["/lock/a"]);
    assert_eq!(servers_of(&logs)[1], "n1");
    let problem = logs.servers[1].problem.as_deref();
    assert_eq!(problem, Some("its transaction 0x2 is not the one that n1 logged"));
    assert_eq!((logs.servers[0].whole, logs.servers[1].whole), (true, false));
}

#[test]
fn ephemerals_that_are_not_listed_are_those_that_stood() {
    let older = |zxid| payload(zxid, -11, &Record::new());
    let other = |zxid, record: Record| [&headed(5, zxid, 1)[..], record.bytes()].concat();
    let entries = [
        payload(1, 1, &create("/e", true)),
        payload(2, 1, &create("/p", false)),
        payload(
            3,
            14,
            &multi(&[part(1, create("/m", true)), part(1, create("/gone", true))]),
        ),
        payload(4, 2, &path("/gone")),
        payload(
            5,
            14,
            &multi(&[part(1, create("/never", true)), part(-1, Record::new().int(-1))]),
        ),
        other(6, create("/other", true)),
        payload(7, 1, &create("/moved", true)),
        payload(8, 2, &path("/moved")),
        other(9, create("/moved", true)),
        older(10),
        older(11),
    ];
    let logs = union(vec![logged("n1", &entries), logged("n2", &entries[5..])]);
    assert_eq!(logs.transactions[9].paths, ["/e", "/m"]);
    assert_eq!(logs.transactions[10].paths, [""; 0]);
    assert_eq!(logs.transactions[9].servers, ["n1", "n2"]);
    // One that lists them is believed, whichever server has it.
    let listed = payload(10, -11, &close(&["/e"]));
    for logs in [
        union(vec![
            logged("n1", &entries),
            logged("n2", std::slice::from_ref(&listed)),
        ]),
        union(vec![
            logged("n2", std::slice::from_ref(&listed)),
            logged("n1", &entries),
        ]),
    ] {
        assert_eq!(logs.transactions[9].paths, ["/e"]);
        assert!(logs.servers.iter().all(|log| log.whole));
    }
}
