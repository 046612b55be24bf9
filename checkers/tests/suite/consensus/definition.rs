//! What diverging replicas are, taken literally from the events.

use std::collections::{BTreeMap, BTreeSet};
use zooquake_history::{Event, Record};

/// Two replicas and an offset at which they have different messages.
pub type DivergingPair = (String, String, u64);

/// A record that a replica stored: the event, its offset, its message and its epoch.
type StoredLine = (usize, u64, u64, Option<u64>);

fn number(event: &Event, field: &str) -> Option<u64> {
    event.value.get(field)?.as_u64()
}

fn announced<'a>(record: &'a Record, replica: &'a str, f: &'a str) -> impl Iterator<Item = &'a Event> {
    let events = record.history.events.iter();
    events.filter(move |event| event.is_of(replica) && event.f == f)
}

/// The records that stand in a log at the end: nothing was stored or cut off at their offsets, or before these, later.
fn log(record: &Record, replica: &str) -> Vec<StoredLine> {
    let line = |event: &Event| {
        let (offset, value) = (number(event, "offset")?, number(event, "value")?);
        Some((event.index, offset, value, number(event, "round")))
    };
    let stored: Vec<StoredLine> = announced(record, replica, "stored").filter_map(line).collect();
    let stands = |&(at, offset, ..): &StoredLine| {
        let replaced = stored.iter().any(|other| other.0 > at && other.1 <= offset);
        let mut cuts = announced(record, replica, "truncated");
        let cut = cuts.any(|event| event.index > at && number(event, "offset") <= Some(offset));
        !replaced && !cut
    };
    stored.iter().copied().filter(stands).collect()
}

/// Whether a replica runs at the end: nothing killed it, or something of its own came after that.
fn runs(record: &Record, replica: &str) -> bool {
    let kills = |event: &&Event| {
        let on = event.is_of("nemesis") && event.f == "kill" && event.phase() == Some("on");
        on && event.target() == Some(replica)
    };
    let events = || record.history.events.iter();
    let Some(killed) = events().rfind(kills) else {
        return true;
    };
    events().any(|event| event.is_of(replica) && event.index > killed.index)
}

/// The replicas that the register had as in sync last.
fn in_sync(record: &Record) -> BTreeSet<String> {
    let last = announced(record, "register1", "in-sync").last();
    let names = last.and_then(|event| event.value.get("replicas")?.as_array());
    let names = names.into_iter().flatten().filter_map(|name| name.as_str());
    names.map(str::to_owned).collect()
}

/// Every two replicas that run and are in sync at the end of a run, and have different messages at an offset, and
/// records of one epoch at that offset or a later one; with each such offset.
pub fn diverging(record: &Record) -> BTreeSet<DivergingPair> {
    let ended = record
        .history
        .events
        .iter()
        .any(|event| event.entered() == Some("done"));
    let logs: BTreeMap<String, Vec<StoredLine>> = in_sync(record)
        .into_iter()
        .filter(|replica| ended && runs(record, replica))
        .map(|replica| (replica.clone(), log(record, &replica)))
        .collect();
    let mut found = BTreeSet::new();
    for (one, first) in &logs {
        for (other, second) in logs.iter().filter(|(other, _)| *other > one) {
            let both = || {
                let pairs = first
                    .iter()
                    .flat_map(|one| second.iter().map(move |other| (one, other)));
                pairs.filter(|(one, other)| one.1 == other.1)
            };
            let shared = |from: u64| both().any(|(one, other)| one.1 >= from && one.3.is_some() && one.3 == other.3);
            let differ = both().filter(|(one, other)| one.2 != other.2 && shared(one.1));
            found.extend(differ.map(|(line, _)| (one.clone(), other.clone(), line.1)));
        }
    }
    found
}
