//! Phantoms and regressions of views, each by its definition taken literally, in whatever time that takes. Histories
//! have all fields.

use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Process, Record, Value};

/// An entry: path, czxid, mzxid, value.
pub type Entry = (String, i64, i64, i64);

/// A view, and where it was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownView {
    pub at: usize,
    pub node: String,
    pub process: usize,
    pub notice: bool,
    pub n: i64,
    pub session: String,
    pub members: Option<Vec<Entry>>,
}

/// The path of a session of a process in which views went back.
pub type RegressedViews = (String, usize, String, String);

/// All views, in their order.
pub fn shown(record: &Record) -> Vec<ShownView> {
    let events = &record.history.events;
    let view = |event: &Event| {
        let Process::Name(name) = &event.process else {
            return None;
        };
        let value = &event.value;
        let (notice, view) = match (event.f.as_str(), event.kind) {
            ("view", EventType::Info) if value.get("n").is_some() => (true, value),
            ("view", EventType::Ok) => (false, &value["view"]),
            _ => return None,
        };
        let of_process = |other: &&Event| other.process == event.process && (other.f == "hello" || other.f == "exit");
        let entry = |entry: &Value| {
            let number = |name: &str| entry[name].as_i64().expect("a number");
            let path = entry["path"].as_str().expect("a path").to_owned();
            (path, number("czxid"), number("mzxid"), number("value"))
        };
        let members = view["members"].as_array().map(|all| all.iter().map(entry).collect());
        Some(ShownView {
            at: event.index,
            node: name.to_string(),
            process: events[..event.index].iter().filter(of_process).count(),
            notice,
            n: view["n"].as_i64().expect("a number"),
            session: view["session"].as_str().expect("a session").to_owned(),
            members,
        })
    };
    events.iter().filter_map(view).collect()
}

/// Where each value that nobody had been asked for, and each znode that nobody made, was shown first.
pub fn phantoms(record: &Record) -> Vec<usize> {
    let events = &record.history.events;
    let views = shown(record);
    let first = |of: &dyn Fn(&Entry) -> bool| {
        let shows = |view: &&ShownView| view.members.iter().flatten().any(of);
        views.iter().find(shows).map(|view| view.at)
    };
    let all: BTreeSet<Entry> = views.iter().flat_map(|view| view.members.clone()).flatten().collect();
    let values: BTreeSet<i64> = all.iter().map(|entry| entry.3).collect();
    let unasked = values.into_iter().filter_map(|value| {
        let at = first(&|entry| entry.3 == value)?;
        let asks = |event: &Event| event.kind == EventType::Invoke && event.value["value"].as_i64() == Some(value);
        (!events[..at].iter().any(asks)).then_some(at)
    });
    let znodes: BTreeSet<(String, i64)> = all.iter().map(|entry| (entry.0.clone(), entry.1)).collect();
    let unmade = znodes.into_iter().filter_map(|(path, czxid)| {
        let makes = |txn: &zooquake_history::Txn| txn.op == "create" && txn.zxid == czxid && txn.paths[0] == path;
        let made = record.txnlog.iter().flatten().any(makes);
        let at = first(&|entry| (&entry.0, entry.1) == (&path, czxid))?;
        (complete(record) && !made).then_some(at)
    });
    let written: BTreeSet<(String, i64, i64)> = all.iter().map(|entry| (entry.0.clone(), entry.2, entry.3)).collect();
    let unwritten = written.into_iter().filter_map(|(path, mzxid, value)| {
        let at = first(&|entry| (&entry.0, entry.2, entry.3) == (&path, mzxid, value) && was_made(record, entry))?;
        let wrote = writes(record, &path).contains(&(mzxid, value));
        // An entry that shows a value first, which nobody had been asked for, is one phantom, and not two.
        let asks = |event: &Event| event.kind == EventType::Invoke && event.value["value"].as_i64() == Some(value);
        let mut entries = views.iter().flat_map(|view| view.members.iter().flatten());
        let shown_first = entries.find(|entry| entry.3 == value)?;
        let is_first =
            first(&|entry| entry.3 == value) == Some(at) && (&shown_first.0, shown_first.2) == (&path, mzxid);
        let counted = is_first && !events[..at].iter().any(asks);
        (complete(record) && !counted && !wrote).then_some(at)
    });
    let mut found: Vec<usize> = unasked.chain(unmade).chain(unwritten).collect();
    found.sort_unstable();
    found
}

