//! Of the register: reads, writes, and compare-and-set.

use super::FamilyWords;
use super::context::EventContext;
use crate::model::terms::Terms;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::register::{self, FROM, TO, VALUE};

/// Words for a register.
pub const TERMS: Terms = Terms {
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

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &register::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of the register's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
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
        _ => return None,
    })
}

/// `, mzxid 0x100000007, by n2`: which transaction, and which server replied.
pub(super) fn served(context: EventContext<'_>) -> String {
    context.mzxid() + &context.told(Event::server, |s| format!(", by {}", crate::text::clip(s, 24)))
}
