//! Random histories with something in them that makes evidence doubtful: requests and answers that do not pair, windows
//! that were not healed, recoveries that did not last.
//!
//! Each is made of a random history by a change of which it is known what it leaves open. Nothing of the sort is ever
//! valid, and of liveness nothing is found where recovery is in doubt; what else there is, is found as before, by the
//! definitions ([`crate::plain_definitions`] and the families' own).

/// A test of each family.
macro_rules! of_families {
    ($judge:ident) => {
        of_families! {
            $judge:
            locks super::grants::LOCK,
            read_write_locks super::grants::RWLOCK,
            elections super::grants::ELECTION,
            semaphores super::grants::SEMAPHORE,
            barriers super::rounds::FAMILY,
            gates super::gates::FAMILY,
            commits super::commits::FAMILY,
            queues super::items::FAMILY,
            counters super::counters::FAMILY,
            groups super::groups::FAMILY,
            registers super::registers::FAMILY,
        }
    };
    ($judge:ident: $($name:ident $family:expr),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                $judge(&$family);
            }
        )+
    };
}

pub mod commits;
pub mod counters;
pub mod gates;
pub mod grants;
pub mod groups;
mod healing;
pub mod items;
pub mod registers;
pub mod rounds;
pub mod run_ends;
pub mod unpaired_answers;

use crate::anomaly_tally::AnomalyCounts;
use crate::script::number;
use fastrand::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Results};
use zooquake_history::{Event, EventType, Record};

/// What is found: the anomaly's name, and what it is about.
pub type Claims = BTreeSet<(String, String)>;

/// How histories of one family are made and judged.
pub struct FamilyHistories {
    /// A random history. An innocent one is often valid.
    pub make: fn(u64) -> Record,
    /// What the checkers found in a history.
    found: fn(&Record, &Results) -> Claims,
    /// What there is by the definitions.
    wanted: fn(&Record) -> Claims,
    /// An operation that one of its clients may be asked for, with its value.
    another: fn(&mut Rng) -> (&'static str, Value),
    /// Whether clients wait for one another, which is a matter of liveness.
    waits: bool,
}

/// How many spoilt histories of a family are drawn.
const USUAL: u64 = 4_000;

/// Draws histories of a family for `judge` to spoil; more than one of four hundred has to be of each sort.
fn drawn(family: &FamilyHistories, salt: u64, sorts: &[&str], judge: impl Fn(u64, Rng, Record, &mut AnomalyCounts)) {
    let (all, mut counts) = (crate::histories(USUAL), AnomalyCounts::new());
    for seed in 0..all {
        judge(seed, Rng::with_seed(seed ^ salt), (family.make)(seed), &mut counts);
    }
    println!("{counts:?}");
    for sort in sorts {
        let with = counts.get(*sort).copied().unwrap_or_default();
        assert!(with > all / 400, "{sort} in {with} of {all}: {counts:?}");
    }
}

/// The anomalies about which more is known only after a recovery that lasted.
const LIVENESS: [&str; 7] = [
    "lost-wakeup",
    "no-leader",
    "stuck-barrier",
    "stuck-queue",
    "blocked-transaction",
    "stale-view",
    "lost-member",
];

fn claim(kind: &str, about: impl ToString) -> (String, String) {
    (kind.to_owned(), about.to_string())
}

fn of_kind<'r>(results: &'r Results, kind: &str) -> impl Iterator<Item = &'r Anomaly> {
    results.anomalies.iter().filter(move |anomaly| anomaly.kind == kind)
}

/// Puts an event before the one that is at `at` now, at the same time.
fn insert(record: &mut Record, at: usize, mut event: Event) {
    let events = &mut record.history.events;
    event.time = match events.get(at).or(events.last()) {
        Some(next) => next.time,
        None => 0,
    };
    events.insert(at, event);
    renumber(record, |index| index + usize::from(index > at));
}

fn remove(record: &mut Record, at: usize) {
    record.history.events.remove(at);
    renumber(record, |index| index - usize::from(index > at));
}

/// Gives the events their indexes, and the readings of the tree their new places among them.
fn renumber(record: &mut Record, place: impl Fn(usize) -> usize) {
    number(&mut record.history.events);
    for reading in record.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        reading.index = place(reading.index);
        reading.end_index = place(reading.end_index);
    }
}

/// Where each request of a numbered process or of a client's named process was sent and answered.
pub fn operations(events: &[Event]) -> Vec<(usize, Option<usize>)> {
    let client = |event: &&Event| event.node.is_some();
    let of_clients = events.iter().filter(client);
    let sent = of_clients.filter(|event| event.kind == EventType::Invoke);
    let pair = |event: &Event| {
        let same = |other: &&Event| other.process == event.process && other.f == event.f;
        let next = events[event.index + 1..].iter().find(same);
        let end = next.filter(|next| next.kind != EventType::Invoke);
        (event.index, end.map(|end| end.index))
    };
    sent.map(pair).collect()
}

/// A history for a message.
pub fn lines(record: &Record) -> String {
    let events = record.history.events.iter();
    events.map(zooquake_history::jsonl::to_line).collect()
}
