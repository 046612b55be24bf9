//! Histories that end before their runs did, with all the evidence around them: what lies behind the end of a history
//! convicts nobody.

use super::plan;
use crate::planning::case::Case;
use crate::run::simulation;
use zooquake_checkers::{Verdict, check};
use zooquake_history::Record;

/// A variant of each family that keeps its promise under the faults given.
const KEPT: [(&str, &[&str]); 10] = [
    ("lock/fenced", &["pause", "kill"]),
    ("rwlock/fenced", &["expire"]),
    ("semaphore/leases", &["disconnect"]),
    ("election/epoch", &["kill"]),
    ("barrier/double", &["disconnect"]),
    ("barrier/tutorial", &[]),
    ("queue/claimed", &["drop-reply", "kill"]),
    ("commit/atomic", &["kill"]),
    ("register/quorum-read", &["partition"]),
    ("counter/versioned", &["drop-reply"]),
];

/// The runs: each has a schedule of its own, and no violation.
fn runs() -> impl Iterator<Item = (&'static str, Record)> {
    KEPT.iter().map(|&(name, faults)| {
        let kept = (1..50).find_map(|seed| {
            let record = simulation::record(&Case::new(plan(name, seed, 4_000, faults)).unwrap()).unwrap();
            (check(&record).verdict != Verdict::Invalid).then_some(record)
        });
        (name, kept.expect("it keeps its promise"))
    })
}

/// The anomalies that convict.
fn convicted(record: &Record) -> Vec<String> {
    let found = check(record).anomalies.into_iter().filter(|one| !one.advisory);
    found.map(|one| format!("{}: {}", one.kind, one.why)).collect()
}

#[test]
fn no_prefix_of_an_innocent_history_convicts() {
    for (name, whole) in runs() {
        let (mut cut, mut unknown) = (whole.clone(), 0);
        for events in (0..whole.history.events.len()).rev() {
            cut.history.events.truncate(events);
            assert_eq!(convicted(&cut), [""; 0], "{name}, cut after {events} events");
            unknown += usize::from(check(&cut).verdict == Verdict::Unknown);
        }
        assert_eq!(unknown, whole.history.events.len(), "{name}");
    }
}

#[test]
fn no_innocent_history_without_one_of_its_events_convicts() {
    for (name, whole) in runs() {
        for at in 0..whole.history.events.len() {
            let mut less = whole.clone();
            let lost = less.history.events.remove(at);
            for event in &mut less.history.events[at..] {
                event.index -= 1;
            }
            assert_eq!(convicted(&less), [""; 0], "{name} without {lost:?}");
        }
    }
}
