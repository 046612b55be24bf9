//! Random transaction logs: a consume whose reply was lost convicts exactly where the item was in what it deleted, and
//! nowhere else, by the definition taken literally.

use super::claimed;
use super::unanswered_operations::{CONSUMED, evidence, with};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{edited, minimal, of_kind};
use crate::script::txn;
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::check;
use zooquake_history::{Txn, evidence::TxnPart};

const ITEM: i64 = 7;
const PATHS: [&str; 4] = ["/q/a", "/q/b", "/q/c", "/q/d"];

/// A change of a znode that is lawful in a tree of these znodes.
fn change(random: &mut Rng, standing: &mut BTreeSet<&str>, path: &'static str, deletes: bool) -> TxnPart {
    let there = standing.contains(path);
    let op = match random.u32(0..10) {
        _ if !there => "create",
        _ if deletes => "delete",
        0..5 => "delete",
        _ => "setData",
    };
    if op == "delete" {
        standing.remove(path);
    } else {
        standing.insert(path);
    }
    let data = ["7", "8", "", r#"{"item":7,"owner":"0x2"}"#, "7 or so"];
    TxnPart {
        op: op.to_owned(),
        path: path.to_owned(),
        ephemeral: (op == "create").then(|| random.u32(0..5) == 0),
        data: (op != "delete").then(|| data[random.usize(..data.len())].to_owned()),
    }
}

/// Some transactions, and as number 9 that of the client whose reply was lost, which mostly deletes.
fn log(random: &mut Rng) -> Vec<Txn> {
    let mut standing = BTreeSet::new();
    let mut all = Vec::new();
    for zxid in (9 - random.i64(1..6)..=9).collect::<Vec<_>>() {
        let deletes = zxid == 9 && random.u32(0..10) < 9;
        let mut paths = PATHS.to_vec();
        paths.retain(|path| !deletes || standing.contains(path));
        random.shuffle(&mut paths);
        let several = if random.u32(0..3) == 0 { 2 } else { 1 };
        let parts: Vec<TxnPart> = paths
            .into_iter()
            .take(several)
            .map(|path| change(random, &mut standing, path, deletes))
            .collect();
        let session = if zxid == 9 {
            "0x2"
        } else {
            ["0x1", "0x2"][random.usize(..2)]
        };
        all.push(match parts.as_slice() {
            [one] => Txn {
                ephemeral: one.ephemeral,
                data: one.data.clone(),
                ..txn(zxid, session, &one.op, &one.path)
            },
            _ => Txn {
                parts,
                paths: Vec::new(),
                servers: vec!["n1".to_owned()],
                ..txn(zxid, session, "multi", "")
            },
        });
    }
    all
}

/// The item that data name.
fn numbered(data: Option<&str>) -> Option<i64> {
    let data = data.expect("they are recorded");
    match data {
        "7" | "8" => data.parse().ok(),
        _ => data.starts_with('{').then_some(ITEM),
    }
}

/// Whether the last transaction certainly took the item out of the last znode that carried it. `named` is the znode
/// that the answer to its enqueue names, by path and the transaction that created it.
fn ended(log: &[Txn], named: Option<(&str, i64)>) -> bool {
    let (last, before) = log.split_last().expect("a log");
    let (mut data, mut answered) = (BTreeMap::<&str, Option<i64>>::new(), false);
    for txn in before {
        for change in txn.changes() {
            let of_answer = named.is_some_and(|(path, _)| path == change.path);
            if change.op == "delete" {
                answered &= !of_answer;
                data.remove(change.path);
                continue;
            }
            let item = numbered(change.data);
            if of_answer {
                let created = change.op == "create";
                answered = match item {
                    _ if created => named.is_some_and(|(_, czxid)| czxid == txn.zxid),
                    Some(other) => answered && other == ITEM,
                    None => answered,
                };
            }
            data.insert(change.path, item);
        }
    }
    let mut carrying: BTreeSet<&str> = data
        .iter()
        .filter(|(_, item)| **item == Some(ITEM))
        .map(|(path, _)| *path)
        .collect();
    carrying.extend(named.filter(|_| answered).map(|(path, _)| path));
    let deleted: BTreeSet<&str> = last.changes().map(|change| change.path).collect();
    let deletes = last.changes().all(|change| change.op == "delete");
    let only_item = |path: &&str| data.get(path).copied().flatten().is_none_or(|item| item == ITEM);
    // A number that no lasting znode was created with may be that of a lock.
    let own = |txn: &Txn| {
        txn.changes()
            .any(|change| change.ephemeral == Some(false) && numbered(change.data) == Some(ITEM))
    };
    let known = named.is_some() || log.iter().any(own);
    deletes && known && !carrying.is_empty() && carrying.is_subset(&deleted) && carrying.iter().all(only_item)
}

fn agrees(seed: u64, counts: &mut AnomalyCounts) {
    let mut random = Rng::with_seed(seed);
    let log = log(&mut random);
    let creates = log
        .iter()
        .flat_map(|txn| txn.changes().map(|change| (txn.zxid, change)));
    let mut creates: Vec<(&str, i64)> = creates
        .filter(|(_, change)| change.op == "create" && change.ephemeral == Some(false))
        .map(|(zxid, change)| (change.path, zxid))
        .collect();
    random.shuffle(&mut creates);
    let named = creates.pop().filter(|_| random.u32(0..3) == 0);
    let path = named.map_or(String::new(), |(path, czxid)| format!("path={path} czxid={czxid}"));
    let text = edited(CONSUMED, &format!("path=/queue/a czxid=5 => {path}"));
    let record = with(claimed(&text), &evidence(), log.clone());
    let results = check(&record);
    let found = of_kind(&results, "duplicate-delivery");
    let wanted = ended(&log, named);
    assert_eq!(found.len(), usize::from(wanted), "seed {seed}: {named:?} {log:#?}");
    count(counts, if named.is_some() { "named" } else { "unnamed" }, wanted);
    for anomaly in found.iter().filter(|_| seed.is_multiple_of(50)) {
        minimal(&record, anomaly);
    }
}

#[test]
fn random_logs() {
    spread(200, drawn(agrees));
}
