//! Jepsen's text logs: one event a line, among the lines of other loggers.
//!
//! An event is `… jepsen.util - process type f value [error]`, with blanks or tabs between: `INFO  jepsen.util - 3  :ok
//! :read  17`. Later versions write `jepsen.util: ` and a date before the level. A line that begins with a date or a
//! level and names another logger is passed over; any other line is damage.

use crate::edn::{self, EdnReader, error_text, from_error, from_json, from_kind, from_name, from_process, to_json};
use crate::event::{Damage, Event, History};
use crate::jsonl::unmarked;

const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

const BLANKS: [char; 2] = [' ', '\t'];

/// Reads a history. What stands before the first damage is kept.
///
/// These logs have no times: that of an event is its position, in nanoseconds.
pub fn parse_log(bytes: &[u8]) -> (History, Option<Damage>) {
    let mut history = History::default();
    let (text, damage) = utf8(bytes);
    for (number, line) in text.lines().enumerate() {
        match event(line, history.events.len()) {
            Ok(event) => history.events.extend(event),
            Err(found) => {
                let line = number + 1;
                return (history, Some(Damage { line, ..found }));
            }
        }
    }
    (history, damage)
}

/// A history as such a log; times and nodes are left out, as these logs have none.
pub fn to_log(history: &History) -> String {
    let mut text = String::new();
    for event in &history.events {
        let words = [
            from_process(&event.process),
            from_kind(event.kind),
            from_name(&event.f),
            from_json(&event.value),
        ];
        let error = event.error.as_deref().map(from_error);
        let words: Vec<String> = words.iter().chain(&error).map(ToString::to_string).collect();
        text += &format!("INFO  jepsen.util - {}\n", words.join("\t"));
    }
    text
}

/// The event of a line, if it has one.
fn event(line: &str, index: usize) -> Result<Option<Event>, Damage> {
    let damage = |column: usize, what: String| Damage { line: 1, column, what };
    let Some((_, told)) = line.split_once("jepsen.util") else {
        let dated = line.starts_with(|c: char| c.is_ascii_digit());
        if line.trim().is_empty() || dated || LEVELS.iter().any(|level| line.starts_with(level)) {
            return Ok(None);
        }
        return Err(damage(
            1,
            "expected a line of a log, such as `INFO jepsen.util - 3 :ok :read 17`".into(),
        ));
    };
    let told = told.strip_prefix(':').unwrap_or(told).trim_start_matches(BLANKS);
    let told = told.strip_prefix("- ").unwrap_or(told).trim_start_matches(BLANKS);
    let before = line[..line.len() - told.len()].chars().count();
    let mut reader = EdnReader::new(told);
    let read = read(&mut reader, index);
    read.map(Some)
        .map_err(|found| damage(before + found.column, found.what))
}

fn read(reader: &mut EdnReader<'_>, index: usize) -> Result<Event, Damage> {
    let mut next = |what: &str| match reader.peek()? {
        Some(_) => {
            let place = reader.place();
            Ok((place, reader.value()?))
        }
        None => Err(reader.damage(format!("expected {what}, found the end of the line"))),
    };
    let process = next("a process")?;
    let event_type = next("the type of the event")?;
    let f = next("the name of an operation")?;
    let value = next("a value")?.1;
    let error = reader.peek()?.map(|_| reader.value()).transpose()?;
    if reader.peek()?.is_some() {
        return Err(reader.damage("expected the end of the line after value and error"));
    }
    let mut wrong = |place: usize, what: String| {
        reader.rewind(place);
        reader.damage(what)
    };
    Ok(Event {
        index,
        time: index as u64,
        process: edn::process(&process.1).map_err(|what| wrong(process.0, what))?,
        kind: edn::kind(&event_type.1).map_err(|what| wrong(event_type.0, what))?,
        f: edn::operation(&f.1).map_err(|what| wrong(f.0, what))?,
        value: to_json(&value),
        error: error.as_ref().and_then(error_text),
        node: None,
    })
}

/// The text of a file without a byte order mark, up to where it is none.
pub(crate) fn utf8(bytes: &[u8]) -> (&str, Option<Damage>) {
    let bytes = unmarked(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            // What stands before the error is text.
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let mut at = EdnReader::new(text);
            at.rewind(text.len());
            (text, Some(at.damage(format!("{} is no UTF-8", bytes[text.len()]))))
        }
    }
}
