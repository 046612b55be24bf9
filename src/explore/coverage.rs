//! What schedules have exercised: which faults bit in which state, and what happened in some schedule at least.
//!
//! The second are sometimes-assertions: an exploration that never lost a reply has not tried what a recipe does then.

use super::space::state;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::Results;
use zooquake_history::operation::{commit, control, grant};
use zooquake_history::{EventType, Process, Record};

/// Something that is to happen in some schedule.
type Sometimes = (&'static str, fn(&Record, &Results) -> bool);

/// All of them. Which of them can happen depends on the faults asked for.
const SOMETIMES: &[Sometimes] = &[
    ("an operation ended with an unknown outcome", |record, _| {
        ended(record, EventType::Info)
    }),
    ("an operation was refused", |record, _| ended(record, EventType::Fail)),
    ("a fault struck while an operation was pending", |record, _| {
        overlaps(record)
    }),
    ("a client's process was started again", |record, _| {
        event_count(record, "hello") > record.plan.cluster.clients
    }),
    ("a client learnt that it had lost what it held", |record, _| {
        event_count(record, "lost") > 0
    }),
    ("another server led than before", |record, _| {
        let led = record.servers.iter().flatten().filter(|sample| sample.mode == "leader");
        led.map(|sample| sample.epoch).collect::<BTreeSet<_>>().len() > 1
    }),
    ("a holder that could not confirm was asked to work", |record, _| {
        asked_to_work(record)
    }),
    ("a site was asked for one decision again after recovery", |record, _| {
        asked_again(record)
    }),
    (
        "somebody waited while nobody held, and no fault was near",
        |_, results| {
            let looked_at = |name: &str| results.checkers.get(name).and_then(|ran| ran["looked_at"].as_u64());
            ["idle-lock", "leaderless"]
                .into_iter()
                .any(|name| looked_at(name) > Some(0))
        },
    ),
];

/// How many events have this name.
fn event_count(record: &Record, f: &str) -> usize {
    record.history.events.iter().filter(|event| event.f == f).count()
}

fn ended(record: &Record, kind: EventType) -> bool {
    let of_clients = |process: &Process| matches!(process, Process::Number(_));
    record
        .history
        .events
        .iter()
        .any(|event| event.kind == kind && of_clients(&event.process))
}

fn overlaps(record: &Record) -> bool {
    let mut pending = 0_usize;
    for event in &record.history.events {
        match (&event.process, event.kind) {
            (Process::Number(_), EventType::Invoke) => pending += 1,
            (Process::Number(_), _) => pending = pending.saturating_sub(1),
            _ if event.phase() == Some("on") && pending > 0 => return true,
            _ => {}
        }
    }
    false
}

/// Whether a client was asked to work right after two answers to `confirm` of unknown outcome.
fn asked_to_work(record: &Record) -> bool {
    let mut unknown: BTreeMap<&str, u32> = BTreeMap::new();
    for event in &record.history.events {
        let Some(node) = event.node.as_deref() else { continue };
        let named = matches!(event.process, Process::Name(_));
        match (event.f.as_str(), event.kind) {
            (control::f::CONFIRM, EventType::Info) => *unknown.entry(node).or_default() += 1,
            (control::f::CONFIRM, EventType::Ok) => drop(unknown.remove(node)),
            (grant::f::WRITE | grant::f::WORK | grant::f::READ, EventType::Invoke) if unknown.get(node) >= Some(&2) => {
                return true;
            }
            _ if !named => drop(unknown.remove(node)),
            _ => {}
        }
    }
    false
}

/// Whether a site was asked for the same decision twice after recovery.
fn asked_again(record: &Record) -> bool {
    let events = &record.history.events;
    let recovered = events.iter().position(|event| event.entered() == Some("recovered"));
    let mut asked = BTreeSet::new();
    let after = events.iter().skip(recovered.unwrap_or(events.len()));
    let mut questions = after.filter(|event| event.f == commit::f::DECIDED && event.kind == EventType::Invoke);
    questions.any(|event| !asked.insert((event.node.as_deref(), event.tx())))
}

/// Counts over schedules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// By kind of fault and the state that it waited for: windows planned, and windows that count, since they struck
    /// while somebody worked and were seen to.
    pub windows: BTreeMap<String, (u64, u64)>,
    /// How many schedules each thing happened in that is to happen in some.
    pub sometimes: BTreeMap<&'static str, u64>,
    /// By checker how many schedules had something that it looked at.
    pub judged: BTreeMap<String, u64>,
}

impl Coverage {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            windows: BTreeMap::new(),
            sometimes: SOMETIMES.iter().map(|(name, _)| (*name, 0)).collect(),
            judged: BTreeMap::new(),
        }
    }

    /// Counts a schedule.
    pub fn count(&mut self, record: &Record, results: &Results) {
        for window in &record.plan.windows {
            let name = format!("{} {}", window.fault, state(window));
            let (planned, bit) = self.windows.entry(name).or_default();
            *planned += 1;
            let counts = results
                .windows
                .iter()
                .any(|result| result.id == window.id && result.counts);
            *bit += u64::from(counts);
        }
        for &(name, happened) in SOMETIMES {
            *self.sometimes.entry(name).or_default() += u64::from(happened(record, results));
        }
        for (checker, said) in &results.checkers {
            let looked = said["looked_at"].as_u64().is_some_and(|things| things > 0);
            *self.judged.entry(checker.clone()).or_default() += u64::from(looked);
        }
    }

    /// Counts what another has counted.
    pub fn add(&mut self, other: &Self) {
        for (name, (planned, bit)) in &other.windows {
            let (all, bitten) = self.windows.entry(name.clone()).or_default();
            *all += planned;
            *bitten += bit;
        }
        for (name, count) in &other.sometimes {
            *self.sometimes.entry(name).or_default() += count;
        }
        for (checker, count) in &other.judged {
            *self.judged.entry(checker.clone()).or_default() += count;
        }
    }
}
