//! Transaction logs: what ZooKeeper writes is read, and what is torn, damaged or hostile is named.

mod data;
mod union;
mod writer;

use fastrand::Rng;
use writer::{Record, close, create, file, headed, multi, part, path, payload, typed};
use zooquake_history::evidence::{Txn, TxnPart};
use zooquake_history::txnlog::entry::decode;
use zooquake_history::txnlog::{LogEnd, LogFile, read};

const SESSION: i64 = 0x0300_0024_4612_0002;

fn txns(log: &LogFile) -> Vec<Txn> {
    log.entries.iter().map(|entry| entry.txn.clone()).collect()
}

/// Op, paths and ephemeral flag of a transaction of this type and record.
fn decoded(kind: i32, record: Record) -> (String, Vec<String>, Option<bool>) {
    let txn = decode(&payload(7, kind, &record)).expect("a transaction").txn;
    assert_eq!((txn.zxid, txn.session.as_str()), (7, "0x300002446120002"));
    assert_eq!((&txn.raw, &txn.servers), (&String::new(), &vec![]));
    (txn.op, txn.paths, txn.ephemeral)
}

fn named(op: &str, path: &str, ephemeral: Option<bool>) -> (String, Vec<String>, Option<bool>) {
    (
        op.to_owned(),
        Vec::from_iter((!path.is_empty()).then(|| path.to_owned())),
        ephemeral,
    )
}

#[test]
fn every_type_of_transaction_is_read() {
    assert_eq!(decoded(1, create("/a", true)), named("create", "/a", Some(true)));
    assert_eq!(decoded(15, create("/a", false)), named("create", "/a", Some(false)));
    for kind in [19, 21] {
        assert_eq!(decoded(kind, typed(kind, "/a")), named("create", "/a", Some(false)));
    }
    for (kind, op) in [
        (2, "delete"),
        (20, "delete"),
        (5, "setData"),
        (16, "reconfig"),
        (7, "setACL"),
        (13, "check"),
    ] {
        assert_eq!(decoded(kind, typed(kind, "/a/ö")), named(op, "/a/ö", None));
    }
    assert_eq!(decoded(-10, Record::new().int(2000)), named("createSession", "", None));
    assert_eq!(decoded(-1, Record::new().int(-110)), named("error", "", None));
    assert_eq!(decoded(77, Record::new().int(5)), named("77", "", None));
    let (op, paths, _) = decoded(-11, close(&["/a", "/b"]));
    assert_eq!(
        (op.as_str(), paths),
        ("closeSession", vec!["/a".to_owned(), "/b".to_owned()])
    );
    // Without the parent's version, as before ZooKeeper 3.4.
    let older = create("/a", true).cut(4);
    assert_eq!(decoded(1, older), named("create", "/a", Some(true)));
    let session = decode(&headed(-2, 7, -10)).map(|logged| logged.txn.session);
    assert_eq!(session.as_deref(), Some("0xfffffffffffffffe"));
}

#[test]
fn a_digest_behind_a_record_changes_nothing() {
    let digest = Record::new().int(2).long(0x0000_0004_2f61_6263);
    for (kind, record) in [
        (1, create("/a", true)),
        (-11, close(&["/a"])),
        (-11, close(&[])),
        (14, multi(&[part(1, create("/a", true)), part(2, path("/b"))])),
        (2, path("/a")),
        (-1, Record::new().int(-101)),
    ] {
        let with = decode(&payload(7, kind, &record.clone().then(&digest)));
        assert_eq!(with, decode(&payload(7, kind, &record)));
        assert!(!with.expect("a transaction").unlisted);
    }
    for record in [Record::new(), digest] {
        let older = decode(&payload(7, -11, &record)).expect("a transaction");
        assert!(older.unlisted && older.txn.paths.is_empty());
    }
    assert_eq!(decode(&payload(7, -11, &Record::new().int(5).int(1))), None);
}

#[test]
fn a_multi_has_its_parts_and_a_failed_one_changes_nothing() {
    let parts = [
        part(13, path("/c").int(3)),
        part(15, create("/a", true)),
        part(2, path("/b")),
    ];
    let txn = decode(&payload(7, 14, &multi(&parts))).expect("a transaction").txn;
    let part_of = |op: &str, path: &str, ephemeral| TxnPart {
        op: op.to_owned(),
        path: path.to_owned(),
        ephemeral,
        data: (op == "create").then(|| "some data".to_owned()),
    };
    let expected = [
        part_of("check", "/c", None),
        part_of("create", "/a", Some(true)),
        part_of("delete", "/b", None),
    ];
    assert_eq!((txn.op.as_str(), txn.parts.as_slice()), ("multi", expected.as_slice()));
    assert!(txn.paths.is_empty());
    // ZooKeeper logs what came before the part that failed as if it had been done.
    let failed = multi(&[
        part(1, create("/a", true)),
        part(-1, Record::new().int(-101)),
        part(-1, Record::new().int(-2)),
    ]);
    let txn = decode(&payload(7, 14, &failed)).expect("a transaction").txn;
    assert_eq!(txn.parts, vec![part_of("error", "", None); 3]);
    assert_eq!(txn.changes().count(), 0);
    assert!(decode(&payload(7, 14, &multi(&[]))).is_some_and(|logged| logged.txn.parts.is_empty()));
}

fn three() -> Vec<Vec<u8>> {
    let entry = |zxid: i64, kind, record: Record| payload(zxid, kind, &record);
    vec![
        entry(1, -10, Record::new().int(2000)),
        entry(2, 1, create("/lock/a", true)),
        entry(3, -11, close(&["/lock/a"])),
    ]
}

