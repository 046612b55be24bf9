//! What the checkers need of a family: how it is judged, what is counted and waited for in its runs, and what a history
//! of it without a plan shows to be promised.

use crate::Results;
use crate::analysis::LatencyKind;
use zooquake_history::operation::{AnyType, Family, Field};
use zooquake_history::{Event, EventType, History, Process, Record};

/// A family and what the checkers need of it.
#[derive(Debug)]
pub struct FamilyChecks {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The whole verdict over a run of it.
    pub check: fn(&Record) -> Results,
    /// The checkers of its own, by the names in `results.json`; those of [`crate::ensemble::CHECKERS`] run for every
    /// family.
    pub checkers: &'static [&'static str],
    /// What is counted and waited for; `None` where no client does anything.
    pub measures: Option<FamilyMeasures>,
    /// What a history of it without a plan promises; `None` if the history is none of the family.
    pub(crate) infer: fn(&History) -> Option<Inference>,
    /// The anomalies that depend on something that only a plan has, each with the words for that.
    pub(crate) needs_plan: &'static [(&'static str, &'static str)],
}

/// What is counted and waited for, in the terms of a family.
#[derive(Debug, PartialEq, Eq)]
pub struct FamilyMeasures {
    /// What is done, in the plural.
    pub units: &'static str,
    /// One of them.
    pub unit: &'static str,
    /// What is waited for, as a heading.
    pub wait: &'static str,
    /// From what to what, in a sentence.
    pub wait_sentence: &'static str,
    /// Whether the clients compete, so that it makes sense to ask whether all get the same share.
    pub compete: bool,
    /// How units are found.
    pub source: UnitSource,
    /// The latencies that the waits are.
    pub latency: LatencyKind,
}

/// How units are found in a history.
#[derive(Debug, PartialEq, Eq)]
pub enum UnitSource {
    /// Grants that were read.
    Grants,
    /// Operations of these names that were answered `ok`; if a field is named, the first of each of its values, and
    /// none without a value.
    Answered(&'static [&'static str], Option<&'static str>),
}

/// What is judged of a history without a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inference {
    /// The variant whose promise is judged; `unknown` where only what all of the family promise is.
    pub variant: &'static str,
    /// From what in the history that was inferred, in words.
    pub basis: &'static str,
}

impl Inference {
    /// What every variant of a family promises.
    pub fn family(basis: &'static str) -> Self {
        let variant = "unknown";
        Self { variant, basis }
    }
}

/// The invocations of clients.
pub(crate) fn invocations(history: &History) -> impl Iterator<Item = &Event> {
    numbered(history).filter(|event| event.kind == EventType::Invoke)
}

/// The answers `ok` of clients.
pub(crate) fn answers(history: &History) -> impl Iterator<Item = &Event> {
    numbered(history).filter(|event| event.kind == EventType::Ok)
}

fn numbered(history: &History) -> impl Iterator<Item = &Event> {
    let events = history.events.iter();
    events.filter(|event| matches!(event.process, Process::Number(_)))
}

/// Whether a client was asked for one of these operations, with this field.
pub(crate) fn asks(history: &History, names: &[&str], field: Field<AnyType>) -> bool {
    invocations(history).any(|event| names.contains(&event.f.as_str()) && event.get(field).is_some())
}

/// Whether an event has a field that is not null.
pub(crate) fn known(event: &Event, field: Field<AnyType>) -> bool {
    event.get(field).is_some_and(|value| !value.is_null())
}
