//! Items that were given to processes that ended, of queues that promise to deliver at least once.

use super::claimed;
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{edited, minimal, of_kind, proven_by};
use crate::script::{changed, holding, logged, standing, txn};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::check;
use zooquake_history::{Event, EventType, Record, Txn, evidence::Znode};

/// The owner of item 1 ends three seconds before the queue is found empty; c1's session is not over.
const ABANDONED: &str = "
    c1 note session session=0x1 state=connected
    c2 note session session=0x2 state=connected
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c2 invoke dequeue; c2 note taking item=1; c2 ok dequeue item=1
    0.5 c2 note exit
    run recovered; run final
    3.5 c3 ask confirm; c3 answer confirm zxid=20
    c3 invoke dequeue; c3 ok dequeue item=null
    run drained; run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1
    c3 ask quiesce; c3 answer quiesce";

/// The record of a script, with these claims in the tree, and the end of c2's session in the logs in this transaction.
fn record(text: &str, claims: Vec<Znode>, end: i64) -> Record {
    let record = standing(claimed(text), claims);
    changed(logged(record, log(&BTreeMap::from([(end, 2)]))), |record| {
        record.plan.workload.contenders = vec!["/taken".to_owned()];
    })
}

/// Thirty transactions, of which these end sessions.
fn log(ends: &BTreeMap<i64, u8>) -> Vec<Txn> {
    let one = |zxid| match ends.get(&zxid) {
        Some(client) => txn(zxid, &format!("0x{client}"), "closeSession", ""),
        None => txn(zxid, "0x4", "setData", "/other"),
    };
    (1..=30).map(one).collect()
}

fn claim(data: &str) -> Vec<Znode> {
    vec![holding("/taken/x", data)]
}

