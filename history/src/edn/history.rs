//! Histories: maps of operations to and from events.
//!
//! A history is a vector or a list of maps, or one map after the other. `:process`, `:type` and `:f` must be there.
//! `:index` is the position whatever is written, `:time` that of the operation before if it is missing or lower.
//! `:error` may be any value; fields that an [`Event`] lacks are left out. The `:key` of a map is one of Jepsen's
//! independent keys written beside the value, as porcupine's key-value histories have it: the value becomes the vector
//! of both.

use super::json::{decode, encode, from_json, plain, to_json};
use super::{Edn, EdnReader};
use crate::event::{Damage, Event, EventType, History, Process};
use crate::text::Text;
use crate::value::Value;
use std::fmt::Write;

/// Reads a history. What stands before the first damage is kept.
pub fn parse_edn(bytes: &[u8]) -> (History, Option<Damage>) {
    let mut history = History::default();
    let (text, mut damage) = crate::textlog::utf8(bytes);
    let found = read(&mut EdnReader::new(text), &mut history.events).err();
    // Where the text ends because the bytes that follow are not UTF-8, that is the damage to report.
    if let Some(found) = found
        && damage
            .as_ref()
            .is_none_or(|text| (found.line, found.column) < (text.line, text.column))
    {
        damage = Some(found);
    }
    (history, damage.map(|damage| damage.before(text)))
}

/// A history as a vector of maps, one a line.
pub fn to_edn(history: &History) -> String {
    let mut text = String::new();
    for event in &history.events {
        let open = if text.is_empty() { "[" } else { "\n " };
        // Writing to a string does not fail.
        let _ = write!(text, "{open}{}", from_event(event));
    }
    if text.is_empty() {
        text.push('[');
    }
    text.push_str("]\n");
    text
}

fn read(reader: &mut EdnReader<'_>, events: &mut Vec<Event>) -> Result<(), Damage> {
    let begin = reader.place();
    reader.metadata()?;
    let end = if reader.take('[')? {
        Some(']')
    } else if reader.take('(')? {
        Some(')')
    } else {
        // It is that of the first operation.
        reader.rewind(begin);
        None
    };
    loop {
        match (reader.peek()?, end) {
            (None, None) => return Ok(()),
            (None, Some(end)) => return Err(reader.damage(format!("expected an operation or {end:?}, found the end"))),
            (Some(found), Some(end)) if found == end => break,
            (Some(_), _) => {}
        }
        let place = reader.place();
        let value = reader.value()?;
        let event = event(value, events).map_err(|what| {
            reader.rewind(place);
            reader.damage(what)
        })?;
        events.push(event);
    }
    if let Some(end) = end {
        reader.take(end)?;
    }
    match reader.peek()? {
        None => Ok(()),
        Some(found) => Err(reader.damage(format!("expected the end after the history, found {found:?}"))),
    }
}

/// The event that follows these ones.
fn event(value: Edn, before: &[Event]) -> Result<Event, String> {
    let fields = match value {
        Edn::Map(fields) => fields,
        // A record, such as `#jepsen.history.Op{…}`.
        Edn::Tagged(tag, value) => match *value {
            Edn::Map(fields) => fields,
            other => return Err(format!("expected an operation, found #{tag} {other}")),
        },
        other => return Err(format!("expected an operation, found {other}")),
    };
    let mut time = None;
    let (mut process, mut kind, mut f) = (None, None, None);
    let (mut value, mut error, mut node) = (Value::Null, None, None);
    let mut under = None;
    for (key, content) in &fields {
        let Edn::Keyword(key) = key else { continue };
        match key.as_str() {
            "time" => time = number(content),
            "process" => process = Some(self::process(content)?),
            "type" => kind = Some(self::kind(content)?),
            "f" => f = Some(operation(content)?),
            "value" => value = to_json(content),
            "key" => under = Some(to_json(content)),
            "error" => error = error_text(content),
            "node" => node = name(content),
            _ => {}
        }
    }
    if let Some(key) = under {
        value = vec![key, value].into();
    }
    let last = before.last().map_or(0, |event| event.time);
    Ok(Event {
        index: before.len(),
        time: time.unwrap_or(last).max(last),
        process: process.ok_or("the operation has no :process")?,
        kind: kind.ok_or("the operation has no :type")?,
        f: f.ok_or("the operation has no :f")?,
        value,
        error,
        node,
    })
}

/// The process of an event.
pub(crate) fn process(value: &Edn) -> Result<Process, String> {
    let process = number(value).map(Process::Number);
    let process = process.or_else(|| name(value).map(Process::Name));
    process.ok_or_else(|| format!("{value} is not a process"))
}

/// The name of an operation.
pub(crate) fn operation(value: &Edn) -> Result<Text, String> {
    name(value).ok_or_else(|| format!("{value} is not the name of an operation"))
}

