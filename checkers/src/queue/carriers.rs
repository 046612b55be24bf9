//! The znodes that carry items, and what the transaction logs show of them, and of operations without an answer that
//! took items.
//!
//! A znode carries an item if the answer to the item's enqueue, or to a delivery of it, names it, or if its data name
//! the item: they are its number, or JSON with it under `item`. Data name an item from the create or the setData with
//! them to the next setData of the znode. In records of older versions only the line of ZooKeeper's own tool has data,
//! and those of creates alone are read.

use super::items::{AnsweredOperation, Items, names_its_own, number, outcome};
use crate::analysis::faults::AppliedRequest;
use crate::analysis::{Analysis, Op};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::evidence::ZnodeChange;
use zooquake_history::operation::queue::{ITEM, f};
use zooquake_history::{Event, EventType, Txn};

/// What a transaction did to a znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CarrierChange {
    /// Created it, with data that name this item.
    Create(Option<i64>),
    /// Set its data, to some that name this item. In records without data this is left out.
    Set(Option<i64>),
    Delete,
}

/// A znode that carries an item.
#[derive(Debug)]
struct Carrier<'a> {
    /// Where it stands.
    path: &'a str,
    /// The transaction that created it, or set the data that name the item; `None` if only its path is named.
    since: Option<i64>,
    /// Whether it may be a lock on the item: only a delivery names it, or only its data do, and it is ephemeral or was
    /// not created with them.
    perhaps_lock: bool,
    /// The events that name it; none if its data name the item.
    named: Vec<usize>,
}

/// The znode of an item that a transaction removed.
#[derive(Debug)]
struct ItemZnode<'a> {
    /// Where it stood.
    path: &'a str,
    /// The events by which it carries the item; none if its data are enough.
    witness: Vec<usize>,
}

/// What the transaction logs show of znodes, and which of them carry items.
#[derive(Debug, Default)]
pub struct Carriers<'a> {
    /// By item.
    all: BTreeMap<i64, Vec<Carrier<'a>>>,
    /// By path what was done to it, in the order of zxids.
    changes: HashMap<&'a str, Vec<(i64, CarrierChange)>>,
    /// The transactions that created something.
    creating: HashMap<i64, &'a Txn>,
}

