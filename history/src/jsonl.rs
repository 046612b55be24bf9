//! Files of JSON: ours, of one object a line, and histories of others, which may also be an array of events. They are
//! read up to the first damage, with its place.

use crate::edn::{self, from_json};
use crate::event::{Damage, Event, History};
use crate::value::{Fields, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// Reads a history. What stands before the first damage is kept, so that a history cut off by a crash can be judged.
///
/// The `key` of a line is one of Jepsen's independent keys written beside the value, as in EDN: the value is a pair of
/// both.
///
/// Besides sound JSON it wants what the orchestrator guarantees: indexes that count from 0 without a gap, and a time
/// that never goes back. An empty file is a history without events.
pub fn parse_jsonl(bytes: &[u8]) -> (History, Option<Damage>) {
    let mut history = History::default();
    let mut last = 0;
    for line in file_lines(bytes) {
        let event: Event = match line.parse() {
            Ok(event) => event,
            Err(damage) => return (history, Some(damage)),
        };
        let expected = history.events.len();
        if event.index != expected {
            let what = format!("expected index {expected}, found {}", event.index);
            return (history, Some(line.damage("\"index\"", what)));
        }
        if event.time < last {
            let what = format!("time goes back from {last} to {} ns", event.time);
            return (history, Some(line.damage("\"time\"", what)));
        }
        last = event.time;
        history.events.push(line.keyed(event));
    }
    (history, None)
}

/// Reads a history that may be of others: an array of events, or one event a line.
///
/// `index` and `time` may be missing, as in EDN: the index is then the position, and the time that of the event before.
/// What some events have, all must have; where lines have them they are held to what [`parse_jsonl`] wants, and an
/// index in an array is the position whatever is written. An error may be any value, and names may be written as
/// keywords (`":invoke"`).
pub fn parse_json(bytes: &[u8]) -> (History, Option<Damage>) {
    let text = unmarked(bytes);
    let mut foreign = ForeignEvents::default();
    let damage = if text.trim_ascii_start().starts_with(b"[") {
        foreign.read_array(text)
    } else {
        let ours = parse_jsonl(bytes);
        if ours.1.is_none() {
            return ours;
        }
        let damage = foreign.read_lines(text);
        if ours.0.events.len() >= foreign.history.events.len() && damage.is_err() {
            return ours;
        }
        damage
    };
    let damage = damage.err().map(|damage| damage.before(&String::from_utf8_lossy(text)));
    (foreign.history, damage)
}

/// What some events of a history of others have and some lack.
const COUNTED: [&str; 2] = ["index", "time"];

/// The events of a history that may be of others.
#[derive(Debug, Default)]
struct ForeignEvents {
    history: History,
    /// Where the first event stands, and whether it has an index and a time.
    first: Option<(Damage, [bool; 2])>,
}

impl ForeignEvents {
    /// One event a line; lines without any text are passed over where events have no index.
    fn read_lines(&mut self, text: &[u8]) -> Result<(), Damage> {
        for line in file_lines(text) {
            let counted = self.first.as_ref().is_none_or(|(_, has)| has[0]);
            if line.text.trim_ascii().is_empty() && !counted {
                continue;
            }
            let place = |what: String| Damage {
                line: line.number,
                column: 1,
                what,
            };
            self.add(&line.parse()?, false, place)?;
        }
        Ok(())
    }

    /// An array, event by event, so that one that is cut off keeps what stands before the cut.
    fn read_array(&mut self, text: &[u8]) -> Result<(), Damage> {
        let mut at = blank(text, 0) + 1;
        let mut next = blank(text, at);
        if text.get(next) == Some(&b']') {
            return ended(text, next + 1);
        }
        loop {
            at = blank(text, next);
            let mut values = serde_json::Deserializer::from_slice(&text[at..]).into_iter::<Value>();
            let event = match values.next() {
                Some(Ok(event)) => event,
                Some(Err(error)) if error.is_eof() => {
                    return Err(place(text, text.len(), "the array is cut off".into()));
                }
                Some(Err(error)) => return Err(place(text, at, reason(&error))),
                None => return Err(place(text, text.len(), "the array is cut off".into())),
            };
            next = blank(text, at + values.byte_offset());
            self.add(&event, true, |what| place(text, at, what))?;
            match text.get(next) {
                Some(b',') => next += 1,
                Some(b']') => return ended(text, next + 1),
                Some(_) => return Err(place(text, next, "expected ',' or ']' after an event".into())),
                None => return Err(place(text, next, "the array is cut off".into())),
            }
        }
    }

    fn add(&mut self, event: &Value, array: bool, place: impl Fn(String) -> Damage) -> Result<(), Damage> {
        let Value::Object(fields) = event else {
            return Err(place(format!("expected an event, found {event}")));
        };
        let has = COUNTED.map(|name| fields.get(name).is_some_and(|value| !value.is_null()));
        let (first, had) = self.first.get_or_insert_with(|| (place(String::new()), has));
        for ((name, has), had) in COUNTED.into_iter().zip(has).zip(*had) {
            if had && !has {
                return Err(place(format!(
                    "missing field `{name}`, which the events before it have"
                )));
            }
            if has && !had {
                // What lacks it is damaged, and that is the first one.
                let what = format!("missing field `{name}`, which other events have");
                self.history.events.clear();
                return Err(Damage { what, ..first.clone() });
            }
        }
        let (index, last) = (
            self.history.events.len(),
            self.history.events.last().map_or(0, |event| event.time),
        );
        if let (false, Some(found)) = (array, fields.get(COUNTED[0]).filter(|_| has[0]))
            && found.as_u64() != Some(index as u64)
        {
            return Err(place(format!("expected index {index}, found {found}")));
        }
        let time = fields.get(COUNTED[1]).and_then(Value::as_u64);
        if let (false, true, Some(time)) = (array, has[0], time.filter(|time| *time < last)) {
            return Err(place(format!("time goes back from {last} to {time} ns")));
        }
        let mut event = foreign(fields).map_err(place)?;
        (event.index, event.time) = (index, time.unwrap_or(last).max(last));
        self.history.events.push(event);
        Ok(())
    }
}

/// The event of an object, without index and time.
fn foreign(fields: &Fields) -> Result<Event, String> {
    let field = |name: &str| match fields.get(name) {
        Some(value) => Ok(from_json(value)),
        None => Err(format!("missing field `{name}`")),
    };
    let mut value = fields.get("value").cloned().unwrap_or_default();
    if let Some(key) = fields.get("key") {
        value = vec![key.clone(), value].into();
    }
    Ok(Event {
        index: 0,
        time: 0,
        process: edn::process(&field("process")?)?,
        kind: edn::kind(&field("type")?)?,
        f: edn::operation(&field("f")?)?,
        value,
        error: fields.get("error").and_then(|error| edn::error_text(&from_json(error))),
        node: fields.get("node").and_then(|node| edn::name(&from_json(node))),
    })
}

/// Where behind a place the next byte stands that is no blank.
fn blank(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_ascii_start().len()
}

/// Damage at a byte of a text.
fn place(text: &[u8], at: usize, what: String) -> Damage {
    let before = &text[..at.min(text.len())];
    let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Damage {
        line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
        column: at.min(text.len()) - line + 1,
        what,
    }
}

/// Whether nothing follows the end of an array.
fn ended(text: &[u8], at: usize) -> Result<(), Damage> {
    match text.get(blank(text, at)) {
        None => Ok(()),
        Some(_) => Err(place(text, blank(text, at), "expected the end after the array".into())),
    }
}

/// Reads any file of one object a line, such as `txnlog.jsonl` and `servers.jsonl`; what stands before the first damage
/// is kept.
pub fn parse_lines<T: DeserializeOwned>(bytes: &[u8]) -> (Vec<T>, Option<Damage>) {
    let mut all = Vec::new();
    for line in file_lines(bytes) {
        match line.parse() {
            Ok(one) => all.push(one),
            Err(damage) => return (all, Some(damage)),
        }
    }
    (all, None)
}

/// Reads a file that is one JSON value, such as `tree.json` and `plan.json`.
///
/// # Errors
///
/// The place where it is not the value it should be.
pub fn parse_value<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    serde_json::from_slice(unmarked(bytes)).map_err(|error| Damage {
        line: error.line().max(1),
        column: error.column().max(1),
        what: reason(&error),
    })
}

