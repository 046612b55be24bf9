//! Files of one JSON object a line: read up to the first damage, with its place.

use crate::event::{Damage, Event, History};
use crate::former_names;
use crate::value::Value;
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
        history.events.push(former_names::event(line.keyed(event)));
    }
    (history, None)
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
