//! Znodes of holders that another client deleted, by looking at every execution.

use crate::brute_force::{confirms, sent};
use crate::deletions::known_deletions;
use crate::liveness::node;
use serde_json::Value;
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

/// A znode by which a client holds. Positions are those of events.
struct ZnodeHold<'a> {
    read: usize,
    who: &'a str,
    czxid: i64,
    path: &'a str,
    session: Option<&'a str>,
    /// Where it was asked to end its hold.
    asked_back: Option<usize>,
    /// Where it denied that it holds, or its process ended, by the time at which it answered that.
    denied: Vec<usize>,
    /// The requests that confirm it, each with its answer.
    confirms: Vec<(usize, usize)>,
}

/// Deletions of holders' znodes by other sessions than their creators' and those that the holders name for them: where
/// each grant was read, and whether every execution that fits the history has its client hold by the znode, or until it
/// is granted, when that goes.
///
/// An execution has a moment of the deletion, a moment at which the client held no more, and for each `confirm` one of
/// its write and a later one of its look, all between events or after the last; several may lie between the same two
/// events, in any order. A deletion comes before an answer that names a later transaction. Belief ends after the last
/// look of a confirm that reports a hold, and after the release was sent if nothing was denied.
pub fn naive(record: &Record) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let place = |read: usize| {
        let (answer, who) = (&events[read], node(&events[read]));
        let name = answer.grant()?;
        let release = |event: &Event| event.f == "release" && event.grant() == Some(name);
        let denies = |event: &Event| {
            let says = event.f == "lost"
                || event
                    .error
                    .as_deref()
                    .is_some_and(|error| error.starts_with("not-held"));
            node(event) == who && (says && event.grant() == Some(name) || event.f == "exit")
        };
        let until = answered(events, &release);
        let disclaims = |&at: &usize| {
            let asked = sent(events, at).is_some_and(|sent| (read + 1..=until).contains(&sent));
            let event = &events[at];
            event.f == "confirm" && node(event) == who && event.holds() == Some(false) && asked
        };
        let denied = (read + 1..=until).filter(|&at| denies(&events[at]));
        Some(ZnodeHold {
            read,
            who,
            czxid: answer.czxid()?,
            path: answer.path()?,
            session: answer.session(),
            asked_back: asked(events, &release),
            denied: denied.chain((read + 1..events.len()).filter(disclaims)).collect(),
            confirms: confirms(events, name),
        })
    };
    let granted = |&at: &usize| events[at].f == "acquire" && events[at].kind == EventType::Ok;
    judged(record, (0..events.len()).filter(granted).filter_map(place).collect())
}

/// The same of the places of members in rounds.
pub fn naive_members(record: &Record) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let place = |read: usize| {
        let (answer, who) = (&events[read], node(&events[read]));
        let entered = sent(events, read)?;
        let later = &events[entered..];
        let leaves = |event: &Event| matches!(event.f.as_str(), "leave" | "close") && node(event) == who;
        let until = entered + answered(later, &leaves);
        let over =
            |event: &Event| event.session() == answer.session() && matches!(event.state(), Some("expired" | "closed"));
        let denies = |event: &Event| node(event) == who && (event.f == "exit" || event.f == "session" && over(event));
        Some(ZnodeHold {
            read,
            who,
            czxid: answer.czxid()?,
            path: answer.path()?,
            session: answer.session(),
            asked_back: asked(later, &leaves).map(|at| entered + at),
            denied: (read + 1..=until).filter(|&at| denies(&events[at])).collect(),
            confirms: vec![],
        })
    };
    let inside = |&at: &usize| events[at].f == "enter" && events[at].kind == EventType::Ok;
    judged(record, (0..events.len()).filter(inside).filter_map(place).collect())
}

fn asked(events: &[Event], ends: &dyn Fn(&Event) -> bool) -> Option<usize> {
    events
        .iter()
        .position(|event| ends(event) && event.kind == EventType::Invoke)
}

/// Where the first request that ends a hold was answered; the last event if it was not.
fn answered(events: &[Event], ends: &dyn Fn(&Event) -> bool) -> usize {
    let asked = asked(events, ends);
    let own = |at: &usize| ends(&events[*at]) && sent(events, *at) == asked && asked.is_some();
    let certain = |at: &usize| own(at) && matches!(events[*at].kind, EventType::Ok | EventType::Fail);
    (0..events.len()).find(certain).unwrap_or(events.len() - 1)
}

fn judged(record: &Record, places: Vec<ZnodeHold<'_>>) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let names = |event: &Event, session: &str| {
        let own = matches!(event.f.as_str(), "hello" | "session" | "acquire") && event.session() == Some(session);
        let all = event.sessions().into_iter().flatten();
        own || event.f == "quiesce" && all.filter_map(|one| one.as_str()).any(|one| one == session)
    };
    let mut found = BTreeSet::new();
    for [create, delete] in known_deletions(record) {
        let (creator, by) = (create.session.as_str(), delete.session.as_str());
        let clients: BTreeSet<&str> = events.iter().filter(|event| names(event, by)).map(node).collect();
        for place in places.iter().filter(|place| creator != by && place.session != Some(by)) {
            if place.czxid == create.zxid && place.path == delete.paths[0] {
                let other = !clients.is_empty() && !clients.contains(place.who);
                found.insert((place.read, other && !innocent(events, place, delete.zxid)));
            }
        }
    }
    found
}

/// Whether some execution has the client hold no more when its znode goes in a transaction. Two moments, `2 * n` and
/// `2 * n + 1`, are between event `n` and the one before it: a confirm is written and belief ends after that, both
/// there, and all later deletions follow.
fn innocent(events: &[Event], place: &ZnodeHold<'_>, zxid: i64) -> bool {
    let named = |event: &Event| latest(&serde_json::to_value(&event.value).expect("a value"));
    let later = |event: &Event| event.kind == EventType::Ok && named(event) > Some(zxid);
    let after_all = events.len() + 1;
    let first_later = events.iter().position(later).unwrap_or(after_all);
    let first_end = match place.denied.is_empty() {
        true => place.asked_back.map_or(after_all, |sent| sent + 1),
        false => 0,
    };
    let fits = |deletion: usize, end: usize| {
        place.confirms.iter().all(|&(sent, answered)| {
            let written = events[answered].zxid().expect("of its write");
            let ordered = |write: usize| {
                if written > zxid {
                    deletion <= write
                } else {
                    write <= deletion
                }
            };
            (2 * (sent + 1)..=2 * answered + 1).any(|write| write < end && ordered(write))
        })
    };
    let ends = 2 * first_end..=2 * after_all + 1;
    let mut moments = ends.flat_map(|end| (0..=2 * first_later + 1).map(move |deletion| (deletion, end)));
    // Of a history that no execution fits nothing is certain.
    let possible = moments.clone().any(|(deletion, end)| fits(deletion, end));
    !possible || moments.any(|(deletion, end)| end <= deletion && fits(deletion, end))
}

/// The latest transaction that a value names, in whichever field.
pub fn latest(value: &Value) -> Option<i64> {
    let of_field = |(name, value): (&String, &Value)| match name.as_str() {
        "czxid" | "mzxid" | "zxid" if value.is_i64() => value.as_i64(),
        _ => latest(value),
    };
    match value {
        Value::Object(fields) => fields.iter().filter_map(of_field).max(),
        Value::Array(all) => all.iter().filter_map(latest).max(),
        _ => None,
    }
}
