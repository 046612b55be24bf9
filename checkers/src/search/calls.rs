//! The operations of a history's numbered processes, invocations with their completions; and values of events as the
//! search has them, and back: what the texts of JSON stand for is resolved.

use crate::text::{count, if_any};
use std::collections::{HashMap, HashSet};
use zooquake_history::edn::{Edn, from_json, to_json};
use zooquake_history::{Event, EventType, Process, Value};
use zooquake_linearizability::{Call, CallOutcome, Value as Searched};

/// An operation.
#[derive(Debug, Clone, Copy)]
struct Pair<'a> {
    /// Its invocation; its completion if `unsent`.
    invoke: &'a Event,
    /// Its completion; `None` if there is none, or none that is certainly its own.
    end: Option<&'a Event>,
    /// Whether its invocation is missing: it may have been sent at any time.
    unsent: bool,
}

impl<'a> Pair<'a> {
    fn new(invoke: &'a Event) -> Self {
        Self {
            invoke,
            end: None,
            unsent: false,
        }
    }

    /// The operation as the search has it.
    fn call(&self) -> Option<Call<'a>> {
        let Process::Number(process) = self.invoke.process else {
            return None;
        };
        let outcome = match self.end.map(|end| end.kind) {
            Some(EventType::Ok) => CallOutcome::Ok,
            Some(EventType::Fail) => CallOutcome::Fail,
            Some(EventType::Info | EventType::Invoke) | None => CallOutcome::Info,
        };
        Some(Call {
            process,
            f: &self.invoke.f,
            invoke: self.invoke.index,
            complete: self.end.map(|end| end.index),
            outcome,
            asked: searched(&self.invoke.value),
            answered: self.end.map(|end| searched(&end.value)).unwrap_or_default(),
            error: self.end.and_then(|end| end.error.as_deref()),
            unsent: self.unsent,
        })
    }
}

/// Whether an event is of a process that has a name, and is not Jepsen's nemesis.
pub fn is_of_named_process(event: &Event) -> bool {
    matches!(event.process, Process::Name(_)) && !event.is_of("nemesis")
}

/// The operations of a history, and why they may be incomplete.
#[derive(Debug)]
pub struct Calls<'a> {
    pub all: Vec<Call<'a>>,
    /// The first event that could not be paired.
    pub problem: Option<String>,
    /// Why nothing can be judged: an operation may have written any value, or its process has no number.
    pub unclear: Option<String>,
    /// What was passed over, as a sentence: answers to no request, of operations that the model does not have.
    pub remarks: Option<String>,
}

impl<'a> Calls<'a> {
    /// Reads the operations out of events; `operations` are the names of those of the model.
    pub fn new(events: &'a [Event], operations: &[&str]) -> Self {
        let (pairs, problem) = pairs(events, operations);
        Self {
            all: pairs.iter().filter_map(Pair::call).collect(),
            problem,
            unclear: numberless(events, operations).or_else(|| unclear(&pairs)),
            remarks: remarks(events, &pairs, operations),
        }
    }
}

/// Why nothing can be judged: operations of the model by processes that have names, where only those with numbers are
/// clients. What they did is not known.
fn numberless(events: &[Event], operations: &[&str]) -> Option<String> {
    let of_model = |event: &&Event| is_of_named_process(event) && operations.contains(&event.f.as_str());
    let mut named = events.iter().filter(of_model);
    let first = named.next()?;
    Some(format!(
        "nothing was judged: event {} is a {} of process {}{}: processes of clients have numbers",
        first.index,
        first.f,
        first.process,
        like_it(named.count())
    ))
}

