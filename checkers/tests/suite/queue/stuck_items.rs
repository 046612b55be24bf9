//! Items whose claims living clients keep, of queues that promise to deliver at least once.

use super::claimed;
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{edited, minimal, of_kind, proven_by};
use crate::script::{audited, changed, holding, standing};
use fastrand::Rng;
use std::collections::BTreeSet;
use zooquake_checkers::check;
use zooquake_history::{Event, EventType, Record, evidence::Znode};

/// c2's dequeue ends without an answer, and it keeps what it has claimed; c3 finds nothing, nor does c2 at the end.
const STUCK: &str = "
    c2 note session session=0x2 state=connected
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c2 invoke dequeue; c2 note taking item=1; c2 end dequeue
    run recovered; run final
    c3 ask confirm; c3 answer confirm zxid=20
    c3 invoke dequeue; c3 ok dequeue item=null
    run drained; run audit
    c1 ask quiesce; c1 answer quiesce
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=/taken/x@10
    c3 ask quiesce; c3 answer quiesce
    c2 invoke dequeue; c2 ok dequeue item=null";

/// A claim, made and last written by these transactions.
fn claim(czxid: i64, mzxid: i64, item: i64) -> Znode {
    Znode {
        czxid,
        mzxid,
        ..holding("/taken/x", &format!(r#"{{"item":{item},"owner":"0x2"}}"#))
    }
}

fn audits(record: Record) -> Record {
    changed(record, |record| {
        record.plan.workload.contenders = vec!["/taken".to_owned()];
    })
}

fn record(text: &str) -> Record {
    audits(standing(claimed(text), vec![claim(10, 10, 1)]))
}

#[test]
fn an_item_that_a_client_claims_and_gives_to_nobody_is_stuck() {
    proven_by(&record(STUCK), "stuck-item", &[1, 6, 8, 9, 10, 11, 12, 16, 17, 20, 21]);
    for (change, what) in [
        (
            "c2 ok dequeue item=null => c2 ok dequeue item=1",
            "it was kept for the next dequeue",
        ),
        (
            "c2 end dequeue => c2 ok dequeue item=1",
            "it was given, and is not acknowledged yet",
        ),
        (
            "c2 ok dequeue item=null => c2 end dequeue",
            "whether it was given is unknown",
        ),
        ("; c2 ok dequeue item=null =>", "it has not answered yet"),
        ("c2 invoke dequeue; c2 ok dequeue item=null =>", "it was not asked"),
        (
            "run recovered => c2 invoke dequeue; c2 ok dequeue item=null; run recovered | c2 invoke dequeue; c2 ok dequeue item=null =>",
            "it was asked before it named the claim alone",
        ),
        (
            "c2 invoke dequeue; c2 ok dequeue item=null => c2 invoke dequeue; c2 ok dequeue item=null; c2 invoke dequeue; c2 ok dequeue item=1",
            "it was given to the dequeue after that",
        ),
        ("znodes=/taken/x@10 => znodes=/taken/x@9", "its client does not name it"),
        (
            "c2 invoke dequeue; c2 ok dequeue item=null => c2 note session session=0x2 state=expired; c2 invoke dequeue; c2 ok dequeue item=null",
            "its session ended before",
        ),
        (
            "c2 invoke dequeue; c2 ok dequeue item=null => c2 note exit; c2 invoke dequeue; c2 ok dequeue item=null",
            "its process ended before",
        ),
        (
            "c3 answer confirm zxid=20 => c3 answer confirm zxid=9",
            "the queue was found empty before the claim",
        ),
        ("run recovered; => ", "nothing has recovered"),
        (
            "run recovered => c1 invoke acknowledge item=1; c1 end acknowledge; run recovered",
            "another owner may have acknowledged it",
        ),
        ("c1 ok enqueue item=1 => c1 fail enqueue item=1", "it was never there"),
        (
            "c2 note taking item=1 => c2 note taking item=1; c2 end dequeue; c2 invoke dequeue; c2 ok dequeue item=x; c2 invoke dequeue",
            "what it was given cannot be read",
        ),
    ] {
        assert_eq!(stuck(&record(&edited(STUCK, change))), 0, "{what}");
    }
    let history = claimed(STUCK);
    for (before, after, what) in [
        (vec![], vec![claim(10, 10, 1)], "the claim was made meanwhile"),
        (
            vec![claim(10, 10, 1)],
            vec![claim(10, 12, 1)],
            "it was written meanwhile",
        ),
        (vec![claim(10, 10, 1)], vec![], "it was ended meanwhile"),
        (
            vec![claim(10, 10, 2)],
            vec![claim(10, 10, 2)],
            "nobody enqueued its item",
        ),
    ] {
        let tree = Some(audited(&history.history, before, after));
        let twin = changed(history.clone(), |record| record.tree = tree);
        assert_eq!(stuck(&audits(twin)), 0, "{what}");
    }
    let twin = changed(record(STUCK), |record| record.plan.workload.variant = "fifo".to_owned());
    assert_eq!(stuck(&twin), 0, "it promises to deliver once at most");
    // One that another process of the client was given before is its successor's to give.
    let former = "run recovered => c2 note hello; c2 invoke dequeue; c2 ok dequeue item=1; c2 note exit; c2 note hello; run recovered";
    assert_eq!(stuck(&record(&edited(STUCK, former))), 1);
}

fn stuck(record: &Record) -> usize {
    of_kind(&check(record), "stuck-item").len()
}

/// A history of two items and two consumers with a claim each, which are asked again at the end.
pub fn random(seed: u64) -> Record {
    let mut rng = Rng::with_seed(seed);
    let mut text = String::new();
    let dequeue = |rng: &mut Rng, client: usize, item: u8| {
        let ends = [
            "ok dequeue item=null",
            "ok dequeue item=ITEM",
            "end dequeue",
            "fail dequeue",
        ];
        let end = ends[[0, 0, 0, 1, 2, 3][rng.usize(0..6)]].replace("ITEM", &item.to_string());
        let named = format!("c{client} note taking item={item}\n");
        let named = if rng.bool() { named } else { String::new() };
        format!("c{client} invoke dequeue\n{named}c{client} {end}\n")
    };
    for client in 2..4 {
        text += &format!("c{client} note session session=0x{client} state=connected\n");
    }
    for item in 1..3 {
        let end = ["ok enqueue item=ITEM", "end enqueue", "fail enqueue"][[0, 0, 0, 0, 1, 2][rng.usize(0..6)]];
        text += &format!(
            "c1 invoke enqueue item={item}\nc1 {}\n",
            end.replace("ITEM", &item.to_string())
        );
    }
    for _ in 0..rng.usize(0..3) {
        let (client, item) = (rng.usize(2..4), rng.u8(1..3));
        text += &dequeue(&mut rng, client, item);
        if rng.u8(0..5) == 0 {
            let end = ["ok", "fail", "end"][rng.usize(0..3)];
            text += &format!("c{client} invoke acknowledge item={item}\nc{client} {end} acknowledge\n");
        }
    }
    if rng.u8(0..8) > 0 {
        text += "run recovered\n";
    }
    text += &format!(
        "c4 ask confirm\nc4 answer confirm zxid={}\nc4 invoke dequeue\nc4 ok dequeue item=null\nrun drained\nrun audit\n",
        rng.i64(8..14)
    );
    for client in 2..4 {
        let znodes = [
            "",
            "znodes=/taken/2@10",
            "znodes=/taken/3@11",
            "znodes=/taken/2@10,/taken/3@11",
        ][rng.usize(0..4)];
        text += &format!("c{client} ask quiesce\nc{client} answer quiesce sessions=0x{client} {znodes}\n");
    }
    for client in 2..4 {
        for _ in 0..rng.usize(0..3) {
            if rng.u8(0..8) == 0 {
                text += &format!("c{client} note session session=0x{client} state=disconnected\n");
            }
            let item = rng.u8(1..3);
            text += &dequeue(&mut rng, client, item);
        }
    }
    let mut claims = Vec::new();
    for client in (2..4).filter(|_| !seed.is_multiple_of(8)) {
        claims.push(Znode {
            path: format!("/taken/{client}"),
            ..claim(8 + client, 8 + client + i64::from(rng.u8(0..3)), rng.i64(1..3))
        });
    }
    let record = claimed(&text);
    let mut later = claims.clone();
    if rng.u8(0..6) == 0 {
        later.iter_mut().for_each(|claim| claim.mzxid += 1);
    }
    let tree = audited(&record.history, claims, later);
    audits(changed(record, |record| record.tree = Some(tree)))
}

/// The claims whose items are stuck, by the words of docs/families/queue.md over the bare events.
fn by_definition(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let tree = record.tree.as_ref().expect("two readings");
    let claims = &tree.readings[1].znodes;
    claims
        .iter()
        .filter(|claim| tree.readings[0].znodes.contains(claim) && is_stuck(events, claim))
        .map(|claim| claim.path.clone())
        .collect()
}

fn is_stuck(events: &[Event], claim: &Znode) -> bool {
    let item: i64 = (1..3)
        .find(|item| claim.data.contains(&format!(r#""item":{item},"#)))
        .expect("an item");
    let of = |f: &'static str, kind| events.iter().filter(move |event| event.f == f && event.kind == kind);
    let end = |begun: &Event| {
        let mut later = events[begun.index + 1..].iter();
        later.find(|event| event.f == begun.f && event.node == begun.node)
    };
    let names = |answer: &&Event| {
        let znodes = serde_json::to_value(&answer.value["znodes"]).expect("JSON");
        let own = |znode: &serde_json::Value| znode["path"] == *claim.path && znode["czxid"] == claim.czxid;
        znodes.as_array().is_some_and(|znodes| znodes.iter().any(own))
    };
    let mut clients = of("quiesce", EventType::Ok).filter(names);
    let recovered = events
        .iter()
        .find(|event| event.f == "phase" && event.value == "recovered");
    let confirmed = of("confirm", EventType::Ok).next().expect("a drain");
    let enqueued = of("enqueue", EventType::Invoke)
        .any(|event| event.item() == Some(item) && end(event).is_none_or(|end| end.kind != EventType::Fail));
    let acknowledged = of("acknowledge", EventType::Invoke)
        .any(|event| event.item() == Some(item) && end(event).is_none_or(|end| end.kind != EventType::Fail));
    let other = recovered.is_some_and(|recovered| recovered.index < confirmed.index)
        && confirmed.value["zxid"].as_i64() >= Some(claim.mzxid);
    let keeps = |answer: &Event| {
        let own = |event: &&Event| event.node == answer.node;
        let last = of("dequeue", EventType::Invoke).rfind(own);
        let last = last.filter(|last| last.index > answer.index);
        let nothing = last
            .and_then(end)
            .filter(|end| end.kind == EventType::Ok && end.value["item"].is_null());
        let given = of("dequeue", EventType::Ok)
            .filter(own)
            .any(|event| event.item() == Some(item));
        let notice = |until: &Event| {
            of("session", EventType::Info)
                .filter(own)
                .any(|event| (answer.index..until.index).contains(&event.index))
        };
        nothing.is_some_and(|nothing| !notice(nothing)) && !given
    };
    enqueued && !acknowledged && other && clients.any(keeps)
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = random(seed);
    let results = check(&record);
    let found = of_kind(&results, "stuck-item");
    let wanted = by_definition(&record);
    let paths: BTreeSet<String> = wanted
        .iter()
        .filter(|path| found.iter().any(|anomaly| anomaly.why.contains(path.as_str())))
        .cloned()
        .collect();
    assert_eq!(
        (&paths, found.len()),
        (&wanted, wanted.len()),
        "seed {seed}: {results:#?}\n{:#?}",
        record.history.events
    );
    count(counts, "stuck", !wanted.is_empty());
    if seed.is_multiple_of(10) {
        found.iter().for_each(|anomaly| minimal(&record, anomaly));
    }
}

#[test]
fn random_histories_have_the_stuck_items_of_the_definition() {
    spread(30, drawn(agree));
}
