//! Stale views and lost members, each by its definition taken literally, in whatever time that takes. Histories have
//! all fields, and no faults after recovery.

use super::definitions::{Entry, ShownView, shown};
use crate::doubtful_evidence::operations;
use crate::liveness::phase;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_history::{
    Event, EventType, Process, Record,
    evidence::{Reading, Znode},
};

/// The bound of liveness of these histories, in which registrations take milliseconds.
const BOUND: u64 = 10_000_000_000;

/// The children of the group in a reading.
fn members(reading: &Reading) -> impl Iterator<Item = &Znode> {
    reading
        .znodes
        .iter()
        .filter(|znode| znode.path.starts_with("/members/"))
}

/// Two readings, and the time between them in which nothing is changed.
type Quiet<'r> = (&'r Reading, &'r Reading);

/// The readings around the views at the end, and those around the views of the calm, if there are such.
pub fn quiet(record: &Record) -> Vec<Quiet<'_>> {
    match &record.tree.as_ref().expect("a tree").readings[..] {
        [first, second, _] => vec![(first, second)],
        [first, second, _, _] => vec![(first, second)],
        [calm, over, first, second, _] => vec![(first, second), (calm, over)],
        _ => Vec::new(),
    }
}

/// Whether a znode was gone between two readings for certain.
fn gone(record: &Record, (first, second): Quiet<'_>, path: &str, czxid: i64) -> bool {
    let stands = |reading: &Reading| members(reading).any(|znode| znode.path == path && znode.czxid == czxid);
    let acknowledged = |znode: &Znode| {
        let names = |event: &Event| {
            let value = &event.value;
            let made = value["czxid"].as_i64() == Some(znode.czxid) && znode.czxid >= czxid;
            let written = value["mzxid"].as_i64() == Some(znode.mzxid) && znode.mzxid >= czxid;
            matches!(event.f.as_str(), "register" | "update")
                && event.kind == EventType::Ok
                && value["path"].as_str() == Some(&znode.path)
                && (made || written)
        };
        record.history.events[..first.index].iter().any(names)
    };
    let later = |znode: &Znode| znode.path == path && znode.czxid > czxid || acknowledged(znode);
    let registered = |event: &Event| {
        let value = &event.value;
        let named = (value["path"].as_str(), value["czxid"].as_i64());
        event.f == "register" && event.kind == EventType::Ok && named == (Some(path), Some(czxid))
    };
    let before = &record.history.events[..first.index];
    !stands(first) && !stands(second) && (members(first).any(later) || before.iter().any(registered))
}

fn differs(record: &Record, quiet: Quiet<'_>, view: &ShownView) -> bool {
    let first = quiet.0;
    let Some(shown) = &view.members else {
        return members(first).next().is_some();
    };
    let missing = |znode: &Znode| {
        !shown
            .iter()
            .any(|entry| entry.0 == znode.path && entry.1 == znode.czxid)
    };
    let wrong = |entry: &Entry| {
        let old = |znode: &Znode| {
            (&znode.path, znode.czxid) == (&entry.0, entry.1)
                && (entry.2 < znode.mzxid || entry.2 == znode.mzxid && entry.3.to_string() != znode.data)
        };
        members(first).any(old) || gone(record, quiet, &entry.0, entry.1)
    };
    members(first).any(missing) || shown.iter().any(wrong)
}