/// The type of an event.
pub(crate) fn kind(value: &Edn) -> Result<EventType, String> {
    match name(value).as_deref() {
        Some("invoke") => Ok(EventType::Invoke),
        Some("ok") => Ok(EventType::Ok),
        Some("fail") => Ok(EventType::Fail),
        Some("info") => Ok(EventType::Info),
        _ => Err(format!("expected :invoke, :ok, :fail or :info, found {value}")),
    }
}

/// A number that is not negative.
fn number(value: &Edn) -> Option<u64> {
    match value {
        Edn::Int(number) => u64::try_from(*number).ok(),
        Edn::Number(text) => text.trim_end_matches('N').parse().ok(),
        _ => None,
    }
}

/// A name: of a keyword, a string or a symbol.
pub(crate) fn name(value: &Edn) -> Option<Text> {
    match value {
        Edn::Keyword(name) | Edn::Str(name) | Edn::Symbol(name) => Some(name.into()),
        _ => None,
    }
}

/// An error as text: a string as it is, anything else as it is written.
pub(crate) fn error_text(value: &Edn) -> Option<String> {
    match value {
        Edn::Nil => None,
        Edn::Str(text) => Some(encode(text, is_error)),
        other => Some(other.to_string()),
    }
}

/// What an error may be beside a string: all but what might just as well be a word.
fn is_error(value: &Edn) -> bool {
    !matches!(value, Edn::Str(_) | Edn::Nil | Edn::Symbol(_))
}

/// A name as a keyword, if one can have it.
pub(crate) fn from_name(name: &str) -> Edn {
    match plain(name) {
        true => Edn::Keyword(name.to_owned()),
        false => Edn::Str(name.to_owned()),
    }
}

/// A process as its number or its name.
pub(crate) fn from_process(process: &Process) -> Edn {
    match process {
        Process::Number(number) => count(*number),
        Process::Name(name) => from_name(name),
    }
}

/// The type of an event as a keyword.
pub(crate) fn from_kind(kind: EventType) -> Edn {
    let name = match kind {
        EventType::Invoke => "invoke",
        EventType::Ok => "ok",
        EventType::Fail => "fail",
        EventType::Info => "info",
    };
    Edn::Keyword(name.to_owned())
}

/// An error as it was before it became text.
pub(crate) fn from_error(error: &str) -> Edn {
    decode(error, is_error)
}

fn count(number: u64) -> Edn {
    i64::try_from(number).map_or_else(|_| Edn::Number(number.to_string()), Edn::Int)
}

fn from_event(event: &Event) -> Edn {
    let mut fields = vec![
        ("index", count(event.index as u64)),
        ("time", count(event.time)),
        ("process", from_process(&event.process)),
        ("type", from_kind(event.kind)),
        ("f", from_name(&event.f)),
        ("value", from_json(&event.value)),
    ];
    fields.extend(event.error.iter().map(|error| ("error", from_error(error))));
    fields.extend(event.node.iter().map(|node| ("node", Edn::Str(node.to_string()))));
    let keyed = fields
        .into_iter()
        .map(|(key, value)| (Edn::Keyword(key.to_owned()), value));
    Edn::Map(keyed.collect())
}

/// A history of gets, puts, appends and compare-and-sets in the notation of porcupine's, such as
/// `{:process 0, :type :invoke, :f :get, :key "x", :value nil}`. Events of named processes are left out. The value of a
/// compare-and-set is the pair of the old text and the new one, also where the history has `[key old new]`.
///
/// # Errors
/// What that notation has no words for: other operations, keys and values that are no text, an event that is neither
/// invoke nor ok.
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
    if !known || !["get", "put", "append", "cas"].contains(&event.f.as_str()) {
        return wrong("porcupine's key-value text holds get, put, append and cas, each invoked or ok");
    }
    let Edn::Vector(values) = from_json(&event.value) else {
        return wrong("expected a pair of a key and a value");
    };
    match (event.f.as_str(), values.as_slice()) {
        ("cas", [key @ Edn::Str(_), Edn::Vector(pair)]) if matches!(pair.as_slice(), [Edn::Str(_), Edn::Str(_)]) => {
            Ok((key.clone(), Edn::Vector(pair.clone())))
        }
        ("cas", [key @ Edn::Str(_), old @ Edn::Str(_), new @ Edn::Str(_)]) => {
            Ok((key.clone(), Edn::Vector(vec![old.clone(), new.clone()])))
        }
        ("cas", [key @ Edn::Str(_), Edn::Nil]) if event.kind == EventType::Ok => Ok((key.clone(), Edn::Nil)),
        ("cas", _) => wrong("expected a key and two values that are texts"),
        (_, [key @ Edn::Str(_), value @ (Edn::Str(_) | Edn::Nil)]) => Ok((key.clone(), value.clone())),
        _ => wrong("expected a key and a value that are texts"),
    }
}