/// Whether a transaction made the znode of an entry.
fn was_made(record: &Record, entry: &Entry) -> bool {
    let mut txns = record.txnlog.iter().flatten();
    txns.any(|txn| txn.op == "create" && txn.zxid == entry.1 && txn.paths[0] == entry.0)
}

/// The zxid and the value of each transaction that wrote a path.
pub fn writes(record: &Record, path: &str) -> Vec<(i64, i64)> {
    let own = record
        .txnlog
        .iter()
        .flatten()
        .filter(|txn| txn.paths.iter().any(|of| of == path));
    let value = |txn: &zooquake_history::Txn| Some((txn.zxid, txn.data.as_ref()?.parse().expect("a number")));
    own.filter_map(value).collect()
}

/// An operation of a client that did not certainly fail: where it was sent, where its answer `ok` was read, its value.
struct AskedValue<'r> {
    node: &'r str,
    sent: usize,
    ok: Option<usize>,
    value: i64,
}

fn asked(record: &Record) -> Vec<AskedValue<'_>> {
    let events = &record.history.events;
    let sent = events
        .iter()
        .enumerate()
        .filter(|(_, event)| event.kind == EventType::Invoke && ["register", "update"].contains(&event.f.as_str()));
    let answer = |at: usize| {
        events[at + 1..]
            .iter()
            .position(|event| event.process == events[at].process)
    };
    sent.filter_map(|(at, event)| {
        let end = answer(at)
            .map(|next| at + 1 + next)
            .filter(|&end| events[end].kind != EventType::Invoke);
        let kind = end.map(|end| events[end].kind);
        (kind != Some(EventType::Fail)).then(|| AskedValue {
            node: event.node.as_deref().expect("a client"),
            sent: at,
            ok: end.filter(|_| kind == Some(EventType::Ok)),
            value: event.value["value"].as_i64().expect("a number"),
        })
    })
    .collect()
}

/// Where each update was acknowledged that no transaction made.
pub fn lost_updates(record: &Record) -> Vec<usize> {
    let acknowledged = asked(record).into_iter().filter_map(|op| {
        let answer = &record.history.events[op.ok?];
        let (path, mzxid) = (answer.value["path"].as_str()?, answer.value["mzxid"].as_i64()?);
        let all = writes(record, path);
        let lost = complete(record) && !all.is_empty() && !all.contains(&(mzxid, op.value));
        lost.then_some(op.ok?)
    });
    acknowledged.collect()
}

/// Where each value was acknowledged that its client's own later write of an older value undid, by complete logs, or
/// without them by znodes of the tree that were created with one. Values are asked for once.
pub fn undone_updates(record: &Record) -> Vec<usize> {
    let (events, all) = (&record.history.events, asked(record));
    let names = |session: &str| -> BTreeSet<&str> {
        let named = events.iter().filter(|event| {
            let lists = event.f == "quiesce" && event.kind == EventType::Ok;
            let each = event.value["sessions"]
                .as_array()
                .filter(|_| lists)
                .into_iter()
                .flatten();
            event.kind != EventType::Invoke
                && ["hello", "session", "register", "quiesce"].contains(&event.f.as_str())
                && (event.session() == Some(session) || each.into_iter().any(|one| one.as_str() == Some(session)))
        });
        named.filter_map(|event| event.node.as_deref()).collect()
    };
    let undone = |op: &&AskedValue<'_>| {
        let Some(path) = op.ok.and_then(|ok| events[ok].value["path"].as_str()) else {
            return false;
        };
        if !complete(record) {
            let acknowledged = &events[op.ok.expect("an answer")].value;
            let zxid = acknowledged["mzxid"].as_i64().or(acknowledged["czxid"].as_i64());
            let znodes = record
                .tree
                .iter()
                .flat_map(|tree| &tree.readings)
                .flat_map(|reading| &reading.znodes);
            return znodes
                .filter(|znode| znode.path == path && znode.mzxid == znode.czxid)
                .any(|znode| {
                    let older =
                        |other: &AskedValue<'_>| other.value != op.value && other.value.to_string() == znode.data;
                    let older = all.iter().find(|other| other.node == op.node && older(other));
                    let owner = znode
                        .owner
                        .as_deref()
                        .is_some_and(|owner| names(owner) == BTreeSet::from([op.node]));
                    let settled = older.and_then(|older| older.ok).is_some_and(|ok| ok < op.sent);
                    zxid.is_some_and(|zxid| zxid < znode.czxid) && owner && settled
                });
        }
        let wrote = |txn: &&zooquake_history::Txn| txn.paths.iter().any(|of| of == path) && txn.data.is_some();
        let txns: Vec<_> = record.txnlog.iter().flatten().filter(wrote).collect();
        let place = |value: i64| txns.iter().position(|txn| txn.data == Some(value.to_string()));
        let Some(newer) = place(op.value) else { return false };
        txns[newer + 1..].iter().any(|txn| {
            let older = all
                .iter()
                .find(|other| other.node == op.node && Some(other.value.to_string()) == txn.data);
            older.is_some_and(|older| {
                let settled = older.ok.is_some_and(|ok| ok < op.sent);
                let twice = older.sent < op.sent && place(older.value) < Some(newer);
                older.value != op.value && (settled || twice) && names(&txn.session) == BTreeSet::from([op.node])
            })
        })
    };
    all.iter().filter(undone).filter_map(|op| op.ok).collect()
}