impl<'a> Carriers<'a> {
    /// Reads the carriers out of the answers and the logs.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut carriers = Self::default();
        for txn in run.record.txnlog.unwrap_or_default() {
            carriers.logged(txn, run.log.committed(txn));
        }
        for changes in carriers.changes.values_mut() {
            changes.sort_by_key(|&(zxid, _)| zxid);
        }
        for op in run.ops.work.iter().filter(|op| matches!(op.f, f::ENQUEUE | f::DEQUEUE)) {
            let Some(read) = op
                .end
                .filter(|end| !run.ops.disputed.contains(end) && names_its_own(run, op))
            else {
                continue;
            };
            let answer: &'a Event = &run.events[read];
            if let (EventType::Ok, Some(path), Ok(item)) = (answer.kind, answer.path(), number(run, op)) {
                let done = AnsweredOperation {
                    node: op.node,
                    sent: op.sent(),
                    read,
                };
                let carrier = Carrier {
                    path,
                    since: answer.czxid(),
                    perhaps_lock: op.f == f::DEQUEUE,
                    named: done.witness(run).collect(),
                };
                carriers.add(item, carrier);
            }
        }
        carriers
    }

    /// Adds what a transaction did, and the znodes whose data it made name an item. One that may never have been
    /// committed ends no carrier, and its own carriers count: an item that may still stand somewhere is not known to be
    /// gone.
    fn logged(&mut self, txn: &'a Txn, committed: bool) {
        for (path, ephemeral, change) in changes(txn).unwrap_or_default() {
            let before = self.changes.entry(path).or_default();
            let (item, perhaps_lock) = match change {
                CarrierChange::Create(item) => {
                    self.creating.insert(txn.zxid, txn);
                    (item, ephemeral)
                }
                // Data that name the same item as those before go on with its carrier.
                CarrierChange::Set(item) => {
                    let same = |(_, change): &(i64, CarrierChange)| {
                        *change == CarrierChange::Create(item) || *change == CarrierChange::Set(item)
                    };
                    (item.filter(|_| !before.last().is_some_and(same)), true)
                }
                CarrierChange::Delete => (None, false),
            };
            if committed {
                before.push((txn.zxid, change));
            }
            if let Some(item) = item {
                let carrier = Carrier {
                    path,
                    since: Some(txn.zxid),
                    perhaps_lock,
                    named: Vec::new(),
                };
                self.add(item, carrier);
            }
        }
    }

    fn add(&mut self, item: i64, carrier: Carrier<'a>) {
        self.all.entry(item).or_default().push(carrier);
    }

    /// The path and the creation of the one znode that carries an item by its data alone; `None` where the logs have
    /// several, such as of an item that was moved, or one that may be a lock.
    pub fn by_data(&self, item: i64) -> Option<(&'a str, i64)> {
        let mut own = self.all.get(&item)?.iter().filter(|carrier| carrier.named.is_empty());
        let carrier = own
            .next()
            .filter(|carrier| !carrier.perhaps_lock && own.next().is_none())?;
        Some((carrier.path, carrier.since?))
    }

    /// Whether a znode that its delivery names is no lock that the client made which removed it: another session
    /// created it, or the item was moved into it by a transaction that deleted another.
    fn holds_item(&self, carrier: &Carrier<'_>, removing: &Txn) -> bool {
        let named = carrier.since.filter(|_| !carrier.named.is_empty());
        let made = named.and_then(|czxid| self.creating.get(&czxid));
        made.is_some_and(|made| {
            changes(made).is_some_and(|all| all.iter().any(|(.., change)| *change == CarrierChange::Delete))
                || made.session != removing.session
        })
    }

    /// The znode of an item that a transaction removed, so that none is left that is known to carry it. `None` if the
    /// logs do not show so: if the transaction created something or set data, which may carry the item on, if another
    /// znode still carries it, if the znode carries another item too, or if it may be a lock and the item's own is not
    /// known.
    fn removed(&self, item: i64, txn: &'a Txn) -> Option<ItemZnode<'a>> {
        let changed = changes(txn)?;
        if changed.iter().any(|(.., change)| *change != CarrierChange::Delete) {
            return None;
        }
        let own = self.all.get(&item)?;
        let before = |carrier: &&Carrier<'a>| self.carries(carrier, item, txn.zxid - 1);
        let standing: Vec<&Carrier<'a>> = own.iter().filter(before).collect();
        let deleted = |carrier: &&Carrier<'a>| changed.iter().any(|&(path, ..)| path == carrier.path);
        if !standing.iter().all(deleted) || self.shared(&standing, item, txn.zxid - 1) {
            return None;
        }
        let lasting = own.iter().filter(|carrier| !carrier.perhaps_lock);
        let known = lasting.min_by_key(|carrier| carrier.named.len());
        let proofs = standing.into_iter().filter_map(|carrier| {
            let mut witness = carrier.named.clone();
            if carrier.perhaps_lock && !self.holds_item(carrier, txn) {
                witness.extend(&known?.named);
            }
            Some(ItemZnode {
                path: carrier.path,
                witness,
            })
        });
        proofs.min_by_key(|removed| removed.witness.len())
    }

    /// Whether one of these znodes of an item carried another one, too, just after a transaction.
    fn shared(&self, standing: &[&Carrier<'a>], item: i64, zxid: i64) -> bool {
        let mut others = self.all.iter().filter(|(other, _)| **other != item);
        others.any(|(&other, all)| {
            all.iter()
                .filter(|carrier| standing.iter().any(|own| own.path == carrier.path))
                .any(|carrier| self.carries(carrier, other, zxid))
        })
    }

    /// The items that a transaction may have removed.
    fn items(&self, txn: &'a Txn) -> Vec<i64> {
        let changed = changes(txn).unwrap_or_default();
        let touched = |carrier: &Carrier<'_>| changed.iter().any(|&(path, ..)| path == carrier.path);
        let items = self.all.iter().filter(|(_, all)| all.iter().any(touched));
        items.map(|(&item, _)| item).collect()
    }

    /// Whether the logs show that a znode existed and carried an item just after a transaction.
    fn carries(&self, carrier: &Carrier<'_>, item: i64, zxid: i64) -> bool {
        let changes = self.changes.get(carrier.path).map_or(&[][..], Vec::as_slice);
        let mut creates = changes
            .iter()
            .filter(|(_, change)| matches!(change, CarrierChange::Create(_)));
        let only = || {
            creates
                .next()
                .filter(|_| creates.next().is_none())
                .map(|&(zxid, _)| zxid)
        };
        let Some(since) = carrier.since.or_else(only) else {
            return false;
        };
        let ends = |change: CarrierChange| match change {
            CarrierChange::Create(_) | CarrierChange::Delete => true,
            CarrierChange::Set(Some(other)) => other != item,
            // An answer that names the znode holds for data of any form.
            CarrierChange::Set(None) => carrier.named.is_empty(),
        };
        let later = &changes[changes.partition_point(|&(at, _)| at <= since)..];
        let mut until = later.iter().take_while(|&&(at, _)| at <= zxid);
        since <= zxid && !until.any(|&(_, change)| ends(change))
    }
}

/// What a transaction did to znodes, each with whether it was created as an ephemeral one; `None` if that cannot be
/// read.
fn changes(txn: &Txn) -> Option<Vec<(&str, bool, CarrierChange)>> {
    if txn.hides_parts() {
        return deletes(&txn.raw);
    }
    let printed = |of: ZnodeChange<'_>| numbered(printed_data(&txn.raw, of.path)?);
    let change = |of: ZnodeChange<'_>| match of.op {
        "createSession" => None,
        "delete" | "deleteContainer" | "closeSession" => Some(CarrierChange::Delete),
        "setData" => of.data.map(|data| CarrierChange::Set(numbered(data))),
        op if op.starts_with("create") => Some(CarrierChange::Create(of.data.map_or_else(|| printed(of), numbered))),
        _ => None,
    };
    let all = txn
        .changes()
        .filter_map(|of| Some((of.path, of.ephemeral == Some(true), change(of)?)));
    Some(all.collect())
}

