//! Jepsen's texts: `jepsen.log`, in which each event is an entry among those of other loggers, and `history.txt`, in
//! which each event is a line.
//!
//! An event is `process type f value [error]`, with tabs or blanks between: `3 :ok :read 17`. Value and operation are
//! EDN; the error is what is left, whatever it is, for Jepsen prints it as it is. A value or an error that has line
//! breaks goes on in the lines below (`prn-op` and `op->str` of `jepsen.print`).
//!
//! In a log an event stands behind its logger: `INFO  jepsen.util - ` before, or a date, a level, a thread and
//! `jepsen.util: `; today's Jepsen writes `jepsen.print: `. Lines that begin no entry belong to the entry above them:
//! stack traces, printed data, the report at the end.

use crate::edn::{
    self, Edn, EdnReader, error_text, from_error, from_json, from_kind, from_name, from_process, to_json,
};
use crate::event::{Damage, Event, History, Process};
use crate::jsonl::unmarked;
use crate::value::Value;
use std::borrow::Cow;
use std::fmt;

const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/// The loggers of events.
const LOGGERS: [&str; 2] = ["jepsen.util", "jepsen.print"];

const TYPES: [&str; 4] = [":invoke", ":ok", ":fail", ":info"];

const BLANKS: [char; 2] = [' ', '\t'];

/// Reads a log. What stands before the first damage is kept; a log without an event is damaged.
///
/// These logs have no times: that of an event is its position, in nanoseconds.
pub fn parse_log(bytes: &[u8]) -> (History, Option<Damage>) {
    read(bytes, |text, events| {
        let (mut entry, mut entries) = (None, false);
        for line in lines(text) {
            match LogLine::new(line.text) {
                LogLine::Event(at) => {
                    finish(text, entry.take(), events)?;
                    entry = Some(TextEntry::at(&line, at));
                    entries = true;
                }
                LogLine::Entry => {
                    finish(text, entry.take(), events)?;
                    entries = true;
                }
                LogLine::Below => match &mut entry {
                    Some(entry) => entry.end = line.end(),
                    None if !entries && may_be_cut(line.text) => {
                        let what = "expected an entry of a log, such as `INFO jepsen.util - 3 :ok :read 17`";
                        return Err(line.damage(what));
                    }
                    None => {}
                },
            }
        }
        finish(text, entry, events)?;
        match lines(text).find(|line| !line.text.trim().is_empty()) {
            Some(line) if events.is_empty() => {
                Err(line.damage("no entry is an event, such as `INFO jepsen.util - 3 :ok :read 17`"))
            }
            _ => Ok(()),
        }
    })
}

/// Reads a `history.txt`. What stands before the first damage is kept, and times are those of [`parse_log`].
pub fn parse_txt(bytes: &[u8]) -> (History, Option<Damage>) {
    read(bytes, |text, events| {
        let mut entry: Option<TextEntry> = None;
        for line in lines(text) {
            if is_event(line.text, !line.ended) {
                finish_line(text, entry.take(), events)?;
                entry = Some(TextEntry::at(&line, 0));
            } else if line.text.trim().is_empty() {
            } else if let Some(entry) = entry.as_mut().filter(|_| logged(line.text).is_none()) {
                entry.end = line.end();
            } else {
                finish_line(text, entry, events)?;
                return Err(line.damage("expected an event: process, type, operation and value, with tabs between"));
            }
        }
        finish_line(text, entry, events)
    })
}

/// Lines of one sort that are not read as events, although they may be some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedLines {
    /// What they are, as the end of a sentence of which the first is the subject.
    pub what: &'static str,
    /// The number of the first one, from 1.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

/// As a sentence, without a full stop.
impl fmt::Display for PassedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not read as an event: it {}", self.first, self.what)?;
        match self.count - 1 {
            0 => Ok(()),
            1 => f.write_str("; nor is 1 more line"),
            more => write!(f, "; nor are {more} more lines"),
        }
    }
}