/// What follows the byte order mark that some editors put before a text.
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// One line, with its line break, as it is appended to a file.
pub fn to_line<T: Serialize>(one: &T) -> String {
    let mut line = serde_json::to_string(one).expect("plain data with string keys can always be written as JSON");
    line.push('\n');
    line
}

/// The lines of a file; what follows the last line break is a line too unless it is empty.
fn file_lines(bytes: &[u8]) -> impl Iterator<Item = FileLine<'_>> {
    let lines = unmarked(bytes).split_inclusive(|&byte| byte == b'\n');
    lines.zip(1..).map(|(line, number)| {
        let text = line.strip_suffix(b"\n");
        FileLine {
            number,
            text: text.unwrap_or(line),
            ended: text.is_some(),
        }
    })
}

struct FileLine<'a> {
    number: usize,
    text: &'a [u8],
    /// Whether a line break follows.
    ended: bool,
}

impl FileLine<'_> {
    fn parse<T: DeserializeOwned>(&self) -> Result<T, Damage> {
        serde_json::from_slice(self.text).map_err(|error| {
            let what = if self.text.trim_ascii().is_empty() {
                "expected a JSON object, found an empty line".to_owned()
            } else if error.is_eof() && !self.ended {
                format!("the last line is cut off ({})", reason(&error))
            } else {
                reason(&error)
            };
            Damage {
                line: self.number,
                column: error.column().max(1),
                what,
            }
        })
    }

    /// The event of this line, with the line's `key`, if it has one, before its value.
    fn keyed(&self, mut event: Event) -> Event {
        /// What stands beside the fields of an event.
        #[derive(Deserialize)]
        struct ExtraFields {
            #[serde(default, deserialize_with = "some")]
            key: Option<Value>,
        }
        const KEY: &[u8] = b"\"key\"";
        let may_have = self.text.windows(KEY.len()).any(|part| part == KEY);
        let beside: Option<ExtraFields> = may_have.then(|| serde_json::from_slice(self.text).ok()).flatten();
        if let Some(key) = beside.and_then(|beside| beside.key) {
            event.value = vec![key, event.value].into();
        }
        event
    }

    /// Damage at the first place where `key` stands.
    fn damage(&self, key: &str, what: String) -> Damage {
        let column = self
            .text
            .windows(key.len())
            .position(|window| window == key.as_bytes())
            .unwrap_or(0)
            + 1;
        Damage {
            line: self.number,
            column,
            what,
        }
    }
}

/// What is there, also `null`.
fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// The message of serde, without its position, which is within the line and not the file.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