/// The parts of a multi that consists of deletes alone, in the words of ZooKeeper's own tool: `delete:`, the length of
/// the path in four bytes, the path, and `;` before the next one.
fn deletes(raw: &str) -> Option<Vec<(&str, bool, CarrierChange)>> {
    let (_, mut rest) = raw.split_once(" multi ")?;
    let mut all = Vec::new();
    loop {
        rest = rest.strip_prefix("delete:")?;
        let length = rest.as_bytes().first_chunk::<4>().filter(|bytes| bytes.is_ascii())?;
        let end = usize::try_from(u32::from_be_bytes(*length)).ok()?.checked_add(4)?;
        let path = rest.get(4..end).filter(|path| path.starts_with('/'))?;
        all.push((path, false, CarrierChange::Delete));
        match rest.get(end..)?.strip_prefix(';') {
            Some(next) => rest = next,
            None => return rest.get(end..).filter(|rest| rest.trim().is_empty()).map(|_| all),
        }
    }
}

/// The data that a znode was created with, in the words of ZooKeeper's own tool: the path, the data and the ACL, with
/// commas between.
fn printed_data<'a>(raw: &'a str, path: &str) -> Option<&'a str> {
    let (_, rest) = raw.split_once(&format!(" {path},"))?;
    rest.rsplit_once(",[").map(|(data, _)| data)
}

