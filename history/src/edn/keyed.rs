//! Porcupine's key-value histories: one map of a get, put or append a line, with its key beside its value.

use super::history::{from_kind, from_name, from_process};
use super::{Edn, from_json};
use crate::event::{Event, EventType, History, Process};
use std::fmt::Write;

/// A history of gets, puts and appends in the notation of porcupine's, such as
/// `{:process 0, :type :invoke, :f :get, :key "x", :value nil}`. Events of named processes are left out.
///
/// # Errors
/// What that notation has no words for: other operations, keys and values that are no text, an event that is neither invoke nor ok.
pub fn to_keyed(history: &History) -> Result<String, String> {
    let mut text = String::new();
    for event in &history.events {
        if let Process::Name(_) = event.process {
            continue;
        }
        let (key, value) = pair(event)?;
        let (process, kind, f) = (from_process(&event.process), from_kind(event.kind), from_name(&event.f));
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{{:process {process}, :type {kind}, :f {f}, :key {key}, :value {value}}}"
        );
    }
    Ok(text)
}

/// The key and the value of an event that the notation has words for.
fn pair(event: &Event) -> Result<(Edn, Edn), String> {
    let wrong = |what: &str| Err(format!("event {}: {what}", event.index));
    let known = matches!(event.kind, EventType::Invoke | EventType::Ok);
    if !known || !["get", "put", "append"].contains(&event.f.as_str()) {
        return wrong("porcupine's key-value text holds get, put and append, each invoked or ok");
    }
    match from_json(&event.value) {
        Edn::Vector(pair) => match <[Edn; 2]>::try_from(pair) {
            Ok([key @ Edn::Str(_), value @ (Edn::Str(_) | Edn::Nil)]) => Ok((key, value)),
            _ => wrong("expected a key and a value that are texts"),
        },
        _ => wrong("expected a pair of a key and a value"),
    }
}
