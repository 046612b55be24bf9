//! The values of members: what the transaction logs have of them, and updates that were lost or undone.
//!
//! `lost-update`: an `update` was answered `ok`, and no transaction wrote what it was asked to. One report for each. It
//! is certain by complete transaction logs, where the data of the path read as decimal numbers throughout
//! ([`LoggedValues`]): the transaction that the answer names wrote another value, or another znode; or, where the
//! answer names none, no transaction at all wrote that value there. An update that finds its value written, and names
//! the transaction that did, is none.
//!
//! `undone-update`: a member wrote an older value of its own over a newer one that it had acknowledged. One report for
//! each member's value that was undone.
//!
//! An `update` or a `register` of value B was answered `ok`, and a later transaction wrote at the path that its answer
//! names a value A that the client had been asked for before. That the client itself wrote A is certain
//!
//! - by complete transaction logs, where the data of the path read as decimal numbers throughout: B was written there,
//!   and later A, by a session that the same client named as its own and no other client did;
//! - without them, by a reading of the tree: a znode there that such a session owns was created with A, in a
//!   transaction after that of B, which its answer names. Who wrote to a znode after it was created, a tree does not
//!   show.
//!
//! It convicts where
//!
//! - every operation of the client with the value A had been answered `ok` before B was sent: none of them can write
//!   any more; or
//! - A has one such operation that had not, and A was written before B, too: an operation comes about once.
//!
//! Of more operations of A without an answer by then each may lawfully come once at any later time. A client of which
//! an operation has a value that cannot be read is not judged.

use crate::analysis::clients::session;
use crate::analysis::transaction_log::creates;
use crate::analysis::{Analysis, Op};
use crate::findings::{Finding, Findings};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::EventType;
use zooquake_history::evidence::Znode;
use zooquake_history::operation::membership::{VALUE, f};

/// Looks for updates that no transaction made.
pub fn lost_updates(run: &Analysis<'_>, logged: Option<&LoggedValues<'_>>, out: &mut Findings) {
    let Some(logged) = logged else {
        return out.ran("lost-update", 0);
    };
    let mut looked_at = 0;
    for (op, read) in run.answered(&[f::UPDATE]) {
        let answer = &run.events[read];
        let asked = op.sent().and_then(|sent| Some((sent, run.events[sent].get(VALUE)?)));
        let (Some((sent, value)), Some(path)) = (asked, answer.path()) else {
            continue;
        };
        let Some(writes) = logged.writes_at(path) else { continue };
        looked_at += 1;
        let instead = match answer.mzxid() {
            Some(mzxid) => logged.instead_of(path, mzxid, value),
            None => {
                let none = writes.iter().all(|write| write.value != value);
                none.then(|| "no transaction wrote that value there".to_owned())
            }
        };
        if let Some(instead) = instead {
            let why = format!(
                "{} was asked at {} to update its value to {value}, and answered `ok` at {}, of {path}{}. The transaction logs are \
                 complete, and in them {instead}: the update was acknowledged, and never made.",
                op.node,
                run.at(sent),
                run.at(read),
                answer
                    .mzxid()
                    .map(|mzxid| format!(" and mzxid 0x{mzxid:x}"))
                    .unwrap_or_default(),
            );
            let found = Finding::new("lost-update", "nothing is lost", vec![sent, read], why);
            out.add(run, found);
        }
    }
    out.ran("lost-update", looked_at);
}

/// What one client was asked to register or to write. Positions are those of events.
#[derive(Default)]
struct AskedOperations {
    /// By value the operations that did not certainly fail: where each was sent, and answered `ok`.
    by_value: BTreeMap<i64, Vec<(usize, Option<usize>)>>,
    /// Whether the value of one cannot be read.
    unreadable: bool,
}

/// What wrote the older value.
struct LaterWrite<'l, 'a> {
    zxid: i64,
    session: &'a str,
    value: i64,
    /// What the logs have at the path up to the newer value; nothing without them.
    before: &'l [ValueWrite<'a>],
    source: WriteSource,
}

impl LaterWrite<'_, '_> {
    /// Whether the same value had been written before the newer one, too.
    fn is_repeated(&self) -> bool {
        self.before.iter().any(|first| first.value == self.value)
    }
}

/// What shows it.
#[derive(Clone, Copy)]
enum WriteSource {
    Logs,
    Tree,
}