/// The number of the item that these data name.
fn numbered(data: &str) -> Option<i64> {
    let object = || serde_json::from_str::<serde_json::Value>(data).ok();
    data.parse().ok().or_else(|| ITEM.read_from(&object()?))
}

/// A removal that certainly happened: it was answered, or the logs prove it without an answer.
#[derive(Debug, Clone)]
pub struct Removal<'a> {
    /// The operation; of one without an answer `read` is the window's `on`, by which it certainly had happened.
    pub done: AnsweredOperation<'a>,
    /// The events that prove it.
    pub witness: Vec<usize>,
    /// What shows it, in words.
    pub words: String,
}

/// By item its removals by operations that ended without an answer, in the order of the windows. `taker` is the
/// operation that ends an item's life.
///
/// Such an operation certainly took an item where a fault lost, or kept back, the reply to its request after it was
/// applied, and the transaction logs show that it removed the znode that carries the item.
///
/// The transaction is of a session of the client, and was made while the fault's window was armed: after its `begin`,
/// and before its `on` was recorded. If all that the client was asked for meanwhile that can take an item is one
/// operation, whose end is unknown, then the request was that operation's, or one of an earlier operation of the client
/// whose end is unknown too and that was sent late. Where both acknowledge the item, or both may take any, an operation
/// of the client took it for certain when `on` was recorded.
pub fn removals<'a>(run: &Analysis<'a>, items: &Items<'a>, taker: &'static str) -> BTreeMap<i64, Vec<Removal<'a>>> {
    let mut all: BTreeMap<i64, Vec<Removal<'a>>> = BTreeMap::new();
    let applied = run.applied.all();
    if applied.is_empty() {
        return all;
    }
    let carriers = Carriers::new(run);
    for applied in applied {
        let Some(op) = only_taker(run, applied).filter(|op| op.f == taker) else {
            continue;
        };
        for item in carriers.items(applied.txn) {
            let of_it = taker != f::ACKNOWLEDGE || number(run, op) == Ok(item);
            let judged = items
                .all
                .get(&item)
                .is_some_and(|item| !item.disputed && !item.ambiguous());
            if let Some(sent) = op.sent().filter(|_| of_it && judged)
                && let Some(removal) = removal(run, &carriers, (applied, op, sent), item)
            {
                all.entry(item).or_default().push(removal);
            }
        }
    }
    all
}

/// The only operation of the client that can have made the request and may take an item, if its end is unknown.
fn only_taker<'r, 'a>(run: &'r Analysis<'a>, applied: &AppliedRequest<'a>) -> Option<&'r Op<'a>> {
    let mut meanwhile = run
        .ops
        .work
        .iter()
        .filter(|op| op.node == applied.node && matches!(op.f, f::DEQUEUE | f::ACKNOWLEDGE))
        .filter(|op| op.in_flight(applied.begin, applied.on));
    let op = meanwhile.next().filter(|_| meanwhile.next().is_none())?;
    let unknown = matches!(outcome(run, op), None | Some(EventType::Info));
    (unknown && !op.doubtful).then_some(op)
}

fn removal<'a>(
    run: &Analysis<'a>,
    carriers: &Carriers<'a>,
    (applied, op, sent): (&AppliedRequest<'a>, &Op<'a>, usize),
    item: i64,
) -> Option<Removal<'a>> {
    let znode = carriers.removed(item, applied.txn)?;
    let words = format!(
        "the `{}` of {} sent at {} was not answered, but its request was applied: the reply to it was {}, as recorded at {}, and the \
         transaction log shows that it, transaction 0x{:x} of the session {}, deleted {}, which carries the item",
        op.f,
        op.node,
        run.at(sent),
        applied.deed(),
        run.at(applied.on),
        applied.txn.zxid,
        applied.txn.session,
        znode.path,
    );
    Some(Removal {
        done: AnsweredOperation {
            node: op.node,
            sent: Some(sent),
            read: applied.on,
        },
        witness: [znode.witness, vec![sent, applied.tie, applied.begin, applied.on]].concat(),
        words,
    })
}
