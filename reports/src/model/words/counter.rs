//! Of the counter: increments, and reads of the value.

use super::Told;
use super::register::served;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::counter::{ID, VALUE};

/// What the event says of the counter.
pub fn tell(told: Told<'_>) -> Option<String> {
    Some(match told.what() {
        ("increment", Invoke) => "adds 1".into(),
        ("increment", Ok) => format!("has made {}{}", told.field(ID), served(told)),
        ("increment", Fail | Info) => told.failed("added 1")?,
        ("get", Invoke) => "asks for the count".into(),
        ("get", Ok) => format!("reads {}{}", told.field(VALUE), served(told)),
        ("get", Fail | Info) => "reads nothing".into(),
        _ => return None,
    })
}
