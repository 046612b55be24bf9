//! Which item a znode carries by its data in the transaction logs, where no answer names its path; beside each
//! conviction the twins of which the logs show something else.

use super::claimed;
use super::unanswered_operations::{CONSUMED, evidence, with};
use crate::expect::{edited, explains, none, proven, proven_by};
use crate::script::{changed, txn};
use serde_json::json;
use zooquake_history::{Record, Txn, evidence::TxnPart};

/// The enqueue of item 7 names no path; transaction 9 is the one whose reply was lost.
fn unnamed(log: &[Txn]) -> Record {
    let text = edited(CONSUMED, "path=/queue/a czxid=5 =>");
    with(claimed(&text), &evidence(), log.to_vec())
}

/// A create of a persistent znode, or a setData.
fn holding(zxid: i64, op: &str, path: &str, data: &str) -> Txn {
    Txn {
        ephemeral: (op == "create").then_some(false),
        data: Some(data.to_owned()),
        ..txn(zxid, "0x1", op, path)
    }
}

fn create(data: &str) -> Txn {
    holding(5, "create", "/queue/a", data)
}

fn delete(path: &str) -> Txn {
    txn(9, "0x2", "delete", path)
}

/// A multi of what these transactions do.
fn multi(zxid: i64, session: &str, parts: &[Txn]) -> Txn {
    let part = |txn: &Txn| TxnPart {
        op: txn.op.clone(),
        path: txn.paths[0].clone(),
        ephemeral: txn.ephemeral,
        data: txn.data.clone(),
    };
    Txn {
        parts: parts.iter().map(part).collect(),
        paths: Vec::new(),
        ..txn(zxid, session, "multi", "")
    }
}

#[track_caller]
fn convicts(log: &[Txn]) {
    proven_by(&unnamed(log), "duplicate-delivery", &[0, 5, 6, 7, 9, 10]);
}

#[track_caller]
fn acquits(log: &[Txn]) {
    none(&unnamed(log));
}