/// The sentence on events that are no part of an operation: an `info` of a name that the model does not have.
fn remarks(events: &[Event], pairs: &[Pair<'_>], operations: &[&str]) -> Option<String> {
    let ends: HashSet<usize> = pairs
        .iter()
        .flat_map(|pair| [Some(pair.invoke.index), pair.end.map(|end| end.index)])
        .flatten()
        .collect();
    let mut remarks = events.iter().filter(|event| {
        let numbered = matches!(event.process, Process::Number(_));
        let other = event.kind == EventType::Info && !operations.contains(&event.f.as_str());
        numbered && other && !ends.contains(&event.index)
    });
    let first = remarks.next()?;
    Some(format!(
        "event {} was not read, a {} of process {} that answers no request and is of no operation of the model{}",
        first.index,
        first.f,
        first.process,
        like_it(remarks.count())
    ))
}

/// How many more events there are like one that was named.
fn like_it(more: usize) -> String {
    if_any(more, |more| format!(", and {} like it", count(more, "more event")))
}

/// The operations whose value their invocation has: what one of them did is not known without it. (A cas, a vote and a
/// begin without theirs are refused by their models.)
const OF_A_VALUE: [&str; 6] = ["write", "add", "enqueue", "put", "append", "enter"];

/// The operation that counts although it failed: others may have counted an enter of a barrier while it waited.
const COUNTED: &str = "enter";

/// Pairs the events, and gives a reason at the first event that cannot be paired. `operations` are those of the model:
/// an `info` of any other name, beside the operations of its process, is a remark.
///
/// From such an event on, nothing that its process did has a known outcome: an invocation has no completion, and a
/// completion is an operation of its own, sent at any time. So what the others did can be judged all the same.
fn pairs<'a>(events: &'a [Event], operations: &[&str]) -> (Vec<Pair<'a>>, Option<String>) {
    let mut calls: Vec<Pair<'_>> = Vec::new();
    let mut open: HashMap<&Process, usize> = HashMap::new();
    let mut doubtful: HashSet<&Process> = HashSet::new();
    let mut waiting = PendingCalls::default();
    let mut problem = None;
    let numbered = |event: &&Event| matches!(event.process, Process::Number(_));
    for event in events.iter().filter(numbered) {
        let (process, at) = (&event.process, event.index);
        if event.kind == EventType::Invoke {
            let before = open.insert(process, calls.len());
            if let Some(before) = before.filter(|_| doubtful.insert(process)) {
                waiting.add(calls[before].invoke);
                let before = calls[before].invoke.index;
                problem.get_or_insert(format!(
                    "process {process} invokes an operation at event {at} while that of event {before} is in flight"
                ));
            }
            if doubtful.contains(process) {
                waiting.add(event);
            }
            calls.push(Pair::new(event));
            continue;
        }
        match open.get(process).copied() {
            Some(call) if calls[call].invoke.f == event.f && !doubtful.contains(process) => {
                open.remove(process);
                calls[call].end = Some(event);
                continue;
            }
            None if event.kind == EventType::Info && !operations.contains(&event.f.as_str()) => continue,
            _ => {}
        }
        if doubtful.insert(process) {
            open.get(process)
                .iter()
                .for_each(|&&call| waiting.add(calls[call].invoke));
            problem.get_or_insert(format!(
                "process {process} completes {} at event {at} without having invoked it",
                event.f
            ));
        }
        let counts = event.kind != EventType::Fail || event.f == COUNTED;
        if counts && !waiting.takes(event) {
            calls.push(Pair {
                unsent: true,
                ..Pair::new(event)
            });
        }
    }
    (calls, problem)
}

/// The values that doubtful processes have invoked operations with, by process and name, each with how often: a
/// completion with this value, or of an operation that was invoked with none, may be of one of these.
#[derive(Default)]
struct PendingCalls<'a>(HashMap<(&'a Process, &'a str), HashMap<Option<&'a Value>, usize>>);

impl<'a> PendingCalls<'a> {
    fn add(&mut self, invoke: &'a Event) {
        let nothing = match &invoke.value {
            _ if OF_A_VALUE.contains(&invoke.f.as_str()) => false,
            Value::Array(values) => values.last().is_some_and(Value::is_null),
            value => value.is_null(),
        };
        let all = self.0.entry((&invoke.process, &invoke.f)).or_default();
        *all.entry((!nothing).then_some(&invoke.value)).or_default() += 1;
    }

    /// Whether a completion may be of an invocation that waits, which does so no more.
    fn takes(&mut self, end: &'a Event) -> bool {
        let Some(all) = self.0.get_mut(&(&end.process, end.f.as_str())) else {
            return false;
        };
        let left = [Some(&end.value), None]
            .into_iter()
            .find(|value| all.get(value) > Some(&0));
        let Some(count) = left.and_then(|value| all.get_mut(&value)) else {
            return false;
        };
        *count -= 1;
        true
    }
}

/// Why nothing can be judged: an operation whose invocation is missing, and whose completion does not contain the value
/// that it was invoked with, or has an error in its place. It may have written any value.
fn unclear(calls: &[Pair<'_>]) -> Option<String> {
    let of_a_value = |call: &&Pair<'_>| OF_A_VALUE.contains(&call.invoke.f.as_str());
    let mut unsent = calls.iter().filter(of_a_value).filter(|call| call.unsent).peekable();
    unsent.peek()?;
    let sent = calls.iter().filter(of_a_value).filter(|call| !call.unsent);
    let mut forms: HashMap<&str, HashSet<String>> = HashMap::new();
    for call in sent {
        forms
            .entry(&call.invoke.f)
            .or_default()
            .insert(form(&call.invoke.value));
    }
    let known = |call: &Pair<'_>| match forms.get(call.invoke.f.as_str()) {
        Some(forms) => !call.invoke.value.is_null() && forms.contains(&form(&call.invoke.value)),
        None => !call.invoke.value.is_null() && !call.invoke.value.is_string(),
    };
    let call = unsent.find(|call| !known(call))?;
    Some(format!(
        "nothing was judged: the value of the {} that event {} completes is not known, as its invocation is missing",
        call.invoke.f, call.invoke.index
    ))
}

