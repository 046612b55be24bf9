//! The union of several servers' logs.

use super::three;
use super::writer::{Record, close, create, create_with, file, headed, multi, part, path, payload};
use zooquake_history::files::Files;
use zooquake_history::txnlog::{ServerEntries, TxnLogs, read, union};
use zooquake_history::{Node, Record as RunRecord, ServerTxnLog};

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

/// The transaction 2 of [`three`], made by another session, of another type, at another path, with other data.
fn others() -> [Vec<u8>; 4] {
    [
        [&headed(5, 2, 1)[..], create("/lock/a", true).bytes()].concat(),
        payload(2, 2, &path("/lock/a")),
        payload(2, 1, &create("/lock/b", true)),
        payload(2, 1, &create_with("/lock/a", b"other data", true)),
    ]
}

fn differing(logs: &TxnLogs) -> Vec<(&str, Vec<i64>)> {
    let differs = |log: &ServerTxnLog| log.differs.iter().map(|txn| txn.zxid).collect();
    logs.servers
        .iter()
        .map(|log| (log.server.as_str(), differs(log)))
        .collect()
}

#[test]
fn what_a_majority_of_the_voters_logged_counts_where_logs_differ() {
    for other in others() {
        let forged = [three()[0].clone(), other, three()[2].clone()];
        for (place, names) in [(0, "n2+n3"), (1, "n1+n3"), (2, "n1+n2")] {
            let log = |number: usize| match number == place {
                true => logged(&Node::server(number + 1).to_string(), &forged),
                false => logged(&Node::server(number + 1).to_string(), &three()),
            };
            let logs = union((0..3).map(log).collect());
            assert_eq!(servers_of(&logs), ["n1+n2+n3", names, "n1+n2+n3"]);
            assert_eq!(logs.transactions[1].paths, ["/lock/a"]);
            assert_eq!(logs.transactions[1].session, logs.transactions[0].session);
            assert!(logs.servers.iter().all(|log| log.whole && log.transactions == 3));
            let differs = differing(&logs);
            assert!((0..3).all(|number| differs[number].1 == vec![2; usize::from(number == place)]));
        }
    }
}

#[test]
fn what_no_majority_of_the_voters_logged_alike_is_unknown_where_logs_differ() {
    let [other, ..] = others();
    let two = union(vec![logged("n1", &three()), logged("n2", std::slice::from_ref(&other))]);
    assert_eq!(servers_of(&two), ["n1", "n1"]);
    assert_eq!(differing(&two), [("n1", vec![2]), ("n2", vec![2])]);
    // A third voter, which was sent a snapshot, agrees with none; nor does an observer make a majority.
    for (entries, voter) in [(&three()[2..], true), (&three()[..], false)] {
        let third = ServerEntries {
            voter,
            ..logged("n3", entries)
        };
        let logs = union(vec![
            logged("n1", &three()),
            logged("n2", std::slice::from_ref(&other)),
            third,
        ]);
        assert!(logs.transactions.iter().all(|txn| txn.zxid != 2), "{logs:?}");
    }
}

#[test]
fn a_log_that_contradicts_itself_is_not_whole_and_agrees_with_none() {
    let [other, ..] = others();
    let twice = [three(), vec![other]].concat();
    let logs = union(vec![logged("n1", &twice), logged("n2", &three())]);
    assert_eq!(servers_of(&logs), ["n1+n2", "n1+n2"]);
    assert_eq!(differing(&logs), [("n1", vec![2, 2]), ("n2", vec![2])]);
    let problem = logs.servers[0].problem.as_deref();
    assert_eq!(problem, Some("it has two different transactions 0x2"));
    assert_eq!((logs.servers[0].whole, logs.servers[1].whole), (false, true));
    let three = union(vec![
        logged("n1", &twice),
        logged("n2", &three()),
        logged("n3", &three()),
    ]);
    assert_eq!(servers_of(&three)[1], "n1+n2+n3");
}

#[test]
fn data_differ_wherever_they_do() {
    let long = |last: u8| [&[b'x'; 300][..], &[last]].concat();
    let entry = |last| payload(2, 1, &create_with("/lock/a", &long(last), true));
    let logs = united(&[entry(b'y')], &[entry(b'y')]);
    assert_eq!(servers_of(&logs), ["n1+n2"]);
    assert_eq!(servers_of(&united(&[entry(b'y')], &[entry(b'z')])), [""; 0]);
}

#[test]
fn checksums_times_and_padding_are_no_difference() {
    let digest = Record::new().int(2).long(0x0000_0004_2f61_6263);
    let other = payload(2, 1, &create("/lock/a", true).then(&digest));
    let logs = union(vec![logged("n1", &three()), logged("n2", &[other])]);
    assert_eq!(servers_of(&logs), ["n1", "n1+n2", "n1"]);
    assert_eq!(differing(&logs), [("n1", vec![]), ("n2", vec![])]);
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

/// Earlier versions let the transaction of the earlier server count, and had only words for the others.
#[test]
fn differences_that_earlier_versions_recorded_in_words_are_read_as_such() {
    let read = |servers: &str, problem: &str| {
        let txnlog = format!(
            "{{\"zxid\":1,\"session\":\"0x1\",\"op\":\"error\",\"paths\":[],\"servers\":[\"n1\",\"n2\",\"n3\"]}}\n\
             {{\"zxid\":2,\"session\":\"0xdead\",\"op\":\"create\",\"paths\":[\"/a\"],\"servers\":{servers}}}\n"
        );
        let log = |number, whole: &str| {
            format!(
                "{{\"server\":\"n{number}\",\"voter\":true,\"first\":1,\"last\":2,\"transactions\":2,\"whole\":{whole}}}"
            )
        };
        let other = format!("false,\"problem\":\"{problem}\"");
        let txnlogs = format!("[{},{},{}]", log(1, "true"), log(2, &other), log(3, &other));
        let record = RunRecord::read(Files {
            txnlog: Some(txnlog.as_bytes()),
            txnlogs: Some(txnlogs.as_bytes()),
            ..Files::default()
        });
        let logs = record.server_txnlogs.expect("logs");
        let differs = logs.iter().map(|log| log.differs.iter().map(|txn| txn.zxid).collect());
        let zxids = record
            .txnlog
            .expect("transactions")
            .iter()
            .map(|txn| txn.zxid)
            .collect();
        (zxids, differs.collect(), logs[1].whole)
    };
    let other = "its transaction 0x2 is not the one that n1 logged";
    let cut = format!("{other}; the file ends in an entry");
    let more = format!("{other}; and 7 more");
    let all: (Vec<i64>, Vec<Vec<i64>>, bool) = read("[\"n1\"]", other);
    assert_eq!(all, (vec![1], vec![vec![2]; 3], true));
    assert_eq!(read("[\"n1\"]", &cut), (vec![1], vec![vec![2]; 3], false));
    assert_eq!(read("[\"n1\"]", &more), (vec![1], vec![vec![2]; 3], false));
    // A majority logged it.
    let none = (vec![1, 2], vec![vec![], vec![2], vec![2]], true);
    assert_eq!(read("[\"n1\",\"n3\"]", other), none);
    assert_eq!(
        read("[\"n1\"]", "the file ends in an entry"),
        (vec![1, 2], vec![vec![]; 3], false)
    );
}