/// The clients for which some requests `view` one after the other, over the bound, were each answered so that `wrong`.
fn wrong_for_the_bound(
    record: &Record,
    (first, second): Quiet<'_>,
    wrong: impl Fn(&ShownView) -> bool,
    right: impl Fn(&ShownView) -> bool,
) -> BTreeSet<String> {
    let events = &record.history.events;
    let views = shown(record);
    let mut found = BTreeSet::new();
    for node in ["c1", "c2", "c3"] {
        let own = |event: &&Event| matches!(&event.process, Process::Name(name) if *name == *node);
        let asks = |event: &&Event| own(event) && event.f == "view" && event.kind == EventType::Invoke;
        let requests: Vec<usize> = events[first.end_index..second.index]
            .iter()
            .filter(asks)
            .map(|event| event.index)
            .collect();
        let mut open: Vec<usize> = events.iter().filter(asks).map(|event| event.index).collect();
        let mut answers: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        for event in events.iter().filter(own) {
            let notice = views.iter().any(|view| view.at == event.index && view.notice);
            if event.f == "view" && event.kind != EventType::Invoke && !notice && open[0] < event.index {
                answers.insert(open.remove(0), (event.index, event.kind == EventType::Ok));
            }
            if event.f == "exit" {
                open.retain(|&at| at > event.index);
            }
        }
        let view = |request: &usize| {
            let &(read, _) = answers.get(request).filter(|&&(read, ok)| ok && read < second.index)?;
            views.iter().find(|view| view.at == read)
        };
        let lasts = |from: usize, to: usize| {
            let all: Option<Vec<&ShownView>> = requests[from..=to].iter().map(view).collect();
            let Some(all) = all else { return false };
            let (sent, read) = (requests[from], all[all.len() - 1].at);
            let cut = |event: &Event| own(&event) && (event.f == "session" || event.f == "exit");
            let fresh = |shown: &ShownView| {
                shown.notice && shown.node == node && (sent..read).contains(&shown.at) && right(shown)
            };
            all.iter().all(|view| wrong(view) && view.session == all[0].session)
                && !events[sent..read].iter().any(cut)
                && !views.iter().any(fresh)
                && events[requests[to]].time - events[sent].time >= BOUND
                && !events[sent..second.index]
                    .iter()
                    .any(|event| own(&event) && event.f == "exit")
        };
        let pairs = (0..requests.len()).flat_map(|from| (from..requests.len()).map(move |to| (from, to)));
        if pairs.into_iter().any(|(from, to)| lasts(from, to)) {
            found.insert(node.to_owned());
        }
    }
    found
}

/// The clients whose views differ from a group that is the same in both readings.
pub fn stale(record: &Record) -> BTreeSet<String> {
    let group = |reading: &Reading| -> Vec<(String, i64, i64)> {
        members(reading)
            .map(|znode| (znode.path.clone(), znode.czxid, znode.mzxid))
            .collect()
    };
    let Some(recovered) = phase(&record.history.events, "recovered") else {
        return BTreeSet::new();
    };
    let unchanged = |&(first, second): &Quiet<'_>| first.index > recovered && group(first) == group(second);
    let all = quiet(record).into_iter().filter(unchanged);
    all.flat_map(|quiet| {
        let differs = |view: &ShownView| differs(record, quiet, view);
        wrong_for_the_bound(record, quiet, differs, |view| !differs(view))
    })
    .collect()
}

/// The clients that take themselves for members by znodes that are gone.
pub fn lost(record: &Record) -> BTreeSet<String> {
    let Some(recovered) = phase(&record.history.events, "recovered") else {
        return BTreeSet::new();
    };
    let all = quiet(record).into_iter().filter(|(first, _)| first.index > recovered);
    all.flat_map(|quiet| {
        let wrong = |view: &ShownView| {
            let registered = &record.history.events[view.at].value["registered"];
            let named = registered["path"].as_str().zip(registered["czxid"].as_i64());
            named.is_some_and(|(path, czxid)| gone(record, quiet, path, czxid))
        };
        wrong_for_the_bound(record, quiet, wrong, |_| false)
    })
    .collect()
}

/// The clients whose registration was not answered after recovery, for the bound, and that did not answer meanwhile
/// that they are members.
pub fn unregistered(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let (Some(recovered), Some(audit)) = (phase(events, "recovered"), phase(events, "audit")) else {
        return BTreeSet::new();
    };
    let pending = |&(sent, end): &(usize, Option<usize>)| {
        let event = &events[sent];
        if sent > audit {
            return false;
        }
        let until = end.filter(|&end| end <= audit).unwrap_or(audit);
        let open = end.is_none_or(|end| end > audit || events[end].kind == EventType::Info);
        let of_client = |other: &Event| other.node == event.node && matches!(other.process, Process::Name(_));
        let died = events[sent..=audit]
            .iter()
            .any(|other| of_client(other) && other.f == "exit");
        let member = |other: &Event| {
            of_client(other) && other.f == "view" && other.kind == EventType::Ok && !other.value["registered"].is_null()
        };
        event.f == "register"
            && matches!(event.process, Process::Number(_))
            && until > recovered
            && open
            && !died
            && events[until].time.saturating_sub(events[sent.max(recovered)].time) >= BOUND
            && !events[sent..=until].iter().any(member)
    };
    let found = operations(events).into_iter().filter(pending);
    found
        .filter_map(|(sent, _)| Some(events[sent].node.as_ref()?.to_string()))
        .collect()
}