/// The form of a value, by which an error is distinguished from what is written: the types of it and of what it
/// contains; a keyword is no text.
fn form(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(form).collect::<Vec<_>>().join(" ")),
        Value::String(text) if text.starts_with(':') => "keyword".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Object(_) => "object".to_owned(),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Number(_) => "number".to_owned(),
    }
}

/// A value of an event for the search.
pub fn searched(value: &Value) -> Searched {
    match value {
        Value::Null => Searched::Nil,
        Value::Array(values) => values.iter().map(searched).collect(),
        other => from_edn(from_json(other)),
    }
}

/// The value of an event that was made a value for the search.
pub fn recorded(value: &Searched) -> Value {
    match value {
        Searched::Nil => Value::Null,
        Searched::Vector(values) => values.iter().map(recorded).collect(),
        other => to_json(&to_edn(other)),
    }
}

/// A value of the search as EDN has it.
pub fn to_edn(value: &Searched) -> Edn {
    let all = |values: &[Searched]| values.iter().map(to_edn).collect();
    match value {
        Searched::Nil => Edn::Nil,
        Searched::Bool(value) => Edn::Bool(*value),
        Searched::Integer(number) => Edn::Int(*number),
        Searched::Float(number) => Edn::Float(*number),
        Searched::Number(number) => Edn::Number(number.to_string()),
        Searched::Text(text) => Edn::Str(text.to_string()),
        Searched::Keyword(name) => Edn::Keyword(name.to_string()),
        Searched::Symbol(name) => Edn::Symbol(name.to_string()),
        Searched::Char(name) => Edn::Char(name.to_string()),
        Searched::Vector(values) => Edn::Vector(all(values)),
        Searched::List(values) => Edn::List(all(values)),
        Searched::Set(values) => Edn::Set(all(values)),
        Searched::Map(entries) => Edn::Map(
            entries
                .iter()
                .map(|(key, value)| (to_edn(key), to_edn(value)))
                .collect(),
        ),
        Searched::Tagged(tagged) => Edn::Tagged(tagged.0.to_string(), Box::new(to_edn(&tagged.1))),
    }
}

fn from_edn(value: Edn) -> Searched {
    let all = |values: Vec<Edn>| values.into_iter().map(from_edn).collect();
    match value {
        Edn::Nil => Searched::Nil,
        Edn::Bool(value) => Searched::Bool(value),
        Edn::Int(number) => Searched::Integer(number),
        Edn::Float(number) => Searched::Float(number),
        Edn::Number(number) => Searched::Number(number.into()),
        Edn::Str(text) => Searched::Text(text.into()),
        Edn::Keyword(name) => Searched::Keyword(name.into()),
        Edn::Symbol(name) => Searched::Symbol(name.into()),
        Edn::Char(name) => Searched::Char(name.into()),
        Edn::Vector(values) => Searched::Vector(all(values)),
        Edn::List(values) => Searched::List(all(values)),
        Edn::Set(values) => Searched::Set(all(values)),
        Edn::Map(entries) => {
            let entry = |(key, value)| (from_edn(key), from_edn(value));
            Searched::Map(entries.into_iter().map(entry).collect())
        }
        Edn::Tagged(tag, value) => Searched::Tagged(Box::new((tag.into(), from_edn(*value)))),
    }
}

#[cfg(test)]
mod tests {
    use super::searched;
    use zooquake_history::edn::{parse, to_json};
    use zooquake_linearizability::equality::canonical;

    fn same(a: &str, b: &str) -> bool {
        let text = |edn: &str| canonical(&searched(&to_json(&parse(edn).expect("it is EDN")))).expect("it is readable");
        text(a) == text(b)
    }

    #[test]
    fn equal_values_are_equal_however_they_are_written() {
        for (a, b) in [
            ("#{1 2}", "#{2 1}"),
            ("[1 2]", "(1 2)"),
            ("1", "1N"),
            ("1", "1.0"),
            ("-100", "-1e2"),
            ("1.50M", "1.5"),
            ("18446744073709551616", "18446744073709551616N"),
            ("0", "-0.0"),
            ("{:a 1 :b #{(1) 2}}", "{:b #{2 [1N]} :a 1.0}"),
            ("[[:a (1)]]", "([:a [1]])"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn values_that_differ_do_not_become_equal() {
        for (a, b) in [
            ("#{1 2}", "[1 2]"),
            ("[1 2]", "[2 1]"),
            ("1", "\"1\""),
            ("1", "10"),
            ("1.5", "15"),
            ("1", "-1"),
            ("1", "1/2"),
            (":a", "\"a\""),
            ("nil", "false"),
            ("18446744073709551616", "18446744073709551617"),
            ("{:a 1}", "{:a 2}"),
            ("#t 1", "#u 1"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn an_object_equals_nothing_that_can_be_told() {
        assert!(
            canonical(&searched(&to_json(
                &parse("[1 #object[Foo 0x1b \"Foo\"]]").expect("it is EDN")
            )))
            .is_none()
        );
    }
}