/// Looks for values that were undone.
pub fn undone_updates(run: &Analysis<'_>, logged: Option<&LoggedValues<'_>>, out: &mut Findings) {
    let mut clients: HashMap<&str, AskedOperations> = HashMap::new();
    for op in run.ops.work.iter().filter(|op| matches!(op.f, f::REGISTER | f::UPDATE)) {
        clients.entry(op.node).or_default().add(run, op);
    }
    let mut looked_at = 0;
    for (op, read) in run.answered(&[f::REGISTER, f::UPDATE]) {
        let answer = &run.events[read];
        let asked = op.sent().and_then(|sent| Some((sent, run.events[sent].get(VALUE)?)));
        let (Some((sent, value)), Some(path)) = (asked, answer.path()) else {
            continue;
        };
        let later = match logged {
            Some(logged) => logged.writes_at(path).map(|writes| after_value(writes, value)),
            None => answer
                .mzxid()
                .or(answer.czxid())
                .and_then(|zxid| created_after(run, path, zxid)),
        };
        let (Some(later), Some(own)) = (later, clients.get(op.node)) else {
            continue;
        };
        looked_at += 1;
        // A value that was asked for twice may have been written by either request.
        let once = own.by_value.get(&value).is_some_and(|all| all.len() == 1);
        if !once || own.unreadable || run.ops.disputed.contains(&read) {
            continue;
        }
        let undone = later.iter().find_map(|write| {
            let older = own.by_value.get(&write.value).filter(|_| write.value != value)?;
            let proof = undoes(older, sent, write.is_repeated()).filter(|_| is_own(run, op.node, write.session))?;
            Some((write, proof))
        });
        if let Some((write, proof)) = undone {
            undone_by(run, (op, sent, read, value), (path, write), proof, out);
        }
    }
    out.ran("undone-update", looked_at);
}

/// What was written at a path, by the logs, after the first committed write of a value.
fn after_value<'l, 'a>(writes: &'l [ValueWrite<'a>], value: i64) -> Vec<LaterWrite<'l, 'a>> {
    let written = writes.iter().position(|write| write.committed && write.value == value);
    let (before, later) = writes.split_at(written.map_or(writes.len(), |at| at + 1));
    let committed = later.iter().filter(|write| write.committed);
    let of = |write: &ValueWrite<'a>| LaterWrite {
        zxid: write.zxid,
        session: write.session,
        value: write.value,
        before,
        source: WriteSource::Logs,
    };
    committed.map(of).collect()
}

/// The ephemerals at a path that the tree shows as they were created, in transactions after one; `None` if the tree was
/// not read.
fn created_after<'l, 'a>(run: &Analysis<'a>, path: &str, zxid: i64) -> Option<Vec<LaterWrite<'l, 'a>>> {
    let znodes = run.record.readings?.iter().flat_map(|reading| &reading.znodes);
    let created = znodes.filter(|of| of.path == path && of.czxid > zxid && of.mzxid == of.czxid);
    let of = |znode: &'a Znode| {
        Some(LaterWrite {
            zxid: znode.czxid,
            session: znode.owner.as_deref()?,
            value: decimal(&znode.data)?,
            before: &[],
            source: WriteSource::Tree,
        })
    };
    Some(created.filter_map(of).collect())
}

impl AskedOperations {
    fn add(&mut self, run: &Analysis<'_>, op: &Op<'_>) {
        let Some(sent) = op.sent() else {
            self.unreadable = true;
            return;
        };
        if op.failed(run.events).is_some() {
            return;
        }
        match run.events[sent].get(VALUE) {
            Some(value) => {
                let ok = op.end.filter(|&end| run.events[end].kind == EventType::Ok);
                self.by_value.entry(value).or_default().push((sent, ok));
            }
            None => self.unreadable = true,
        }
    }
}

/// Whether a value of these operations, written after one that was sent at `sent`, undoes it for certain: the events of
/// the older operation that show it. `before` is whether the older value was also written before the newer one.
fn undoes(older: &[(usize, Option<usize>)], sent: usize, before: bool) -> Option<Vec<usize>> {
    let settled = |&&(_, ok): &&(usize, Option<usize>)| ok.is_some_and(|ok| ok < sent);
    let (settled, open): (Vec<_>, Vec<_>) = older.iter().partition(settled);
    match (&settled[..], &open[..]) {
        // It came about before the newer one, and does so once: what it was answered is no matter.
        ([(asked, _)], []) if before => Some(vec![*asked]),
        ([first, ..], []) => Some([first.0].into_iter().chain(first.1).collect()),
        ([], [(asked, _)]) if before && *asked < sent => Some(vec![*asked]),
        _ => None,
    }
}