/// Whether the logs have each transaction up to the last one that is named.
fn complete(record: &Record) -> bool {
    let Some(txns) = record.txnlog.as_ref().filter(|txns| !txns.is_empty()) else {
        return false;
    };
    let counts = (1..).zip(txns).all(|(number, txn)| txn.zxid == (1 << 32) + number);
    let mut named = Vec::new();
    record
        .history
        .events
        .iter()
        .for_each(|event| zxids(&event.value, &mut named));
    let readings = record.tree.iter().flat_map(|tree| &tree.readings);
    named.extend(readings.flat_map(|reading| &reading.znodes).map(|znode| znode.mzxid));
    counts && named.into_iter().all(|zxid| zxid <= txns[txns.len() - 1].zxid)
}

fn zxids(value: &Value, found: &mut Vec<i64>) {
    let fields = value.as_object().into_iter();
    for (name, value) in fields.flat_map(zooquake_history::value::Fields::iter) {
        found.extend(
            value
                .as_i64()
                .filter(|_| ["czxid", "mzxid", "zxid"].contains(&name.as_str())),
        );
        zxids(value, found);
    }
    value
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|value| zxids(value, found));
}

/// The views of each session of a process that can be ordered for certain, in the order of their numbers.
pub fn sessions(record: &Record) -> Vec<Vec<ShownView>> {
    let views = shown(record);
    let alike = |one: &ShownView, other: &ShownView| (&one.session, &one.members) == (&other.session, &other.members);
    let certain = |view: &&ShownView| {
        let own = || {
            views
                .iter()
                .filter(|other| (&other.node, other.process) == (&view.node, view.process))
        };
        let same: Vec<&ShownView> = own().filter(|other| other.n == view.n).collect();
        let late =
            |of: &&&ShownView| of.notice && own().any(|other| other.notice && other.at < of.at && other.n > of.n);
        same.iter().all(|other| alike(other, view)) && !same.iter().any(|of| late(&of))
    };
    let mut certain: Vec<ShownView> = views.iter().filter(certain).cloned().collect();
    certain.sort_by_key(|view| (view.node.clone(), view.process, view.session.clone(), view.n, view.at));
    certain.dedup_by_key(|view| (view.node.clone(), view.process, view.n));
    let same = |one: &ShownView, other: &ShownView| {
        (&one.node, one.process, &one.session) == (&other.node, other.process, &other.session)
    };
    certain.chunk_by(same).map(<[ShownView]>::to_vec).collect()
}

/// The paths of which a session showed something older after something newer, or left a znode out between.
pub fn regressed(views: &[ShownView]) -> BTreeSet<RegressedViews> {
    let entries = |view: &'_ ShownView| view.members.clone().unwrap_or_default();
    let mut found = BTreeSet::new();
    for (at, last) in views.iter().enumerate() {
        for (path, czxid, mzxid, _) in entries(last) {
            let older = |other: &Entry| other.0 == path && (other.1 > czxid || other.1 == czxid && other.2 > mzxid);
            let is = |other: &Entry| (&other.0, other.1) == (&path, czxid);
            let before = &views[..at];
            let newer = before.iter().any(|view| entries(view).iter().any(older));
            let away = |(number, view): (usize, &ShownView)| {
                let left_out = view.members.as_ref().is_some_and(|members| !members.iter().any(is));
                left_out && before[..number].iter().any(|view| entries(view).iter().any(is))
            };
            if newer || before.iter().enumerate().any(away) {
                found.insert((last.node.clone(), last.process, last.session.clone(), path.clone()));
            }
        }
    }
    found
}
