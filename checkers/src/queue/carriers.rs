//! The znodes that carry items, and what the transaction logs show of them.
//!
//! A znode carries an item if the answer to the item's enqueue, or to a delivery of it, names it, or if it was created with the item's
//! number: its data are the number, or JSON with it under `item`.

use super::items::{Done, names_its_own, number};
use crate::analysis::Analysis;
use crate::history::EventType;
use crate::{Event, Txn};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::evidence::ZnodeChange;
use zooquake_history::operation::queue::ITEM;

/// What a transaction did to a znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Created it, with the number of this item.
    Create(Option<i64>),
    /// Deleted it.
    Delete,
}

/// A znode that carries an item.
#[derive(Debug, Clone)]
pub struct Carrier<'a> {
    /// Where it stands.
    pub path: &'a str,
    /// The transaction that created it; `None` if only its path is named.
    czxid: Option<i64>,
    /// Whether only a delivery names it, so that it may be a lock on the item.
    perhaps_lock: bool,
    /// The events that name it; none if the logs do.
    pub named: Vec<usize>,
}

/// What the transaction logs show of znodes, and which of them carry items.
#[derive(Debug, Default)]
pub struct Carriers<'a> {
    /// By item.
    all: BTreeMap<i64, Vec<Carrier<'a>>>,
    /// By path its creations and deletions, in the order of the log.
    changes: HashMap<&'a str, Vec<(i64, Change)>>,
    /// The transactions that created something.
    creating: HashMap<i64, &'a Txn>,
}

impl<'a> Carriers<'a> {
    /// Reads them out of the answers and the logs.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut carriers = Self::default();
        for txn in run.record.txnlog.unwrap_or_default() {
            for (path, change) in changes(txn).unwrap_or_default() {
                carriers.changes.entry(path).or_default().push((txn.zxid, change));
                if let Change::Create(number) = change {
                    carriers.creating.insert(txn.zxid, txn);
                    let carrier = Carrier {
                        path,
                        czxid: Some(txn.zxid),
                        perhaps_lock: false,
                        named: Vec::new(),
                    };
                    number.into_iter().for_each(|item| carriers.add(item, carrier.clone()));
                }
            }
        }
        for op in run.ops.work.iter().filter(|op| matches!(op.f, "enqueue" | "dequeue")) {
            let Some(read) = op
                .end
                .filter(|end| !run.ops.disputed.contains(end) && names_its_own(run, op))
            else {
                continue;
            };
            let answer: &'a Event = &run.events[read];
            if let (EventType::Ok, Some(path), Ok(item)) = (answer.kind, answer.path(), number(run, op)) {
                let done = Done {
                    node: op.node,
                    sent: op.sent(),
                    read,
                };
                let carrier = Carrier {
                    path,
                    czxid: answer.czxid(),
                    perhaps_lock: op.f == "dequeue",
                    named: done.witness(run).collect(),
                };
                carriers.add(item, carrier);
            }
        }
        carriers
    }

    fn add(&mut self, item: i64, carrier: Carrier<'a>) {
        self.all.entry(item).or_default().push(carrier);
    }

    /// Whether a znode that its delivery names is no lock that the client made which removed it: another session created it, or the item was
    /// moved into it by a transaction that deleted another.
    fn holds_item(&self, carrier: &Carrier<'_>, removing: &Txn) -> bool {
        let made = carrier.czxid.and_then(|czxid| self.creating.get(&czxid));
        made.is_some_and(|made| {
            let moved = changes(made).is_some_and(|all| all.iter().any(|(_, change)| *change == Change::Delete));
            moved || made.session != removing.session
        })
    }

    /// The znode of an item that a transaction removed, so that none is left that is known to carry it. `None` if the logs do not show
    /// so: if the transaction created something, which may carry the item on, if another znode still carries it, if the znode carries
    /// another item too, or if it may be a lock and the item's own is not known.
    pub fn removed(&self, item: i64, txn: &'a Txn) -> Option<&Carrier<'a>> {
        let changed = changes(txn)?;
        let deletes = |path: &str| changed.contains(&(path, Change::Delete));
        if changed.iter().any(|(_, change)| *change != Change::Delete) {
            return None;
        }
        let own = self.all.get(&item)?;
        let before = |carrier: &&Carrier<'a>| self.stands(carrier, txn.zxid - 1);
        let removed = own.iter().filter(before).find(|carrier| deletes(carrier.path))?;
        let left = own.iter().filter(before).any(|carrier| !deletes(carrier.path));
        let shared = self.all.iter().filter(|(other, _)| **other != item);
        let shared = shared
            .flat_map(|(_, all)| all)
            .any(|carrier| carrier.path == removed.path && self.stands(carrier, txn.zxid - 1));
        let known = own.iter().any(|carrier| !carrier.perhaps_lock) || self.holds_item(removed, txn);
        (!left && !shared && known).then_some(removed)
    }

    /// The items that a transaction may have removed.
    pub fn items(&self, txn: &'a Txn) -> Vec<i64> {
        let changed = changes(txn).unwrap_or_default();
        let touched = |carrier: &Carrier<'_>| changed.iter().any(|&(path, _)| path == carrier.path);
        let items = self.all.iter().filter(|(_, all)| all.iter().any(touched));
        items.map(|(&item, _)| item).collect()
    }

    /// Whether a znode, as far as the logs show, was there just after a transaction.
    fn stands(&self, carrier: &Carrier<'_>, zxid: i64) -> bool {
        let changes = self.changes.get(carrier.path).map_or(&[][..], Vec::as_slice);
        let mut creates = changes.iter().filter(|(_, change)| *change != Change::Delete);
        let only = || {
            creates
                .next()
                .filter(|_| creates.next().is_none())
                .map(|&(zxid, _)| zxid)
        };
        let Some(czxid) = carrier.czxid.or_else(only) else {
            return false;
        };
        let later = |&&(at, _): &&(i64, Change)| czxid < at && at <= zxid;
        czxid <= zxid && changes.iter().find(later).is_none()
    }
}

