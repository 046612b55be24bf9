//! Of groups: members, and who shows them.

use super::{EventContext, FamilyWords, Terms, shown};
use crate::text;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::membership::{self, MEMBER, MEMBERS, N, REGISTERED, VALUE, VIEW, f};
use zooquake_history::operation::{PATH, control};
use zooquake_history::{Event, Value};

const TERMS: Terms = Terms {
    holds: "is",
    hold: None,
    wait: None,
    work: "registers, changes its value",
    take: None,
    leave: Some("leaves the group"),
    took: "done",
    refused: None,
    no: None,
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &membership::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of an event of a group.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let value = || context.field(VALUE);
    Some(match context.what() {
        (f::REGISTER, Invoke) => format!("registers as {} with the value {}", context.field(MEMBER), value()),
        (f::REGISTER, Ok) => format!("is a member: {}{}", context.field(PATH), context.czxid()),
        (f::REGISTER, Fail | Info) => context.failed("registered")?,
        (f::UPDATE, Invoke) => format!("changes its value to {}", value()),
        (f::UPDATE, Ok) => format!("has changed its value to {}{}", value(), context.mzxid()),
        (f::UPDATE, Fail | Info) => context.failed(&format!("changed its value to {}", value()))?,
        (f::DEREGISTER, Invoke) => "leaves the group".into(),
        (f::DEREGISTER, Ok) => match context.removed() {
            Some(path) => format!("has left the group: {} is removed", shown(path, 80)),
            None => "has left the group".into(),
        },
        (f::DEREGISTER, Fail | Info) => context.failed("left the group")?,
        (control::f::VIEW, Ok) => format!(
            "answers {}; it believes to be {}",
            context.event.get(VIEW).map_or("no view".into(), view),
            own(context.event)
        ),
        (control::f::VIEW, Invoke) => "is asked for its view of the group".into(),
        (control::f::VIEW, Fail) => "shows no views".into(),
        (control::f::VIEW, Info) if context.event.get(N).is_some() => format!("shows {}", view(&context.event.value)),
        (control::f::VIEW, Info) => "gives no view".into(),
        _ => return None,
    })
}

/// `view 12: m1 = 3, m2 = 7`.
fn view(value: &Value) -> String {
    let n = N.read_from(value).map_or("a view".into(), |n| format!("view {n}"));
    let Some(members) = MEMBERS.read_from(value).and_then(Value::as_array) else {
        return format!("{n}: nothing, since it is not connected");
    };
    let entry = |member: &Value| {
        let name = MEMBER.read_from(member).unwrap_or("…");
        let value = VALUE.read_from(member).map_or("…".into(), |value| value.to_string());
        format!("{} = {value}", text::clip(name, 40))
    };
    let shown: Vec<String> = members.iter().take(12).map(entry).collect();
    let more = text::if_any(members.len() - shown.len(), |more| format!(" and {more} more"));
    match shown.as_slice() {
        [] => format!("{n}: nobody"),
        shown => format!("{n}: {}{more}", shown.join(", ")),
    }
}

/// The entry by which a client believes to be a member, in words.
fn own(event: &Event) -> String {
    match event.get(REGISTERED).filter(|entry| !entry.is_null()) {
        Some(entry) => PATH
            .read_from(entry)
            .map_or("a member".into(), |path| text::clip(path, 80)),
        None => "no member".into(),
    }
}
