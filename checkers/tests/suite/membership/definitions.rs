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
    let mut found: Vec<usize> = unasked.chain(unmade).collect();
    found.sort_unstable();
    found
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