/// What a transaction did to znodes that it created or deleted; `None` if that cannot be read.
fn changes(txn: &Txn) -> Option<Vec<(&str, Change)>> {
    if txn.hides_parts() {
        return deletes(&txn.raw);
    }
    let item = |of: ZnodeChange<'_>| numbered(printed_data(&txn.raw, of.path)?);
    let change = |of: ZnodeChange<'_>| match of.op {
        "createSession" => None,
        "delete" | "deleteContainer" | "closeSession" => Some(Change::Delete),
        op if op.starts_with("create") => Some(Change::Create(item(of))),
        _ => None,
    };
    let all = txn.changes().filter_map(|of| Some((of.path, change(of)?)));
    Some(all.collect())
}

/// The parts of a multi that consists of deletes alone, in the words of ZooKeeper's own tool: `delete:`, the length of the path in four
/// bytes, the path, and `;` before the next one.
fn deletes(raw: &str) -> Option<Vec<(&str, Change)>> {
    let (_, mut rest) = raw.split_once(" multi ")?;
    let mut all = Vec::new();
    loop {
        rest = rest.strip_prefix("delete:")?;
        let length = rest.as_bytes().first_chunk::<4>().filter(|bytes| bytes.is_ascii())?;
        let end = usize::try_from(u32::from_be_bytes(*length)).ok()?.checked_add(4)?;
        let path = rest.get(4..end).filter(|path| path.starts_with('/'))?;
        all.push((path, Change::Delete));
        match rest.get(end..)?.strip_prefix(';') {
            Some(next) => rest = next,
            None => return rest.get(end..).filter(|rest| rest.trim().is_empty()).map(|_| all),
        }
    }
}

/// The data that a znode was created with, in the words of ZooKeeper's own tool: the path, the data and the ACL, with commas between.
fn printed_data<'a>(raw: &'a str, path: &str) -> Option<&'a str> {
    let (_, rest) = raw.split_once(&format!(" {path},"))?;
    rest.rsplit_once(",[").map(|(data, _)| data)
}

/// The number of the item that these data name.
fn numbered(data: &str) -> Option<i64> {
    let object = || serde_json::from_str::<serde_json::Value>(data).ok();
    data.parse().ok().or_else(|| ITEM.of(&object()?))
}
