//! Histories from events in any order.

use serde_json::{Value, json};
use zooquake_checkers::{Event, EventType, History, Process};

pub const MS: u64 = 1_000_000;

/// Collects events, then puts them in order.
#[derive(Default)]
pub struct Builder {
    events: Vec<(u64, Option<&'static str>, Event)>,
}

impl Builder {
    /// An event of a client's process.
    pub fn op(&mut self, at: u64, client: usize, process: u64, kind: EventType, f: &str, value: Value) -> &mut Self {
        self.push(at, Process::Number(process), kind, f, value, Some(format!("c{client}")))
    }

    /// An event of a client's lane.
    pub fn lane(&mut self, at: u64, client: usize, kind: EventType, f: &str, value: Value) -> &mut Self {
        let name = format!("c{client}");
        self.push(at, Process::Name(name.clone().into()), kind, f, value, Some(name))
    }

    pub fn phase(&mut self, at: u64, name: &str) -> &mut Self {
        self.push(
            at,
            Process::Name("run".into()),
            EventType::Info,
            "phase",
            json!(name),
            None,
        )
    }

    /// All events of one fault.
    pub fn fault(&mut self, id: usize, fault: &str, target: &str, from: u64, until: u64) -> &mut Self {
        let steps = [
            (from - 12 * MS, json!({"window": id, "phase": "begin"})),
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
    pub fn fault_value(&mut self, phase: &str) -> &mut zooquake_checkers::Value {
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

    /// Gives the last event an error.
    pub fn error(&mut self, error: &str) -> &mut Self {
        self.events.last_mut().unwrap().2.error = Some(error.into());
        self
    }

    /// Gives the last event a name to find its index by.
    pub fn tag(&mut self, tag: &'static str) -> &mut Self {
        self.events.last_mut().unwrap().1 = Some(tag);
        self
    }

    /// The history, and the index of every tagged event.
    pub fn finish(mut self) -> (History, Vec<(&'static str, usize)>) {
        self.events.sort_by_key(|(at, ..)| *at);
        let mut tags = Vec::new();
        let mut events = Vec::new();
        for (index, (_, tag, mut event)) in self.events.into_iter().enumerate() {
            event.index = index;
            tags.extend(tag.map(|t| (t, index)));
            events.push(event);
        }
        (History { events }, tags)
    }
}
