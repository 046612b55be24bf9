//! Of the counter: increments, and reads of the value.

use super::FamilyWords;
use super::context::EventContext;
use super::register::{self, served};
use crate::model::terms::Terms;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::counter::{self, ID, VALUE};

const TERMS: Terms = Terms {
    work: "adds 1",
    took: "added",
    ..register::TERMS
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &counter::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of the counter's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    Some(match context.what() {
        (counter::f::INCREMENT, Invoke) => "adds 1".into(),
        (counter::f::INCREMENT, Ok) => format!("has made {}{}", context.field(ID), served(context)),
        (counter::f::INCREMENT, Fail | Info) => context.failed("added 1")?,
        (counter::f::GET, Invoke) => "asks for the count".into(),
        (counter::f::GET, Ok) => format!("reads {}{}", context.field(VALUE), served(context)),
        (counter::f::GET, Fail | Info) => "reads nothing".into(),
        _ => return None,
    })
}