/// Whether a session is one that this client alone named as its own.
fn is_own(run: &Analysis<'_>, node: &str, text: &str) -> bool {
    let named = session(text).and_then(|number| run.clients.named.get(&number));
    named.is_some_and(|by| by.len() == 1 && by.contains_key(node))
}

fn undone_by(
    run: &Analysis<'_>,
    (op, sent, read, value): (&Op<'_>, usize, usize, i64),
    (path, write): (&str, &LaterWrite<'_, '_>),
    proof: Vec<usize>,
    out: &mut Findings,
) {
    let by = match write.source {
        WriteSource::Logs => format!("The transaction logs have that value at {path}, and after it"),
        WriteSource::Tree => format!("The tree shows {path} as it was created later, by"),
    };
    let why = format!(
        "{} was asked at {} for the value {value}, and answered `ok` at {}. {by} transaction 0x{:x} of the client's own session {}, \
         which wrote {}: a value that the client had been asked for at {}{}. So the member itself undid what it had acknowledged.",
        op.node,
        run.at(sent),
        run.at(read),
        write.zxid,
        write.session,
        write.value,
        run.at(proof[0]),
        match proof.get(1) {
            Some(&ok) => format!(
                ", and had answered `ok` at {}, before it was asked for {value}",
                run.at(ok)
            ),
            None => format!(" and that had been written before {value}, too"),
        },
    );
    let mut witness: Vec<usize> = proof.into_iter().chain([sent, read]).collect();
    let own = session(write.session);
    let names = |at: &usize| run.events[*at].session().and_then(session) == own;
    if !witness.iter().any(names) {
        witness.extend(own.and_then(|own| run.clients.first_named(op.node, own)));
    }
    let found = Finding::new("undone-update", "nothing is lost", witness, why);
    out.add(run, found);
}

/// A transaction that gave the znode at a path its data.
#[derive(Debug, Clone, Copy)]
pub struct ValueWrite<'a> {
    pub zxid: i64,
    /// The session that asked for it.
    pub session: &'a str,
    pub value: i64,
    /// Whether it was certainly committed.
    pub committed: bool,
}

/// The values that members' znodes were given, by the transaction logs: the writes by path, in the order of their
/// transactions.
///
/// Only of complete logs, and of paths all of whose data read as decimal numbers: a recipe may write its value in
/// another form, and then nothing is compared with it.
#[derive(Debug)]
pub struct LoggedValues<'a> {
    /// `None` where some data are no decimal number.
    by_path: HashMap<&'a str, Option<Vec<ValueWrite<'a>>>>,
}

impl<'a> LoggedValues<'a> {
    /// Reads the values out of the logs; `None` unless these are complete.
    pub fn new(run: &Analysis<'a>) -> Option<Self> {
        let txns = run.record.txnlog.filter(|_| run.log.whole())?;
        let mut by_path: HashMap<&str, Option<Vec<ValueWrite<'_>>>> = HashMap::new();
        for txn in txns {
            let writes = txn.changes().filter(|of| creates(of.op) || of.op == "setData");
            for change in writes {
                let write = change.data.and_then(decimal).map(|value| ValueWrite {
                    zxid: txn.zxid,
                    session: &txn.session,
                    value,
                    committed: run.log.committed(txn),
                });
                let of_path = by_path.entry(change.path).or_insert_with(|| Some(Vec::new()));
                match (of_path.as_mut(), write) {
                    (Some(all), Some(write)) => all.push(write),
                    _ => *of_path = None,
                }
            }
        }
        Some(Self { by_path })
    }

    /// The writes of a path; `None` if there are none, or they cannot be compared.
    pub fn writes_at(&self, path: &str) -> Option<&[ValueWrite<'a>]> {
        self.by_path.get(path)?.as_deref()
    }

    /// What the logs show instead of a transaction that wrote this value at a path, in words; `None` if one may have.
    pub fn instead_of(&self, path: &str, mzxid: i64, value: i64) -> Option<String> {
        let at: Vec<&ValueWrite<'_>> = self
            .writes_at(path)?
            .iter()
            .filter(|write| write.zxid == mzxid)
            .collect();
        match at.last() {
            None => Some(format!("no transaction 0x{mzxid:x} wrote that znode")),
            Some(last) => {
                let other = at.iter().all(|write| write.committed && write.value != value);
                other.then(|| format!("transaction 0x{mzxid:x} wrote the value {}", last.value))
            }
        }
    }
}

/// The number that data are, in decimal digits; `None` if they are none.
pub fn decimal(data: &str) -> Option<i64> {
    data.trim().parse().ok()
}
