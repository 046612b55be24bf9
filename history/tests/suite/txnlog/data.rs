//! The data of creates and setDatas.

use super::writer::{Record, create, create_with, multi, part, path, payload, typed};
use super::{file, union};
use zooquake_history::ServerTxnLog;
use zooquake_history::evidence::{Txn, TxnPart, data_text};
use zooquake_history::jsonl::{parse_lines, to_line};
use zooquake_history::txnlog::entry::decode;
use zooquake_history::txnlog::{LogEnd, read};

fn decoded(kind: i32, record: &Record) -> Txn {
    decode(&payload(7, kind, record)).expect("a transaction").txn
}

/// The data of a create with these bytes, which its record and its part of a multi have alike.
fn of_create(bytes: &[u8]) -> String {
    let record = create_with("/a", bytes, false);
    let alone = decoded(1, &record).data.expect("data");
    let in_multi = decoded(14, &multi(&[part(15, record)])).parts.remove(0);
    assert_eq!(in_multi.data.as_ref(), Some(&alone));
    alone
}

#[test]
fn every_kind_of_create_and_set_data_has_its_data() {
    for kind in [1, 15] {
        assert_eq!(decoded(kind, &create("/a", true)).data.as_deref(), Some("some data"));
    }
    for (kind, data) in [(19, Some("")), (21, Some("")), (5, Some("data"))] {
        assert_eq!(decoded(kind, &typed(kind, "/a")).data.as_deref(), data, "{kind}");
    }
    for kind in [2, 20, 16, 7, 13] {
        assert_eq!(decoded(kind, &typed(kind, "/a")).data, None, "{kind}");
    }
    // No data are empty data.
    let null = path("/a").int(-1).int(0).boolean(false).int(4);
    assert_eq!(decoded(1, &null).data.as_deref(), Some(""));
}

#[test]
fn each_part_of_a_multi_has_its_own_data() {
    let parts = [
        part(2, path("/taken")),
        part(1, create_with("/a", b"7", true)),
        part(5, path("/b").buffer(b"8").int(2)),
        part(13, path("/c").int(3)),
    ];
    let txn = decoded(14, &multi(&parts));
    let data: Vec<_> = txn.changes().map(|change| (change.path, change.data)).collect();
    let expected = [("/taken", None), ("/a", Some("7")), ("/b", Some("8")), ("/c", None)];
    assert_eq!((data.as_slice(), &txn.data), (&expected[..], &None));
    let failed = multi(&[part(1, create_with("/a", b"7", true)), part(-1, Record::new().int(-1))]);
    assert!(decoded(14, &failed).parts.iter().all(|part| part.data.is_none()));
}

#[test]
fn data_are_text_of_bounded_length() {
    assert_eq!(of_create(b"7"), "7");
    assert_eq!(of_create("zwölf 🦓".as_bytes()), "zwölf 🦓");
    assert_eq!(of_create(b"7\xff\xfe\0\n"), "7\u{fffd}\u{fffd}\0\n");
    assert_eq!(of_create(&vec![b'7'; 1 << 20]), "7".repeat(256));
    // As if the whole had been decoded, wherever a character of any length, or what is none, crosses the bound.
    let units: [&[u8]; 8] = [
        b"a",
        "ö".as_bytes(),
        "€".as_bytes(),
        "🦓".as_bytes(),
        b"\xff",
        b"\xf0\x9f\xa6",
        b"\xe2\x82",
        b"\xed\xa0\x80",
    ];
    for unit in units {
        for shift in 0..8 {
            let bytes = [&vec![b'x'; shift][..], &unit.repeat(300)].concat();
            let whole: String = String::from_utf8_lossy(&bytes).chars().take(256).collect();
            assert_eq!(data_text(&bytes), whole, "{unit:?} after {shift}");
            assert_eq!(of_create(&bytes), whole);
        }
    }
}

#[test]
fn data_that_are_cut_off_are_no_transaction() {
    let record = path("/a").int(100).then(&path("7"));
    for kind in [1, 15, 19, 21, 5] {
        assert_eq!(decode(&payload(7, kind, &record)), None, "{kind}");
        assert_eq!(
            decode(&payload(7, 14, &multi(&[part(kind, record.clone())]))),
            None,
            "{kind}"
        );
    }
    let log = read(&file(&[payload(9, 1, &record)]));
    assert!(log.entries.is_empty() && matches!(log.end, LogEnd::Damaged(16, _)));
}

/// Servers that logged other data disagree about the transaction.
#[test]
fn data_belong_to_what_the_servers_logged() {
    let with = |data: &[u8]| payload(2, 1, &create_with("/a", data, false));
    let same = union::united(&[with(b"7")], &[with(b"7")]);
    assert_eq!(same.transactions[0].data.as_deref(), Some("7"));
    assert!(same.servers.iter().all(|log| log.whole && log.differs.is_empty()));
    let other = union::united(&[with(b"7")], &[with(b"8")]);
    assert!(other.transactions.is_empty());
    let data = |log: &ServerTxnLog| log.differs[0].data.clone();
    assert_eq!(other.servers.iter().filter_map(data).collect::<Vec<_>>(), ["7", "8"]);
}

#[test]
fn records_of_any_version_are_written_as_they_were_read() {
    let lines = [
        r#"{"zxid":5,"session":"0x1","op":"create","paths":["/a"],"ephemeral":false,"data":"7","servers":["n1"]}"#,
        r#"{"zxid":6,"session":"0x1","op":"create","paths":["/b"],"ephemeral":true,"data":"","servers":["n1"]}"#,
        r#"{"zxid":7,"session":"0x1","op":"multi","paths":[],"parts":[{"op":"create","path":"/c","ephemeral":true,"data":"ö\n"},{"op":"delete","path":"/a"}],"servers":["n1"]}"#,
        // Without data, and before that without parts and servers.
        r#"{"zxid":8,"session":"0x1","op":"create","paths":["/d"],"ephemeral":false,"servers":["n1"]}"#,
        r#"{"zxid":9,"session":"0x1","op":"multi","paths":[],"parts":[{"op":"create","path":"/e","ephemeral":true}],"servers":["n1"]}"#,
        r#"{"zxid":10,"session":"0x1","op":"create","paths":["/f"],"raw":"session 0x1 create /f,7,[31"}"#,
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (txns, damage) = parse_lines::<Txn>(text.as_bytes());
    assert_eq!((txns.len(), damage), (lines.len(), None));
    assert_eq!(txns.iter().map(to_line).collect::<String>(), text);
    let data: Vec<_> = txns.iter().flat_map(Txn::changes).map(|change| change.data).collect();
    assert_eq!(data, [Some("7"), Some(""), Some("ö\n"), None, None, None, None]);
    assert_eq!(
        txns[2].parts[1],
        TxnPart {
            op: "delete".to_owned(),
            path: "/a".to_owned(),
            ..TxnPart::default()
        }
    );
}