#[test]
fn a_file_is_read_to_its_end() {
    let bytes = file(&three());
    let log = read(&bytes);
    assert_eq!((log.entries.len(), &log.end), (3, &LogEnd::Clean));
    let padded = [bytes, vec![0; 5000]].concat();
    assert_eq!(read(&padded), log);
    for empty in [&b""[..], &[0; 100], b"ZKL", b"ZKLG\0\0\0\x02", &file(&[])] {
        assert_eq!(
            read(empty),
            LogFile {
                entries: vec![],
                end: LogEnd::Clean
            },
            "{empty:?}"
        );
    }
}

#[test]
fn a_torn_last_entry_is_the_end_wherever_it_is_torn() {
    let bytes = file(&three());
    let last = file(&three()[..2]).len();
    for cut in last..bytes.len() {
        for padding in [0, 3000] {
            let torn = [&bytes[..cut], &vec![0; padding]].concat();
            let log = read(&torn);
            assert_eq!(txns(&log), txns(&read(&bytes))[..2], "cut at {cut}");
            let nothing = torn[last..].iter().all(|&byte| byte == 0);
            assert_eq!(
                log.end,
                if nothing { LogEnd::Clean } else { LogEnd::Torn(last) },
                "cut at {cut}"
            );
        }
    }
}

/// What a server was not writing, though nothing follows it: an entry with its end mark, of a length that none has, of
/// another checksum than its bytes, or with a checksum of more than 32 bits.
#[test]
fn only_the_beginning_of_an_entry_is_torn() {
    let bytes = file(&three());
    let last = file(&three()[..2]).len();
    let with = |at: usize, change: &[u8]| {
        let mut changed = bytes.clone();
        changed[last + at..last + at + change.len()].copy_from_slice(change);
        changed
    };
    let unmarked = |mut bytes: Vec<u8>| {
        bytes.pop();
        bytes
    };
    let garbage = |length: i32| {
        let entry = Record::new().long(0x1234_5678).int(length).then(&typed(7, "/garbage"));
        [&bytes[..last], entry.bytes()].concat()
    };
    for damaged in [
        with(12, &[7]),
        unmarked(with(12, &[7])),
        with(0, &[1]),
        unmarked(with(3, &[1])),
        garbage(-31_873_771),
        garbage(0x7fff_ffff),
        garbage(2 * 0xf_ffff + 1),
        garbage(31),
        garbage(0),
    ] {
        for padding in [0, 3000] {
            let padded = [damaged.clone(), vec![0; padding]].concat();
            let end = read(&padded).end;
            assert!(matches!(end, LogEnd::Damaged(at, _) if at == last), "{end:?}");
        }
    }
    for torn in [garbage(2 * 0xf_ffff), garbage(100), unmarked(bytes.clone())] {
        assert_eq!(read(&torn).end, LogEnd::Torn(last));
    }
}

#[test]
fn a_changed_byte_is_never_overlooked() {
    let bytes = file(&three());
    let whole = txns(&read(&bytes));
    let (second, last) = (file(&three()[..1]).len(), file(&three()[..2]).len());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let log = read(&changed);
            let at_end = matches!(log.end, LogEnd::Torn(from) if from == last && at >= last);
            let named = matches!(&log.end, LogEnd::Damaged(from, _) if *from <= at);
            // Nothing rests on the database's id.
            assert!(
                at_end || named || (8..16).contains(&at),
                "byte {at}, bit {bit}: {:?}",
                log.end
            );
            assert!(whole.starts_with(&txns(&log)));
            // A length that is broken hides no entry behind it.
            assert!(at >= last || named || at < 16, "byte {at}, bit {bit}: {:?}", log.end);
        }
    }
    let foreign = read(b"PK\x03\x04 is no log of transactions");
    assert!(matches!(foreign.end, LogEnd::Damaged(0, _)));
    let mut odd = file(&[]);
    odd.extend(file(&[payload(9, 1, &Record::new().int(7))]).split_off(16));
    assert!(
        matches!(read(&odd).end, LogEnd::Damaged(16, _)),
        "a sound checksum over nonsense"
    );
    assert!(second < last);
}

#[test]
fn hostile_bytes_cost_no_more_than_they_are_long() {
    let mut rng = Rng::with_seed(36);
    let sound = file(&three());
    for _ in 0..20_000 {
        let mut bytes = sound.clone();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(16..bytes.len());
            match rng.u8(0..4) {
                0 => bytes.truncate(at.max(17)),
                1 => drop(bytes.splice(at..at, [0xff, 0xff, b'B', 0x7f])),
                _ => bytes[at] = rng.u8(..),
            }
        }
        assert!(read(&bytes).entries.len() <= 3);
    }
    // Lengths of two billion elements, in records of sound checksums.
    let huge = Record::new().int(i32::MAX);
    for kind in [-11, 14, 1] {
        assert_eq!(decode(&payload(7, kind, &huge)), None);
    }
    assert_eq!(
        decode(&payload(7, 1, &path("/a").then(&Record::new().int(-1).int(i32::MAX)))),
        None
    );
    for negative in [-2, i32::MIN] {
        assert_eq!(decode(&payload(7, 14, &Record::new().int(negative))), None);
        assert_eq!(decode(&payload(7, 2, &Record::new().int(negative))), None);
    }
    // Many beginnings of entries behind a broken one.
    let begun = [&[b'B'][..], &[0; 8], &[0, 1, 0, 0]].concat();
    let bytes = [sound[..20].to_vec(), begun.repeat(200_000)].concat();
    assert!(matches!(read(&bytes).end, LogEnd::Damaged(16, _)));
}
