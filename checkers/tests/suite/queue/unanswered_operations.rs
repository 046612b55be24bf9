//! Operations whose reply a fault lost, and that count because the transaction logs show what they did; beside each the
//! twins of which the logs show something else.

use super::{claimed, fifo};
use crate::expect::{edited, explains, explains_all, none, proven, proven_by};
use crate::script::{changed, txn};
use serde_json::{Value, json};
use zooquake_history::{Record, Txn, evidence::TxnPart};

pub const CONSUMED: &str = "
    c2 note session state=connected session=0x2
    c1 invoke enqueue item=7; c1 ok enqueue item=7 path=/queue/a czxid=5
    c2 invoke dequeue; c2 ok dequeue item=7
    nemesis drop-reply 1 begin
    c2 invoke acknowledge item=7
    nemesis drop-reply 1 on target=c2 verified=true
    c2 end acknowledge
    c2 invoke dequeue; c2 ok dequeue item=7";

/// The log of a queue whose item 7 was created in transaction 5 and removed in transaction 9.
fn log() -> Vec<Txn> {
    vec![txn(5, "0x1", "create", "/queue/a"), txn(9, "0x2", "delete", "/queue/a")]
}

pub fn evidence() -> Value {
    json!({"lost": "reply", "op": "delete", "path": "/queue/a", "session": "0x2", "zxid": 9, "outcome": "applied"})
}

/// The record with the evidence of its fault and its log.
pub fn with(mut record: Record, evidence: &Value, log: Vec<Txn>) -> Record {
    for event in &mut record.history.events {
        if event.phase() == Some("on") {
            event.value["evidence"] = evidence.clone().into();
        }
    }
    record.txnlog = Some(log);
    record
}

fn consumed(edits: &str) -> Record {
    with(claimed(&edited(CONSUMED, edits)), &evidence(), log())
}

fn logged(change: impl FnOnce(&mut Vec<Txn>)) -> Record {
    with(claimed(CONSUMED), &evidence(), changed(log(), change))
}

fn multi(parts: &[(&str, &str)]) -> Txn {
    let part = |&(op, path): &(&str, &str)| TxnPart {
        op: op.to_owned(),
        path: path.to_owned(),
        ..TxnPart::default()
    };
    Txn {
        parts: parts.iter().map(part).collect(),
        paths: Vec::new(),
        ..txn(9, "0x2", "multi", "")
    }
}

/// A multi of deletes as ZooKeeper's own tool prints it.
fn printed(paths: &[&str]) -> Txn {
    let parts = paths
        .iter()
        .map(|path| format!("delete:\0\0\0{}{path}", char::from(path.len() as u8)));
    let parts: Vec<String> = parts.collect();
    Txn {
        raw: format!("10:00 session 0x2 cxid 0xa zxid 0x9 multi {}", parts.join(";")),
        ..multi(&[])
    }
}

#[test]
fn an_item_that_was_certainly_consumed_is_not_given_out_again() {
    let found = proven_by(&consumed("c1 => c1"), "duplicate-delivery", &[0, 2, 5, 6, 7, 9, 10]);
    explains_all(
        &found,
        &[
            "was not answered",
            "transaction 0x9 of the session 0x2",
            "deleted /queue/a",
        ],
    );
    for again in [
        "c2 end acknowledge => c1 invoke enqueue item=8; c2 end acknowledge",
        "c2 end acknowledge => c2 note exit",
    ] {
        proven(&consumed(again), "duplicate-delivery");
    }
}

