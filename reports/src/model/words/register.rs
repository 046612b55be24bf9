//! Of what all clients share: a register, which they read, write, and compare and set, and a counter, which they raise.

use super::{EventContext, FamilyWords, Terms};
use crate::text;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::counter::{self, ID};
use zooquake_history::operation::register::{self, FROM, TO, VALUE};

const REGISTER_TERMS: Terms = Terms {
    holds: "holds",
    hold: None,
    wait: None,
    work: "writes, compares and sets",
    take: Some("reads"),
    leave: None,
    took: "written",
    refused: None,
    no: None,
};

/// The family `register`.
pub(super) const REGISTER: FamilyWords = FamilyWords {
    spec: &register::FAMILY,
    terms: |_| &REGISTER_TERMS,
    predicate,
};

const COUNTER_TERMS: Terms = Terms {
    work: "adds 1",
    took: "added",
    ..REGISTER_TERMS
};

/// The family `counter`.
pub(super) const COUNTER: FamilyWords = FamilyWords {
    spec: &counter::FAMILY,
    terms: |_| &COUNTER_TERMS,
    predicate,
};

/// The predicate of an event of either family.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let swap = || format!("from {} to {}", context.field(FROM), context.field(TO));
    Some(match context.what() {
        (register::f::READ, Invoke) => "asks for the value".into(),
        (register::f::READ, Ok) => format!("reads {}{}", context.field(VALUE), served(context)),
        (register::f::READ, Fail | Info) => "reads nothing".into(),
        (register::f::WRITE, Invoke) => format!("writes {}", context.field(VALUE)),
        (register::f::WRITE, Ok) => format!("has written {}{}", context.field(VALUE), served(context)),
        (register::f::WRITE, Fail | Info) => context.failed(&format!("written {}", context.field(VALUE)))?,
        (register::f::CAS, Invoke) => format!("compares and sets {}", swap()),
        (register::f::CAS, Ok) => format!("has compared and set {}{}", swap(), served(context)),
        (register::f::CAS, Fail) => format!("does not set {}", swap()),
        (register::f::CAS, Info) => format!("may or may not have set {}", swap()),
        (counter::f::INCREMENT, Invoke) => "adds 1".into(),
        (counter::f::INCREMENT, Ok) => format!("has made {}{}", context.field(ID), served(context)),
        (counter::f::INCREMENT, Fail | Info) => context.failed("added 1")?,
        (counter::f::GET, Invoke) => "asks for the count".into(),
        (counter::f::GET, Ok) => format!("reads {}{}", context.field(VALUE), served(context)),
        (counter::f::GET, Fail | Info) => "reads nothing".into(),
        _ => return None,
    })
}

/// `, mzxid 0x100000007, by n2`: which transaction, and which server replied.
fn served(context: EventContext<'_>) -> String {
    context.mzxid() + &context.told(Event::server, |s| format!(", by {}", text::clip(s, 24)))
}