/// The lines of a log that [`parse_log`] passes over although they may be events, each sort once, in the order of the
/// first ones; of a damaged log, those above the damage. Entries of other loggers that are written like no event, and
/// what stands below an entry without being written like one, are none of these.
pub fn passed_over(bytes: &[u8], damage: Option<&Damage>) -> Vec<PassedLines> {
    let text = String::from_utf8_lossy(unmarked(bytes));
    let mut passed: Vec<PassedLines> = Vec::new();
    let mut entries = false;
    let end = damage.map_or(usize::MAX, |damage| damage.line);
    for line in lines(&text).take_while(|line| line.number < end) {
        let sort = LogLine::new(line.text);
        let what = match sort {
            LogLine::Event(_) => None,
            LogLine::Entry => behind_another(line.text)
                .then_some("is written like one, behind a logger that is neither jepsen.util nor jepsen.print"),
            LogLine::Below if is_event(line.text, false) && is_of_a_type(line.text) => {
                Some("is written like one, behind no logger")
            }
            LogLine::Below => (!entries && !line.text.trim().is_empty()).then_some("stands above the first entry"),
        };
        entries |= !matches!(sort, LogLine::Below);
        let Some(what) = what else { continue };
        match passed.iter_mut().find(|passed| passed.what == what) {
            Some(passed) => passed.count += 1,
            None => passed.push(PassedLines {
                what,
                first: line.number,
                count: 1,
            }),
        }
    }
    passed
}

/// Whether a text, of which this is the beginning, is a `history.txt`: its events stand behind no logger.
pub fn is_txt(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(unmarked(start));
    let mut first = lines(&text).filter_map(|line| match logged(line.text) {
        Some(_) => Some(false),
        None => (is_event(line.text, false) && is_of_a_type(line.text)).then_some(true),
    });
    first.next().unwrap_or(false)
}

/// Whether a text, of which this is the beginning, is a log with events.
pub fn is_log(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(unmarked(start));
    lines(&text).any(|line| logged(line.text).is_some())
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

/// Reads a history by its notation, with what stays unread behind the first damage. Bytes that are no UTF-8 are damage
/// only in what is read of an event: logs contain what the nodes have printed.
fn read(bytes: &[u8], events: impl FnOnce(&str, &mut Vec<Event>) -> Result<(), Damage>) -> (History, Option<Damage>) {
    let mut history = History::default();
    let text = match std::str::from_utf8(unmarked(bytes)) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(marked(unmarked(bytes))),
    };
    let damage = events(&text, &mut history.events).err();
    (history, damage.map(|damage| damage.before(&text)))
}

/// Stands for bytes that are no UTF-8: no text has this character.
const NO_TEXT: char = '\u{ffff}';

/// The bytes as text, with [`NO_TEXT`] where they are none.
fn marked(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(NO_TEXT);
        }
    }
    text
}

/// A line of a text, without its end.
struct TextLine<'a> {
    text: &'a str,
    /// From 1.
    number: usize,
    /// Where in the text it begins.
    start: usize,
    /// Whether a line break follows.
    ended: bool,
}

impl TextLine<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn damage(&self, what: &str) -> Damage {
        Damage {
            line: self.number,
            column: 1,
            what: what.to_owned(),
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').zip(1..).map(move |(whole, number)| {
        let line = whole.strip_suffix('\n');
        let found = TextLine {
            text: line.unwrap_or(whole),
            number,
            start,
            ended: line.is_some(),
        };
        start += whole.len();
        found
    })
}

/// Where an event stands in a text.
struct TextEntry {
    /// The number of its first line.
    line: usize,
    /// Characters of this line before it.
    before: usize,
    start: usize,
    /// The end of the last line that belongs to it.
    end: usize,
}

impl TextEntry {
    /// The event that begins at this byte of a line.
    fn at(line: &TextLine<'_>, at: usize) -> Self {
        Self {
            line: line.number,
            before: line.text[..at].chars().count(),
            start: line.start + at,
            end: line.end(),
        }
    }

    /// Damage of its text as damage of the whole text.
    fn damage(&self, found: Damage) -> Damage {
        let before = if found.line == 1 { self.before } else { 0 };
        Damage {
            line: self.line + found.line - 1,
            column: before + found.column,
            ..found
        }
    }
}

/// What a line of a log is.
enum LogLine {
    /// An entry that is an event, which begins at this byte.
    Event(usize),
    /// Another entry.
    Entry,
    /// A line that begins no entry.
    Below,
}