#[test]
fn the_znode_of_an_item_is_named_by_its_enqueue_its_delivery_or_its_data() {
    let delivery =
        "path=/queue/a czxid=5 => | dequeue item=7\n    nemesis => dequeue item=7 path=/queue/a czxid=5\n    nemesis";
    proven_by(&consumed(delivery), "duplicate-delivery", &[0, 4, 5, 6, 7, 9, 10]);
    let unnamed = "path=/queue/a czxid=5 =>";
    none(&consumed(unnamed));
    for data in ["7", r#"{"item":7,"owner":null}"#] {
        let mut record = consumed(unnamed);
        record.txnlog.as_mut().expect("a log")[0].raw =
            format!("10:00 session 0x1 cxid 0x1 zxid 0x5 create /queue/a,{data},[31,s{{'world,'anyone}}");
        proven_by(&record, "duplicate-delivery", &[0, 5, 6, 7, 9, 10]);
        let mut other = record.clone();
        let raw = &mut other.txnlog.as_mut().expect("a log")[0].raw;
        *raw = raw.replace('7', "8");
        none(&other);
    }
    proven(
        &consumed("path=/queue/a czxid=5 => path=/queue/a"),
        "duplicate-delivery",
    );
    none(&consumed("path=/queue/a czxid=5 => path=/queue/b czxid=5"));
    // It was created later.
    none(&consumed("path=/queue/a czxid=5 => path=/queue/a czxid=12"));
}

#[test]
fn the_parts_of_a_multi_count_where_they_can_be_read() {
    let removes = |txn: Txn| logged(|log| log[1] = txn.clone());
    let both = [("delete", "/queue/a"), ("delete", "/taken/a")];
    proven(&removes(multi(&both)), "duplicate-delivery");
    proven(&removes(printed(&["/queue/a", "/taken/a"])), "duplicate-delivery");
    none(&removes(multi(&[("delete", "/queue/a"), ("create", "/taken/a")])));
    none(&removes(multi(&[("error", ""), ("error", "")])));
    none(&removes(multi(&[("delete", "/taken/a")])));
    none(&removes(printed(&["/taken/a"])));
    none(&removes(multi(&[])));
    let other = changed(printed(&["/queue/a"]), |other| {
        other.raw = other.raw.replace("delete:", "setData:")
    });
    none(&removes(other));
}

#[test]
fn what_the_log_does_not_show_is_unknown() {
    none(&logged(|log| drop(log.pop())));
    none(&logged(Vec::clear));
    none(&logged(|log| log[1].session = "0x3".to_owned()));
    none(&logged(|log| log[1].paths = vec!["/taken/a".to_owned()]));
    none(&logged(|log| log[1].op = "setData".to_owned()));
    // Another znode of that path, and one that was gone already.
    none(&logged(|log| log.insert(1, txn(7, "0x1", "create", "/queue/a"))));
    none(&logged(|log| log.insert(1, txn(7, "0x3", "delete", "/queue/a"))));
    // Another znode carries the item still: that of its delivery is a lock.
    let locked = "dequeue item=7\n    nemesis => dequeue item=7 path=/taken/a czxid=6\n    nemesis";
    none(&consumed(locked));
    let mut only_lock = consumed(locked);
    let log = only_lock.txnlog.as_mut().expect("a log");
    *log = vec![
        log[0].clone(),
        txn(6, "0x2", "create", "/taken/a"),
        txn(9, "0x2", "delete", "/taken/a"),
    ];
    none(&only_lock);
    // A lock that only its delivery names, while nothing names the znode of the item.
    let mut unnamed = consumed(
        "path=/queue/a czxid=5 => | dequeue item=7\n    nemesis => dequeue item=7 path=/taken/a czxid=6\n    nemesis",
    );
    unnamed.txnlog = only_lock.txnlog.clone();
    none(&unnamed);
    unnamed.txnlog.as_mut().expect("a log")[1].session = "0x1".to_owned();
    proven(&unnamed, "duplicate-delivery");
    only_lock.txnlog.as_mut().expect("a log")[2] = multi(&[("delete", "/queue/a"), ("delete", "/taken/a")]);
    proven(&only_lock, "duplicate-delivery");
    none(&changed(consumed("c1 => c1"), |none_read| none_read.txnlog = None));
}

