//! Histories from events in any order.

use serde_json::{Value, json};
use zooquake_history::{Event, EventType, History, Process};

pub const MS: u64 = 1_000_000;

/// Collects events, then puts them in order.
#[derive(Default)]
pub struct Builder {
    events: Vec<(u64, Option<String>, Event)>,
}

impl Builder {
    /// Adds events, each on a line of its own, at milliseconds of the run.
    ///
    /// `FROM-UNTIL cN F key=value … -> TYPE key=value …` is a request to a client and its answer; `AT cN TYPE F
    /// key=value …` one event of it, of its lane where the type is `ask`, `answer` or `note`. Its process is N - 1, or
    /// P of `cN/P`. Values are JSON, or else words. At the end of a line `@tag` names its last event, to find the index
    /// by, and what stands after `!` is its error.
    pub fn tell(&mut self, text: &str) -> &mut Self {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (line, error) = cut(line, " !");
            let (line, tag) = cut(line, " @");
            match cut(line, " -> ") {
                (asked, Some(told)) => {
                    let words: Vec<&str> = asked.split_whitespace().collect();
                    let (from, until) = words[0].split_once('-').expect("two moments");
                    self.event(from, words[1], "invoke", words[2], &words[3..]);
                    let told: Vec<&str> = told.split_whitespace().collect();
                    self.event(until, words[1], told[0], words[2], &told[1..]);
                }
                (one, None) => {
                    let words: Vec<&str> = one.split_whitespace().collect();
                    self.event(words[0], words[1], words[2], words[3], &words[4..]);
                }
            }
            let (_, name, event) = self.events.last_mut().unwrap();
            (*name, event.error) = (tag.map(str::to_owned), error.map(str::to_owned));
        }
        self
    }

    fn event(&mut self, at: &str, who: &str, kind: &str, f: &str, fields: &[&str]) {
        let (node, number) = cut(who, "/");
        let number = number.map_or_else(
            || node[1..].parse::<u64>().unwrap() - 1,
            |number| number.parse().unwrap(),
        );
        let process = match kind {
            "ask" | "answer" | "note" => Process::Name(node.into()),
            _ => Process::Number(number),
        };
        let kind = match kind {
            "invoke" | "ask" => EventType::Invoke,
            "ok" | "answer" => EventType::Ok,
            "fail" => EventType::Fail,
            _ => EventType::Info,
        };
        let field = |field: &&str| {
            let (name, text) = field.split_once('=').expect("a field");
            let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            (name.to_owned(), value)
        };
        let nothing = fields.is_empty() && matches!(kind, EventType::Fail | EventType::Info);
        let value = if nothing {
            Value::Null
        } else {
            Value::Object(fields.iter().map(field).collect())
        };
        let time = (at.parse::<f64>().unwrap() * MS as f64).round() as u64;
        self.push(time, process, kind, f, value, Some(node.to_owned()));
    }

    pub fn phase(&mut self, at: u64, name: &str) -> &mut Self {
        let run = Process::Name("run".into());
        self.push(at, run, EventType::Info, "phase", json!(name), None)
    }

    /// All events of one fault.
    pub fn fault(&mut self, id: usize, fault: &str, target: &str, from: u64, until: u64) -> &mut Self {
        self.struck(id, (fault, target), from - 12 * MS, (from, until))
    }

    /// The same, of one whose effect was verified a while after it struck.
    pub fn struck(
        &mut self,
        id: usize,
        (fault, target): (&str, &str),
        begin: u64,
        (from, until): (u64, u64),
    ) -> &mut Self {
        let steps = [
            (begin, json!({"window": id, "phase": "begin"})),
            (
                from,
                json!({"window": id, "phase": "on", "target": target, "verified": true, "detail": "seen from outside"}),
            ),
            (until - 15 * MS, json!({"window": id, "phase": "heal"})),
            (
                until,
                json!({"window": id, "phase": "off", "target": target, "verified": true, "detail": "answers"}),
            ),
        ];
        for (at, value) in steps {
            self.push(at, Process::Name("nemesis".into()), EventType::Info, fault, value, None);
        }
        self
    }

    /// The value of an event of a fault that was added before.
    pub fn fault_value(&mut self, phase: &str) -> &mut zooquake_history::Value {
        let of = |event: &Event| event.is_of("nemesis") && event.phase() == Some(phase);
        let found = self.events.iter_mut().rev().find(|(.., event)| of(event));
        &mut found.unwrap().2.value
    }

    fn push(
        &mut self,
        at: u64,
        process: Process,
        kind: EventType,
        f: &str,
        value: Value,
        node: Option<String>,
    ) -> &mut Self {
        let event = Event {
            index: 0,
            time: at,
            process,
            kind,
            f: f.into(),
            value: value.into(),
            error: None,
            node: node.map(Into::into),
        };
        self.events.push((at, None, event));
        self
    }

    /// Gives the last event a name to find its index by.
    pub fn tag(&mut self, tag: &str) -> &mut Self {
        self.events.last_mut().unwrap().1 = Some(tag.to_owned());
        self
    }

    /// The history, and the index of every tagged event.
    pub fn finish(mut self) -> (History, Vec<(String, usize)>) {
        self.events.sort_by_key(|(at, ..)| *at);
        let mut tags = Vec::new();
        let mut events = Vec::new();
        for (index, (_, tag, mut event)) in self.events.into_iter().enumerate() {
            event.index = index;
            tags.extend(tag.map(|tag| (tag, index)));
            events.push(event);
        }
        (History { events }, tags)
    }
}

/// What stands before a separator, and what after it.
fn cut<'a>(text: &'a str, separator: &str) -> (&'a str, Option<&'a str>) {
    text.split_once(separator)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}