impl LogLine {
    fn new(line: &str) -> Self {
        match logged(line) {
            Some(at) => Self::Event(at),
            None if begins_entry(line) => Self::Entry,
            None => Self::Below,
        }
    }
}

/// Whether an entry that is no event is written like one behind its logger, whichever that is.
fn behind_another(line: &str) -> bool {
    let behind = [" - ", ": "].into_iter().flat_map(|end| line.match_indices(end));
    behind
        .map(|(at, end)| line[at + end.len()..].trim_start_matches(BLANKS))
        .any(|text| is_event(text, false) && is_of_a_type(text))
}

/// Reads the event of an entry, if there is one. Lines that belong to neither its value nor its error are passed over.
fn finish(text: &str, entry: Option<TextEntry>, events: &mut Vec<Event>) -> Result<(), Damage> {
    let Some(entry) = entry else { return Ok(()) };
    let read = event(&text[entry.start..entry.end], events.len());
    events.push(read.map_err(|found| entry.damage(found))?.0);
    Ok(())
}

/// Reads the event of a line, if there is one, and of the lines that it goes on in, all of which must be of its value
/// or its error.
fn finish_line(text: &str, entry: Option<TextEntry>, events: &mut Vec<Event>) -> Result<(), Damage> {
    let Some(entry) = entry else { return Ok(()) };
    let read = event(&text[entry.start..entry.end], events.len());
    let (event, unread) = read.map_err(|found| entry.damage(found))?;
    events.push(event);
    match unread {
        Some(found) => Err(entry.damage(found)),
        None => Ok(()),
    }
}

/// Where in a line of a log the event stands behind its logger, if it is one. Other remarks of these loggers are none.
fn logged(line: &str) -> Option<usize> {
    let behind = LOGGERS.iter().flat_map(|logger| line.match_indices(logger));
    let mut events = behind.filter_map(|(at, logger)| {
        let before = line[..at].chars().next_back();
        let told = &line[at + logger.len()..];
        if before.is_some_and(|c| c.is_alphanumeric() || c == '.') || !told.starts_with([':', ' ', '\t']) {
            return None;
        }
        let told = told.strip_prefix(':').unwrap_or(told).trim_start_matches(BLANKS);
        let told = told.strip_prefix("- ").unwrap_or(told).trim_start_matches(BLANKS);
        is_event(told, true).then(|| line.len() - told.len())
    });
    events.next()
}

/// Whether a text is written as an event is: behind what may be a process stands a type, or another keyword behind a
/// number or a keyword; `cut`: or nothing.
fn is_event(text: &str, cut: bool) -> bool {
    let Some((process, rest)) = first_word(text) else {
        return false;
    };
    let number = process.bytes().all(|byte| byte.is_ascii_digit());
    let named = process.strip_prefix(':').is_some_and(|name| !name.is_empty());
    match first_word(rest.trim_start_matches(BLANKS)) {
        Some((kind, _)) if TYPES.contains(&kind) => true,
        Some((kind, _)) => (number || named) && kind.starts_with(':'),
        None => (number || named) && cut,
    }
}

/// The word that a line begins with, which may be a string with blanks in it, and what follows it.
fn first_word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let end = match line.chars().next()? {
        c if BLANKS.contains(&c) => return None,
        '"' => {
            let mut reader = EdnReader::new(line);
            reader.value().ok()?;
            reader.place()
        }
        _ => line.find(BLANKS).unwrap_or(line.len()),
    };
    Some(line.split_at(end))
}

/// Whether the second word of a line is the type of an event.
fn is_of_a_type(line: &str) -> bool {
    let second = first_word(line).and_then(|(_, rest)| first_word(rest.trim_start_matches(BLANKS)));
    second.is_some_and(|(word, _)| TYPES.contains(&word))
}

/// Whether a line of a log begins an entry: with a date or a time, with a level, or with a thread and a level.
fn begins_entry(line: &str) -> bool {
    let level = |text: &str| {
        LEVELS.iter().any(|level| {
            let rest = text.strip_prefix(level);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '[', ':', '\r']))
        })
    };
    let thread = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let digits = |from: usize, to: usize| {
        let found = line.as_bytes().get(from..to);
        found.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    let sign = |at: usize, signs: &[u8]| line.as_bytes().get(at).is_some_and(|byte| signs.contains(byte));
    let date = digits(0, 4) && sign(4, b"-/") && digits(5, 7);
    let time = digits(0, 2) && sign(2, b":/") && digits(3, 5);
    date || time || level(line) || thread.is_some_and(|(_, rest)| level(rest.trim_start_matches(BLANKS)))
}