#[test]
fn what_the_evidence_does_not_say_is_unknown() {
    for (field, value) in [
        ("lost", json!("request")),
        ("outcome", json!("not-sent")),
        ("zxid", Value::Null),
        ("zxid", json!(8)),
        ("session", json!("0x1")),
    ] {
        let evidence = changed(evidence(), |evidence| evidence[field] = value);
        none(&with(claimed(CONSUMED), &evidence, log()));
    }
    none(&consumed("verified=true => verified=false"));
    none(&consumed("target=c2 => target=c3"));
    none(&consumed("c2 note session state=connected session=0x2 =>"));
    none(&consumed("nemesis drop-reply 1 begin =>"));
}

#[test]
fn the_request_may_have_been_of_another_operation() {
    for edits in [
        "nemesis drop-reply 1 begin => | c2 invoke dequeue; c2 ok dequeue item=7\n => nemesis drop-reply 1 begin; c2 invoke dequeue; c2 ok dequeue item=7\n",
        "c2 invoke acknowledge item=7 => c2 invoke acknowledge item=8",
        "c2 invoke acknowledge item=7 => c2 invoke dequeue | c2 end acknowledge => c2 end dequeue",
        "c2 end acknowledge => c2 fail acknowledge",
        "nemesis drop-reply 1 on => c2 end acknowledge; c2 invoke acknowledge item=7; nemesis drop-reply 1 on",
        "c1 invoke enqueue item=7 => c3 invoke enqueue item=7; c3 end enqueue; c1 invoke enqueue item=7",
    ] {
        none(&consumed(edits));
    }
    // It was asked for before the first one was given it.
    let asked = edited(
        CONSUMED,
        "c2 invoke dequeue; c2 ok dequeue item=7\n    nemesis => c2 invoke dequeue; c3 invoke dequeue; c2 ok dequeue item=7\n    nemesis",
    );
    let asked = edited(
        &asked,
        "c2 invoke dequeue; c2 ok dequeue item=7 => c3 ok dequeue item=7",
    );
    none(&with(claimed(&asked), &evidence(), log()));
}

const TAKEN: &str = "
    c2 note session state=connected session=0x2
    c1 invoke enqueue item=7; c1 ok enqueue item=7 path=/queue/a czxid=5
    nemesis drop-reply 1 begin
    c2 invoke dequeue
    nemesis drop-reply 1 on target=c2 verified=true
    c2 end dequeue
    c3 invoke dequeue; c3 ok dequeue item=7";

/// Where the delete is the delivery.
#[test]
fn an_item_that_was_certainly_taken_is_not_given_to_another_client() {
    let taken = |edits: &str| with(fifo(&edited(TAKEN, edits)), &evidence(), log());
    let found = proven_by(&taken("c1 => c1"), "duplicate-delivery", &[0, 2, 3, 4, 5, 8]);
    explains(&found, "Then it was delivered to c3");
    none(&with(claimed(TAKEN), &evidence(), log()));
    for edits in [
        "c3 invoke dequeue; c3 ok dequeue item=7 => c2 invoke dequeue; c2 ok dequeue item=7",
        "c2 end dequeue => c2 ok dequeue item=null",
        "c3 ok dequeue item=7 => c3 end dequeue",
        "nemesis drop-reply 1 begin => nemesis drop-reply 1 begin; c2 invoke dequeue; c2 ok dequeue item=null",
    ] {
        none(&taken(edits));
    }
}

/// Another one was given the item after its acknowledger, whose acknowledgement certainly happened: in either order it
/// is one too many.
#[test]
fn only_the_last_owner_consumes() {
    let given = "nemesis drop-reply 1 begin => c3 invoke dequeue; c3 ok dequeue item=7; nemesis drop-reply 1 begin";
    let text = edited(CONSUMED, given);
    let text = &text[..text.rfind("c2 invoke dequeue").expect("it is there")];
    proven_by(
        &with(claimed(text), &evidence(), log()),
        "duplicate-delivery",
        &[0, 2, 4, 5, 6, 7, 8, 9],
    );
}
