//! Events in words, one family of recipes a file.

mod barrier;
mod commit;
mod control;
mod counter;
mod fault;
mod grant;
mod queue;
mod register;

pub use fault::lost;

use crate::text;
use zooquake_checkers::{Event, EventType, Value};
use zooquake_history::operation::{Field, PATH, REMOVED};

/// An event with its invocation, because a completion may leave out fields of that.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'a> {
    pub event: &'a Event,
    /// What it answers, if it is a completion.
    pub invoke: Option<&'a Event>,
    /// What the run's family grants; empty if nothing is known to be granted.
    pub thing: &'static str,
}

/// The predicate of an event of a family; `None` if it is none of its own.
type Predicate = fn(EventContext<'_>) -> Option<String>;

/// Every family. A new one is a new module and a line here.
const FAMILIES: [Predicate; 8] = [
    fault::predicate,
    control::predicate,
    grant::predicate,
    queue::predicate,
    barrier::predicate,
    commit::predicate,
    register::predicate,
    counter::predicate,
];

/// The predicate of an event: the rest of a sentence that begins with its client; `thing` is what the run's family
/// grants.
pub fn event(event: &Event, invoke: Option<&Event>, thing: &'static str) -> String {
    let context = EventContext { event, invoke, thing };
    let known = FAMILIES.iter().find_map(|predicate| predicate(context));
    let error = event
        .error
        .as_deref()
        .map(|e| format!(" ({})", text::clip(e, 120)))
        .unwrap_or_default();
    known.unwrap_or_else(|| plain(event)) + &error
}

impl<'a> EventContext<'a> {
    /// The operation and how far it is.
    fn what(&self) -> (&'a str, EventType) {
        (&self.event.f, self.event.kind)
    }

    /// A field of the value, whatever it is; of the invocation's where the event has none.
    fn get<T: ?Sized>(&self, field: Field<T>) -> Option<&'a Value> {
        let own = self.event.get(field.any());
        own.or_else(|| self.invoke.and_then(|invoke| invoke.get(field.any())))
    }

    /// A field as it is shown; `…` if there is none.
    fn field<T: ?Sized>(&self, field: Field<T>) -> String {
        self.get(field).map_or("…".into(), |value| shown(value, 120))
    }

    /// A field of the event; that of the invocation where the event has none.
    fn read<T>(&self, field: fn(&'a Event) -> Option<T>) -> Option<T> {
        field(self.event).or_else(|| field(self.invoke?))
    }

    /// `, czxid 0x100000007`, if the event has one.
    fn czxid(&self) -> String {
        let zxid = self.read(Event::czxid).map(|zxid| format!(", czxid {zxid:#x}"));
        zxid.unwrap_or_default()
    }

    /// The path of the znode that it removed, as it stands there.
    fn removed(&self) -> Option<&'a Value> {
        PATH.any().read_from(self.get(REMOVED)?)
    }

    /// How long it is to work before it does what it is asked for; `None` if not at all.
    fn work(&self) -> Option<String> {
        let ms = self.read(Event::work_ms).filter(|ms| *ms > 0)?.unsigned_abs();
        Some(text::duration(ms.saturating_mul(1_000_000)))
    }

    /// What became of an operation of which nothing more is known than its failure.
    fn failed(&self, doing: &str) -> Option<String> {
        match self.event.kind {
            EventType::Fail => Some(format!("has certainly not {doing}")),
            EventType::Info => Some(format!("may or may not have {doing}")),
            EventType::Invoke | EventType::Ok => None,
        }
    }
}

/// A value on one line; `nothing` for null, which would be invisible.
fn shown(value: &Value, max: usize) -> String {
    match value {
        Value::Null => "nothing".into(),
        value => text::value(value, max),
    }
}

fn plain(event: &Event) -> String {
    let kind = match event.kind {
        EventType::Invoke => "is asked for",
        EventType::Ok => "has done",
        EventType::Fail => "has not done",
        EventType::Info => "notes",
    };
    format!("{kind} {} {}", text::clip(&event.f, 40), text::value(&event.value, 120))
        .trim_end()
        .to_owned()
}