/// Whether a line above the first entry of a log may be what is left of an event, so that the log was cut there.
fn may_be_cut(line: &str) -> bool {
    line.contains('\t') || TYPES.iter().any(|kind| line.contains(kind))
}

/// The event that a text begins with, and the first line of it that belongs to no part of the event.
fn event(text: &str, index: usize) -> Result<(Event, Option<Damage>), Damage> {
    let first = text.split('\n').next().unwrap_or(text).trim_end();
    let mut reader = EdnReader::new(text);
    let mut next = |what: &str| {
        let place = reader.peek()?.map(|_| reader.place());
        // What a line lacks is not to be looked for in the next one.
        if place.is_some_and(|place| place < first.len()) {
            return Ok((reader.place(), reader.value()?));
        }
        reader.rewind(first.len());
        Err(reader.damage(format!("expected {what}, found the end of the line")))
    };
    let process = next("a process")?;
    let event_type = next("the type of the event")?;
    let f = next("the name of an operation")?;
    let named = edn::process(&process.1).is_ok_and(|process| matches!(process, Process::Name(_)));
    let before = reader.place();
    let value = read_value(&mut reader, first);
    let (place, value, error) = match value {
        Ok((place, value)) => (place, to_json(&value), &text[reader.place()..]),
        // What the nemesis did is no operation, and may be printed in any way.
        Err(_) if named && !first[before.min(first.len())..].trim().is_empty() => {
            (before, Value::from(text[before..].trim()), "")
        }
        Err(found) => return Err(found),
    };
    let column = first[..place.min(first.len())].ends_with('\t');
    let behind = error.trim_start_matches(' ');
    let apart = behind.is_empty() || behind.starts_with(['\t', '\n', '\r']) || !column && error.starts_with(' ');
    if !apart {
        reader.rewind(text.len() - error.len());
        let what = if column { "a tab" } else { "a blank" };
        return Err(reader.damage(format!("expected {what} or the end of the line after the value")));
    }
    let (beside, below) = error.split_once('\n').unwrap_or((error, ""));
    let unread = (beside.trim().is_empty() && !below.trim().is_empty()).then(|| {
        reader.rewind(text.len() - below.trim_start().len());
        reader.damage("expected an event: process, type, operation and value, with tabs between")
    });
    let error = if beside.trim().is_empty() { "" } else { error.trim() };
    let mut wrong = |place: usize, what: String| {
        reader.rewind(place);
        reader.damage(what)
    };
    let read = text.len() - error.len();
    if let Some(at) = text[..read].find(NO_TEXT).filter(|_| !named) {
        return Err(wrong(at, "it is no UTF-8".to_owned()));
    }
    let event = Event {
        index,
        time: index as u64,
        process: edn::process(&process.1).map_err(|what| wrong(process.0, what))?,
        kind: edn::kind(&event_type.1).map_err(|what| wrong(event_type.0, what))?,
        f: edn::operation(&f.1).map_err(|what| wrong(f.0, what))?,
        value,
        error: free_text(error),
        node: None,
    };
    Ok((event, unread))
}

/// The value that begins in the first line, with its place.
fn read_value(reader: &mut EdnReader<'_>, first: &str) -> Result<(usize, Edn), Damage> {
    let place = reader.peek()?.map(|_| reader.place());
    match place.filter(|place| *place < first.len()) {
        Some(place) => Ok((place, reader.value()?)),
        None => {
            reader.rewind(first.len());
            Err(reader.damage("expected a value, found the end of the line"))
        }
    }
}

/// An error as text: one value of EDN as any error that is one, else as it is written.
fn free_text(error: &str) -> Option<String> {
    match edn::parse(error) {
        _ if error.is_empty() => None,
        Ok(Edn::Symbol(_)) | Err(_) => Some(error.replace(NO_TEXT, "\u{fffd}")),
        Ok(value) => error_text(&value),
    }
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
