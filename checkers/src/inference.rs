//! What the operations of a history without a plan show of its family.

use zooquake_history::operation::{AnyType, Field};
use zooquake_history::{Event, EventType, History, Process};

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