#[test]
fn an_item_whose_owner_died_and_that_nobody_was_given_again_is_lost() {
    proven_by(&record(ABANDONED, vec![], 19), "lost-item", &[3, 10, 11, 12, 13, 14]);
    for innocent in [
        // Its session ended only after the queue was found empty, or nothing shows that it had one.
        record(ABANDONED, vec![], 21),
        record(
            &edited(ABANDONED, "c2 note session session=0x2 state=connected =>"),
            vec![],
            19,
        ),
        // It was asked to acknowledge it, whatever came of that; or it lives, or died a moment ago.
        record(
            &edited(
                ABANDONED,
                "0.5 c2 note exit => c2 invoke acknowledge item=1; c2 fail acknowledge; 0.5 c2 note exit",
            ),
            vec![],
            19,
        ),
        record(&edited(ABANDONED, "0.5 c2 note exit =>"), vec![], 19),
        record(&edited(ABANDONED, "0.5 c2 note exit => 0.7 c2 note exit"), vec![], 19),
        // Another session of its is not known to be over.
        record(
            &edited(
                ABANDONED,
                "0.5 c2 note exit => c2 note session session=0x9 state=connected; 0.5 c2 note exit",
            ),
            vec![],
            19,
        ),
        // A dequeue whose end is unknown named it.
        record(
            &edited(
                ABANDONED,
                "run final => c3 invoke dequeue; c3 note taking item=1; c3 end dequeue; run final",
            ),
            vec![],
            19,
        ),
        // The queue was found empty before recovery alone.
        record(
            &edited(
                ABANDONED,
                "run recovered; run final => run final | 3.5 c3 ask confirm => 3.5 c3 ask confirm; run recovered",
            ),
            vec![],
            19,
        ),
        // A claim that stands may be on it.
        record(ABANDONED, claim(r#"{"item":1,"owner":"0x1"}"#), 19),
        record(ABANDONED, claim("in a form of its own"), 19),
    ] {
        assert_eq!(count_lost(&innocent), 0, "{:#?}", check(&innocent));
    }
    // The claim of the dead owner is left, which an acknowledgement would have ended.
    let left = || claim(r#"{"item":1,"owner":"0x2"}"#);
    let asked = "0.5 c2 note exit => c2 invoke acknowledge item=1; 0.5 c2 note exit";
    for guilty in [
        record(ABANDONED, left(), 19),
        record(&edited(ABANDONED, asked), left(), 19),
    ] {
        assert_eq!(count_lost(&guilty), 1);
    }
    assert_eq!(count_lost(&record(&edited(ABANDONED, asked), vec![], 19)), 0);
    let other = record(ABANDONED, claim(r#"{"item":2,"owner":"0x9"}"#), 19);
    assert_eq!(count_lost(&other), 1);
    let mut once = record(ABANDONED, vec![], 19);
    assert_eq!(count_lost(&once), 1);
    once.plan.workload.variant = "fifo".to_owned();
    assert_eq!(count_lost(&once), 0, "it promises to deliver once at most");
}

fn count_lost(record: &Record) -> usize {
    of_kind(&check(record), "lost-item").len()
}

/// A history of three items and three consumers, of which each may die, acknowledge, or be given something by a dequeue
/// of unknown end; and then a drain.
fn random(seed: u64) -> Record {
    let mut rng = Rng::with_seed(seed);
    let mut text = String::new();
    for client in 1..4 {
        if rng.u8(0..8) > 0 {
            text += &format!("c{client} note session session=0x{client} state=connected\n");
        }
    }
    for item in 1..4 {
        text += &format!("c4 invoke enqueue item={item}\n");
        text += ["c4 ok enqueue item=ITEM\n", "c4 end enqueue\n"][usize::from(rng.u8(0..8) == 0)]
            .replace("ITEM", &item.to_string())
            .as_str();
    }
    let (mut at, mut dead, mut recovered) = (0.1, [false; 4], false);
    for _ in 0..rng.usize(2..9) {
        at += f64::from(rng.u32(1..6)) / 10.0;
        let (client, item) = (rng.usize(1..4), rng.u8(1..4));
        let does = match rng.u8(0..10) {
            0..5 if !dead[client] => {
                let end = ["ok dequeue item=ITEM", "end dequeue"][usize::from(rng.u8(0..12) == 0)];
                let named = rng.u8(0..4) > 0;
                let named = if named { "cN note taking item=ITEM\n" } else { "" };
                format!("cN invoke dequeue\n{named}cN {end}\n")
            }
            5..8 if !dead[client] => {
                dead[client] = true;
                "cN note exit\n".to_owned()
            }
            8 if !dead[client] && rng.bool() => {
                let end = ["ok", "fail", "end"][rng.usize(0..3)];
                format!("cN invoke acknowledge item=ITEM\ncN {end} acknowledge\n")
            }
            9 if !recovered => {
                recovered = true;
                "run recovered\n".to_owned()
            }
            _ => continue,
        };
        let does = does
            .replace('N', &client.to_string())
            .replace("ITEM", &item.to_string());
        text += &format!("{at:.1} {does}");
    }
    if !recovered && rng.u8(0..8) > 0 {
        text += "run recovered\n";
    }
    at += f64::from(rng.u32(0..45)) / 10.0;
    text += &format!(
        "{at:.1} c4 ask confirm; c4 answer confirm zxid=20; c4 invoke dequeue; c4 ok dequeue item=null\n run drained; run audit\n \
         c4 ask quiesce; c4 answer quiesce sessions=0x4"
    );
    let claims = match rng.u8(0..6) {
        0..3 => claim(&format!(r#"{{"item":{},"owner":"0x{}"}}"#, rng.u8(1..4), rng.u8(1..5))),
        _ => Vec::new(),
    };
    let ends: BTreeMap<i64, u8> = (1..4).map(|client| (rng.i64(10..24), client)).collect();
    changed(logged(standing(claimed(&text), claims), log(&ends)), |record| {
        record.plan.workload.contenders = vec!["/taken".to_owned()];
    })
}

/// The items that are lost, by the words of docs/verdicts.md over the bare events.
fn lost(record: &Record) -> BTreeSet<i64> {
    let events = &record.history.events;
    let of = |f: &'static str, kind| events.iter().filter(move |event| event.f == f && event.kind == kind);
    let about = |event: &&Event, item: i64| event.item() == Some(item);
    let phase = |name: &str| events.iter().find(|event| event.f == "phase" && event.value == *name);
    let confirm = of("confirm", EventType::Invoke).next().expect("a drain");
    if phase("recovered").is_none_or(|recovered| recovered.index > confirm.index) {
        return BTreeSet::new();
    }
    let claims = &record.tree.as_ref().expect("two readings").readings[1].znodes;
    let judged = |item: i64| {
        let over = |claim: &&Znode| {
            let mut ends = record
                .txnlog
                .iter()
                .flatten()
                .filter(|txn| txn.op == "closeSession" && txn.zxid <= 20);
            ends.any(|txn| claim.data.contains(&format!(r#""owner":"{}""#, txn.session)))
        };
        let mut own = claims
            .iter()
            .filter(|claim| claim.data.contains(&format!(r#""item":{item}"#)));
        let kept = own.clone().any(|claim| !over(&claim));
        let left = own.any(|claim| over(&claim));
        let acknowledged = of("acknowledge", EventType::Ok).any(|end| {
            let asked = events[..end.index]
                .iter()
                .rfind(|event| event.f == "acknowledge" && event.node == end.node);
            asked.is_some_and(|asked| about(&asked, item))
        });
        let asked = acknowledged || !left && of("acknowledge", EventType::Invoke).any(|event| about(&event, item));
        let stored = of("enqueue", EventType::Ok).any(|event| about(&event, item));
        // A dequeue of unknown end, with what it named until then.
        let unsure = of("dequeue", EventType::Info).any(|end| {
            let before = events[..end.index]
                .iter()
                .rev()
                .take_while(|event| !(event.f == "dequeue" && event.node == end.node));
            before
                .into_iter()
                .any(|event| event.f == "taking" && event.node == end.node && about(&event, item))
        });
        let given: Vec<&Event> = of("dequeue", EventType::Ok)
            .filter(|event| about(event, item))
            .collect();
        let over = |given: &&Event| {
            let exit = of("exit", EventType::Info).find(|exit| exit.node == given.node && exit.index > given.index);
            let session = of("session", EventType::Info).find(|event| event.node == given.node);
            let ended = session.is_some_and(|event| {
                let mut txns = record.txnlog.iter().flatten();
                txns.any(|txn| Some(txn.session.as_str()) == event.session() && txn.zxid <= 20)
            });
            exit.is_some_and(|exit| confirm.time >= exit.time + 3_000_000_000) && ended
        };
        stored && !kept && !asked && !unsure && !given.is_empty() && given.iter().all(over)
    };
    (1..4).filter(|&item| judged(item)).collect()
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = random(seed);
    let results = check(&record);
    let found = of_kind(&results, "lost-item");
    let found = found
        .iter()
        .filter(|anomaly| anomaly.why.contains("until it is acknowledged"));
    let items: BTreeSet<i64> = found
        .clone()
        .map(|anomaly| {
            anomaly
                .why
                .split(' ')
                .nth(1)
                .and_then(|word| word.parse().ok())
                .expect("an item")
        })
        .collect();
    let wanted = lost(&record);
    assert_eq!(
        items, wanted,
        "seed {seed}: {:#?}\n{:#?}",
        results, record.history.events
    );
    count(counts, "abandoned", !wanted.is_empty());
    if seed.is_multiple_of(10) {
        found.for_each(|anomaly| minimal(&record, anomaly));
    }
}

#[test]
fn random_histories_lose_what_the_definition_has() {
    spread(30, drawn(agree));
}
