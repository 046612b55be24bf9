//! What the words of an event are made from.

use crate::text;
use zooquake_history::operation::{Field, PATH, REMOVED};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, EventType, Value};

/// An event with its invocation, because a completion may leave out fields of that.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'a> {
    pub event: &'a Event,
    /// What it answers, if it is a completion.
    pub invoke: Option<&'a Event>,
    /// What the run's family grants; empty if nothing is known to be granted.
    pub thing: &'static str,
    /// What the run's consensus protocol is for.
    pub goal: ConsensusGoal,
}

impl<'a> EventContext<'a> {
    /// The operation and how far it is.
    pub fn what(&self) -> (&'a str, EventType) {
        (&self.event.f, self.event.kind)
    }

    /// A field of the value, whatever it is; of the invocation's where the event has none.
    pub fn get<T: ?Sized>(&self, field: Field<T>) -> Option<&'a Value> {
        let own = self.event.get(field.any());
        own.or_else(|| self.invoke.and_then(|invoke| invoke.get(field.any())))
    }

    /// A field as it is shown; `…` if there is none.
    pub fn field<T: ?Sized>(&self, field: Field<T>) -> String {
        self.get(field).map_or("…".into(), |value| shown(value, 120))
    }

    /// A field of the event; that of the invocation where the event has none.
    pub fn read<T>(&self, field: fn(&'a Event) -> Option<T>) -> Option<T> {
        field(self.event).or_else(|| field(self.invoke?))
    }

    /// The same in words; nothing where neither has the field.
    pub fn told<T>(&self, field: fn(&'a Event) -> Option<T>, words: impl Fn(T) -> String) -> String {
        self.read(field).map(words).unwrap_or_default()
    }

    /// `, czxid 0x100000007`, if the event has one.
    pub fn czxid(&self) -> String {
        self.told(Event::czxid, |zxid| format!(", czxid {zxid:#x}"))
    }

    /// `, mzxid 0x100000007`, if the event has one.
    pub fn mzxid(&self) -> String {
        self.told(Event::mzxid, |zxid| format!(", mzxid {zxid:#x}"))
    }

    /// The path of the znode that it removed, as it stands there.
    pub fn removed(&self) -> Option<&'a Value> {
        PATH.any().read_from(self.get(REMOVED)?)
    }

    /// What it has done, and which znode it removed by that, if that is known.
    pub fn with_removed(&self, done: String) -> String {
        match self.removed() {
            Some(path) => format!("{done}: removed {}", text::value(path, 80)),
            None => done,
        }
    }

    /// How long it is to work before it does what it is asked for; `None` if not at all.
    pub fn work(&self) -> Option<String> {
        let ms = self.read(Event::work_ms).filter(|ms| *ms > 0)?;
        Some(text::millis(ms.unsigned_abs()))
    }

    /// What became of an operation of which nothing more is known than its failure.
    pub fn failed(&self, doing: &str) -> Option<String> {
        match self.event.kind {
            EventType::Fail => Some(format!("has certainly not {doing}")),
            EventType::Info => Some(format!("may or may not have {doing}")),
            EventType::Invoke | EventType::Ok => None,
        }
    }
}

/// A value on one line; `nothing` for null, which would be invisible.
pub fn shown(value: &Value, max: usize) -> String {
    match value {
        Value::Null => "nothing".into(),
        value => text::value(value, max),
    }
}
