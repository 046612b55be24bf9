//! The operations of a history's numbered processes: invocations with their completions.

use crate::history::{Event, EventType, Process};
use std::collections::HashMap;

/// An operation.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its invocation.
    pub invoke: &'a Event,
    /// Its completion; `None` if there is none.
    pub end: Option<&'a Event>,
}

impl Call<'_> {
    /// The process.
    pub fn process(&self) -> &Process {
        &self.invoke.process
    }

    /// The name of the operation.
    pub fn f(&self) -> &str {
        &self.invoke.f
    }

    /// How it ended; `info` also if there is no end.
    pub fn outcome(&self) -> EventType {
        self.end.map_or(EventType::Info, |end| end.kind)
    }

    /// Position of its completion.
    pub fn end_index(&self) -> Option<usize> {
        self.end.map(|end| end.index)
    }
}

/// Pairs the events, in the order of the invocations; and says what is wrong at the first event that cannot be paired,
/// before which all are.
pub fn calls(events: &[Event]) -> (Vec<Call<'_>>, Option<String>) {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut open: HashMap<&Process, usize> = HashMap::new();
    let numbered = events
        .iter()
        .filter(|event| matches!(event.process, Process::Number(_)));
    for event in numbered {
        let (process, at) = (&event.process, event.index);
        if event.kind == EventType::Invoke {
            if let Some(before) = open.insert(process, calls.len()) {
                let before = calls[before].invoke.index;
                let what = format!(
                    "process {process} invokes an operation at event {at} while that of event {before} is in flight"
                );
                return (calls, Some(what));
            }
            calls.push(Call {
                invoke: event,
                end: None,
            });
            continue;
        }
        match open.remove(process) {
            Some(call) if calls[call].f() == event.f => calls[call].end = Some(event),
            // What a process tells beside its operations.
            None if event.kind == EventType::Info => {}
            _ => {
                let what = format!(
                    "process {process} completes {} at event {at} without having invoked it",
                    event.f
                );
                return (calls, Some(what));
            }
        }
    }
    (calls, None)
}
