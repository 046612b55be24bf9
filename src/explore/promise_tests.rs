//! What variants promise, in memory: under each kind of fault, and under all of them together, no schedule shows an
//! anomaly that is not declared. Queues, registers and counters are tried so in `run`.

use super::failure;
use super::space::Space;
use crate::run::simulation;
use std::collections::BTreeMap;
use zooquake_checkers::check;
use zooquake_history::{EventType, Process, Record};

const FAULTS: [&str; 12] = [
    "drop-reply",
    "hold-reply",
    "disconnect",
    "expire",
    "kill",
    "pause",
    "partition",
    "lag",
    "latency",
    "stall",
    "move",
    "pin",
];

/// Schedules under each kind of fault, and under all of them.
const SCHEDULES: u64 = 12;

/// What the schedules of a variant show.
#[derive(Default)]
struct PromiseResult {
    /// Each anomaly, and whether it is declared, with the faults and the seed of a schedule.
    anomalies: BTreeMap<(String, bool), (String, u64)>,
    /// Windows of each kind of fault that count.
    struck: BTreeMap<String, usize>,
    /// Operations that were answered with ok.
    done: usize,
}

impl PromiseResult {
    fn play(variant: &str) -> Self {
        let mut shown = Self::default();
        for faults in FAULTS.iter().map(std::slice::from_ref).chain([&FAULTS[..]]) {
            let space = Space {
                variant: variant.into(),
                servers: 3,
                clients: 4,
                ops: 6,
                windows: 3,
                faults: faults.iter().map(|fault| fault.to_string()).collect(),
                ..Space::default()
            };
            let space = space.resolve().unwrap();
            for seed in 0..SCHEDULES {
                let record = simulation::record(&space.case(seed)).unwrap();
                shown.add(&record, (faults, seed));
            }
        }
        shown
    }

    fn add(&mut self, record: &Record, (faults, seed): (&[&str], u64)) {
        let results = check(record);
        let failures = failure::signatures(record, &results.anomalies, None).into_iter();
        let failures = failures.map(|(signature, _)| (signature.anomaly, signature.known));
        // A client that is frozen, or whose session was closed elsewhere, cannot learn in time that it holds no more.
        // All others do.
        let late = faults.iter().any(|fault| ["pause", "expire"].contains(fault));
        let believed = results
            .anomalies
            .iter()
            .filter(|one| one.kind.starts_with("stale-") && one.advisory)
            .filter(|one| !late && one.kind != "stale-read");
        for found in failures.chain(believed.map(|one| (one.kind.clone(), false))) {
            self.anomalies.entry(found).or_insert((faults.join(","), seed));
        }
        for window in results.windows.iter().filter(|window| window.counts) {
            *self.struck.entry(window.fault.clone()).or_default() += 1;
        }
        let done = |event: &&zooquake_history::Event| {
            event.kind == EventType::Ok && matches!(event.process, Process::Number(_))
        };
        self.done += record.history.events.iter().filter(done).count();
    }
}

/// Nothing is shown that is not declared, something was done, and every kind of fault struck. Gives the anomalies.
fn kept(variant: &str) -> Vec<String> {
    let PromiseResult {
        anomalies,
        struck,
        done,
    } = PromiseResult::play(variant);
    let news: Vec<_> = anomalies.iter().filter(|((_, known), _)| !known).collect();
    assert!(news.is_empty(), "{variant}: {news:?}");
    assert!(done > 1_000, "{variant}: {done} operations");
    assert!(
        FAULTS.iter().all(|fault| struck.contains_key(*fault)),
        "{variant}: {struck:?}"
    );
    anomalies.into_keys().map(|(anomaly, _)| anomaly).collect()
}

#[test]
fn what_one_or_few_hold_is_held_by_no_more() {
    for variant in [
        "lock/protected",
        "lock/fenced",
        "rwlock/fenced",
        "semaphore/leases",
        "semaphore/timed",
    ] {
        kept(variant);
    }
}

#[test]
fn one_leads_at_a_time_and_its_epoch_is_the_highest() {
    for variant in ["election/acknowledged", "election/epoch"] {
        kept(variant);
    }
}

#[test]
fn all_enter_or_none_does() {
    kept("barrier/double");
}

#[test]
fn nobody_passes_a_gate_that_stands_and_all_pass_one_that_was_lifted() {
    kept("barrier/gate");
}

#[test]
fn commits_are_atomic_and_only_the_tutorials_block() {
    assert_eq!(kept("commit/atomic"), [""; 0]);
    for variant in ["commit/broadcast", "commit/coordinated", "commit/ephemeral"] {
        assert_eq!(kept(variant), ["blocked-transaction"], "{variant}");
    }
}