#[test]
fn data_are_the_number_or_json_with_it_under_item() {
    for data in ["7", r#"{"item":7,"owner":null}"#] {
        convicts(&[create(data), delete("/queue/a")]);
    }
    let cut = format!(r#"{{"item":7,"owner":"{}"#, "x".repeat(230));
    for data in [
        "8",
        r#"{"item":8}"#,
        r#"{"thing":7}"#,
        "",
        "7.5",
        "seven",
        "7\u{fffd}",
        &cut,
    ] {
        acquits(&[create(data), delete("/queue/a")]);
    }
    // Data count where they are recorded, and the printed line where they are not.
    let printed = "session 0x1 cxid 0x1 zxid 0x5 create /queue/a,7,[31,s{'world,'anyone}";
    let both = |data: Option<&str>| Txn {
        raw: printed.to_owned(),
        data: data.map(str::to_owned),
        ..create("")
    };
    convicts(&[both(None), delete("/queue/a")]);
    acquits(&[both(Some("8")), delete("/queue/a")]);
}

#[test]
fn parts_of_a_multi_name_items_too() {
    let parent = holding(5, "create", "/queue", "");
    let created = |data: &str| multi(5, "0x1", &[parent.clone(), create(data)]);
    convicts(&[created("7"), delete("/queue/a")]);
    acquits(&[created("8"), delete("/queue/a")]);
    convicts(&[created("7"), multi(9, "0x2", &[delete("/queue/a"), delete("/lock/a")])]);
    acquits(&[created("7"), multi(9, "0x2", &[delete("/lock/a")])]);
    let mut failed = created("7");
    failed.parts = vec![
        TxnPart {
            op: "error".to_owned(),
            ..TxnPart::default()
        };
        2
    ];
    acquits(&[failed, delete("/queue/a")]);
}

#[test]
fn only_the_last_znode_that_carries_the_item_ends_it() {
    let other = |data: &str| holding(6, "create", "/queue/b", data);
    convicts(&[create("7"), other("8"), delete("/queue/a")]);
    acquits(&[create("7"), other("8"), delete("/queue/b")]);
    // A copy, which stands or not.
    acquits(&[create("7"), other("7"), delete("/queue/a")]);
    let gone = Txn {
        zxid: 7,
        ..delete("/queue/b")
    };
    convicts(&[create("7"), other("7"), gone, delete("/queue/a")]);
    // Moved before, or by the request itself.
    let taken = holding(8, "create", "/taken/a", r#"{"item":7,"owner":"0x2"}"#);
    let moved = |zxid| multi(zxid, "0x2", &[delete("/queue/a"), taken.clone()]);
    convicts(&[create("7"), moved(8), delete("/taken/a")]);
    acquits(&[create("7"), moved(8), delete("/queue/a")]);
    acquits(&[create("7"), moved(9)]);
}

#[test]
fn data_that_were_set_name_another_item_or_none() {
    let set = |path: &str, data: &str| holding(7, "setData", path, data);
    convicts(&[
        create("7"),
        set("/queue/a", r#"{"item":7,"owner":"0x2"}"#),
        delete("/queue/a"),
    ]);
    for data in ["8", "done", ""] {
        acquits(&[create("7"), set("/queue/a", data), delete("/queue/a")]);
    }
    // Copied into another znode, before or by the request itself.
    let other = holding(6, "create", "/queue/b", "");
    acquits(&[create("7"), other.clone(), set("/queue/b", "7"), delete("/queue/a")]);
    convicts(&[create("7"), other.clone(), set("/queue/b", "8"), delete("/queue/a")]);
    let at_once = multi(9, "0x2", &[set("/queue/b", "7"), delete("/queue/a")]);
    acquits(&[create("7"), other, at_once]);
    // A number that something else was set to, as a counter is.
    acquits(&[create("6"), set("/queue/a", "7"), delete("/queue/a")]);
    // An answer that names the znode holds for data of any form, but not for another item's.
    let named = |data: &str| {
        let log = vec![create("x"), set("/queue/a", data), delete("/queue/a")];
        with(claimed(CONSUMED), &evidence(), log)
    };
    for data in ["done", "7"] {
        proven(&named(data), "duplicate-delivery");
    }
    none(&named("8"));
}

/// A server that led alone for a moment may have logged what no other did, and what the next epoch does not have.
#[test]
fn what_was_never_committed_takes_no_carrier_away() {
    let epoch = |number: i64, counter: i64| number << 32 | counter;
    let judged = |changes: [Txn; 2], servers: &[&str]| {
        let by = |servers: &[&str], zxid: i64, txn: &Txn| Txn {
            zxid,
            servers: servers.iter().map(|&name| name.to_owned()).collect(),
            ..txn.clone()
        };
        let (all, [first, second]) = (["n1", "n2", "n3"], changes);
        let log = vec![
            by(&all, epoch(1, 1), &create("7")),
            by(&all, epoch(1, 2), &first),
            by(servers, epoch(1, 3), &second),
            by(&all, epoch(2, 1), &delete("/queue/a")),
        ];
        let evidence = changed(evidence(), |evidence| evidence["zxid"] = epoch(2, 1).into());
        let record = with(claimed(&edited(CONSUMED, "path=/queue/a czxid=5 =>")), &evidence, log);
        changed(record, |record| record.server_txnlogs = Some(Vec::new()))
    };
    let copy = holding(0, "create", "/queue/b", "7");
    for change in [delete("/queue/b"), holding(0, "setData", "/queue/b", "8")] {
        proven(
            &judged([copy.clone(), change.clone()], &["n1", "n3"]),
            "duplicate-delivery",
        );
        none(&judged([copy.clone(), change], &["n1"]));
    }
    // What may have put the item elsewhere counts, committed or not.
    let empty = holding(0, "create", "/queue/b", "");
    proven(
        &judged([empty.clone(), holding(0, "setData", "/queue/b", "8")], &["n1"]),
        "duplicate-delivery",
    );
    none(&judged([empty, holding(0, "setData", "/queue/b", "7")], &["n1"]));
}

#[test]
fn an_ephemeral_znode_with_the_number_may_be_a_lock() {
    let ephemeral = |session: &str| Txn {
        ephemeral: Some(true),
        session: session.to_owned(),
        ..holding(6, "create", "/lock/a", "7")
    };
    for session in ["0x1", "0x2"] {
        acquits(&[ephemeral(session), delete("/lock/a")]);
        acquits(&[create("encoded"), ephemeral(session), delete("/lock/a")]);
        acquits(&[create("7"), ephemeral(session), delete("/lock/a")]);
        convicts(&[
            create("7"),
            ephemeral(session),
            multi(9, "0x2", &[delete("/queue/a"), delete("/lock/a")]),
        ]);
    }
}

/// kazoo's LockingQueue: `put` and `get` name no znode, `consume` deletes the entry and the lock on it at once, and an
/// object whose `consume` was not answered gives its entry again without a request.
#[test]
fn a_locking_queue_that_keeps_what_it_has_consumed_is_convicted() {
    const GIVEN: &str = "
        c2 hello cannot=taking,czxid; c2 note session state=connected session=0x2
        c1 invoke enqueue item=43; c1 ok enqueue item=43 path=null czxid=null
        c1 invoke enqueue item=44; c1 ok enqueue item=44 path=null czxid=null
        c2 invoke dequeue; c2 ok dequeue item=43
        nemesis drop-reply 3 begin
        c2 invoke acknowledge item=43
        c2 note session state=disconnected session=0x2
        c2 unknown acknowledge
        c2 note session state=connected session=0x2
        nemesis drop-reply 3 on target=c2 verified=true
        c2 invoke dequeue; c2 ok dequeue item=43
        c2 invoke acknowledge item=43; c2 unknown acknowledge x NoNodeError
        c2 invoke dequeue; c2 ok dequeue item=43";
    let evidence =
        json!({"lost": "reply", "op": "multi", "path": null, "session": "0x2", "zxid": 9, "outcome": "applied"});
    let entry = |zxid, number: &str, data: &str| holding(zxid, "create", &format!("/entries/entry-100-{number}"), data);
    let lock = Txn {
        ephemeral: Some(true),
        session: "0x2".to_owned(),
        ..holding(7, "create", "/taken/entry-100-42", "5f2a0c6e8e0b4b6fa1d7f0b1c2d3e4f5")
    };
    let consumed = |number: &str| {
        let both = ["entries", "taken"].map(|parent| delete(&format!("/{parent}/entry-100-{number}")));
        multi(9, "0x2", &both)
    };
    let log = |data: [&str; 2], number: &str| {
        vec![
            entry(5, "42", data[0]),
            entry(6, "43", data[1]),
            lock.clone(),
            consumed(number),
        ]
    };
    let judged = |log: Vec<Txn>| with(claimed(GIVEN), &evidence, log);
    let found = proven(&judged(log(["43", "44"], "42")), "duplicate-delivery");
    explains(&found, "deleted /entries/entry-100-42, which carries the item");
    // The entry that was consumed is another item's.
    none(&judged(log(["44", "43"], "42")));
    none(&judged(log(["43", "44"], "43")));
    // The entry is not known, and so it was before data were recorded.
    none(&judged(log(["encoded", "44"], "42")));
    let dataless = |log: &mut Vec<Txn>| log.iter_mut().for_each(|txn| txn.data = None);
    none(&judged(changed(log(["43", "44"], "42"), dataless)));
}
