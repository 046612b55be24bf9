//! Groups: each anomaly by one history, silence on its nearest innocent twins, and random histories of a model of
//! ZooKeeper against the definitions and against all executions.

pub mod agreement;
pub mod definitions;
mod executions;
mod lost_members;
mod phantoms_and_regressions;
pub mod quiet_definitions;
mod requirements;
mod simulated_ends;
pub mod simulated_groups;
mod simulated_sessions;
mod simulated_views;
mod spreads;
mod stale_views;
mod values;

use crate::script;
use serde_json::{Value, json};
use zooquake_history::{EventType, Process, Record, TreeReadings, evidence::Znode};

/// A run by three clients with this history; all three readings of the tree have these members, written as in
/// [`crate::script`].
pub fn group(text: &str, members: &str) -> Record {
    group_read(text, [members; 3])
}

/// The same, with the members in each reading.
pub fn group_read(text: &str, members: [&str; 3]) -> Record {
    let mut record = unread(text);
    record.tree = Some(read(&record, members.map(znodes)));
    record
}

/// The same of a run with a calm: the members in the readings around it, and those in all readings after it.
pub fn group_in_calm(text: &str, calm: [&str; 2], members: &str) -> Record {
    let mut record = unread(text);
    let places = ["calm", "final"].map(|phase| entered(&record, phase));
    let mut readings = script::readings(places.into_iter().zip(calm.map(znodes)));
    readings
        .readings
        .extend(read(&record, [members; 3].map(znodes)).readings);
    record.tree = Some(readings);
    record
}

fn unread(text: &str) -> Record {
    let mut record = script::record("membership", "cached", &["/members"], 3, script::history(text));
    record.history.events.iter_mut().for_each(nest);
    record
}

/// Where a phase was entered; the end of the history if it was not.
fn entered(record: &Record, phase: &str) -> usize {
    let events = &record.history.events;
    let at = events.iter().rposition(|event| event.entered() == Some(phase));
    at.map_or(events.len(), |at| at + 1)
}

/// An answer to `view` has its view in a field of its own.
fn nest(event: &mut zooquake_history::Event) {
    let named = matches!(event.process, Process::Name(_));
    if !named || event.f != "view" || event.kind != EventType::Ok {
        return;
    }
    let mut value: Value = serde_json::from_str(&event.value.to_string()).expect("it is JSON");
    let fields = value.as_object_mut().expect("an object");
    let view: serde_json::Map<String, Value> = ["n", "session", "members"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), fields.remove(name)?)))
        .collect();
    fields.insert("view".to_owned(), json!(view));
    event.value = value.into();
}

/// Readings of the tree: after the phase `views` began, after the phase `audit` began, and at the end.
pub fn read(record: &Record, znodes: [Vec<Znode>; 3]) -> TreeReadings {
    let places = [
        entered(record, "views"),
        entered(record, "audit"),
        record.history.events.len(),
    ];
    script::readings(places.into_iter().zip(znodes))
}

/// Znodes of members, `m1@5/7:17,…`, of the session `0x1` and so on.
fn znodes(members: &str) -> Vec<Znode> {
    let each = members.split(',').filter(|text| !text.is_empty());
    let znode = |text: &str| {
        let (znode, value) = text.split_once(':').expect("a value");
        let (znode, mzxid) = znode.split_once('/').expect("an mzxid");
        let (member, czxid) = znode.split_once('@').expect("a czxid");
        Znode {
            mzxid: mzxid.parse().expect("a number"),
            data: value.to_owned(),
            ..script::znode(
                &format!("/members/{member}"),
                czxid.parse().expect("a number"),
                &format!("0x{}", &member[1..2]),
            )
        }
    };
    each.map(znode).collect()
}

/// The answers of one client to `view` from a second on, one in each of so many seconds, each with these fields.
pub fn asked(client: &str, from: u64, seconds: u64, answer: &str) -> String {
    let one = |second: u64| format!("{} {client} ask view; {client} answer view {answer}\n", from + second);
    (0..=seconds).map(one).collect()
}
