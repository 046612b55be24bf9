//! Of the counter: increments, and reads of the value.

use super::EventContext;
use super::register::served;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::counter::{ID, VALUE};

/// The predicate of the counter's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    Some(match context.what() {
        ("increment", Invoke) => "adds 1".into(),
        ("increment", Ok) => format!("has made {}{}", context.field(ID), served(context)),
        ("increment", Fail | Info) => context.failed("added 1")?,
        ("get", Invoke) => "asks for the count".into(),
        ("get", Ok) => format!("reads {}{}", context.field(VALUE), served(context)),
        ("get", Fail | Info) => "reads nothing".into(),
        _ => return None,
    })
}
