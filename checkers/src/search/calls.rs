//! The operations of a history's numbered processes: invocations with their completions.

use crate::{Event, EventType, Process, Value};
use std::collections::{HashMap, HashSet};

/// An operation.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its invocation; its completion if `unsent`.
    pub invoke: &'a Event,
    /// Its completion; `None` if there is none, or none that is certainly its own.
    pub end: Option<&'a Event>,
    /// The value of its invocation; of an independent key's operation without the key.
    pub asked: &'a Value,
    /// The value of its completion, likewise; null if there is none.
    pub answered: &'a Value,
    /// Whether its invocation is missing: it may have been sent at any time.
    pub unsent: bool,
}

impl<'a> Call<'a> {
    fn new(invoke: &'a Event) -> Self {
        Self {
            invoke,
            end: None,
            asked: &invoke.value,
            answered: &Value::Null,
            unsent: false,
        }
    }

    /// The process.
    pub fn process(&self) -> &'a Process {
        &self.invoke.process
    }

    /// The name of the operation.
    pub fn f(&self) -> &'a str {
        &self.invoke.f
    }

    /// How it ended; `info` also if there is no end.
    pub fn outcome(&self) -> EventType {
        self.end.map_or(EventType::Info, |end| end.kind)
    }

    /// Position from which it may take effect.
    pub fn from(&self) -> usize {
        if self.unsent { 0 } else { self.invoke.index }
    }

    /// Position of its completion.
    pub fn end_index(&self) -> Option<usize> {
        self.end.map(|end| end.index)
    }
}

/// Pairs the events, and says what is wrong at the first event that cannot be paired.
///
/// From such an event on, nothing that its process did has a known outcome: an invocation has no completion, and a
/// completion is an operation of its own, sent at any time. So what the others did can be judged all the same.
pub fn calls(events: &[Event]) -> (Vec<Call<'_>>, Option<String>) {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut open: HashMap<&Process, usize> = HashMap::new();
    let mut doubtful: HashSet<&Process> = HashSet::new();
    // What doubtful processes have invoked, of which any later completion of that name may be.
    let mut waiting: HashSet<(&Process, &str)> = HashSet::new();
    let mut problem = None;
    let numbered = |event: &&Event| matches!(event.process, Process::Number(_));
    for event in events.iter().filter(numbered) {
        let (process, at) = (&event.process, event.index);
        if event.kind == EventType::Invoke {
            let before = open.insert(process, calls.len());
            if let Some(before) = before.filter(|_| doubtful.insert(process)) {
                waiting.insert((process, calls[before].f()));
                let before = calls[before].invoke.index;
                problem.get_or_insert(format!(
                    "process {process} invokes an operation at event {at} while that of event {before} is in flight"
                ));
            }
            if doubtful.contains(process) {
                waiting.insert((process, &event.f));
            }
            calls.push(Call::new(event));
            continue;
        }
        match open.get(process).copied() {
            Some(call) if calls[call].f() == event.f && !doubtful.contains(process) => {
                open.remove(process);
                calls[call].end = Some(event);
                calls[call].answered = &event.value;
                continue;
            }
            // What a process tells beside its operations.
            None if event.kind == EventType::Info => continue,
            _ => {}
        }
        if doubtful.insert(process) {
            waiting.extend(open.get(process).map(|&call| (process, calls[call].f())));
            problem.get_or_insert(format!(
                "process {process} completes {} at event {at} without having invoked it",
                event.f
            ));
        }
        if event.kind != EventType::Fail && !waiting.contains(&(process, event.f.as_str())) {
            calls.push(Call {
                unsent: true,
                ..Call::new(event)
            });
        }
    }
    (calls, problem)
}
