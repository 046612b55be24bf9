//! Of queues: items that travel from an enqueue through a dequeue to an acknowledgement.

use super::{EventContext, FamilyWords, Terms, shown};
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::{
    CZXID, PATH,
    queue::{self, ITEM},
};

const TERMS: Terms = Terms {
    holds: "has claimed",
    hold: Some("has claimed an item"),
    wait: None,
    work: "enqueues",
    take: Some("dequeues"),
    leave: Some("acknowledges"),
    took: "item enqueued or given",
    refused: None,
    no: None,
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &queue::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of an item's event.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let item = || context.field(ITEM);
    Some(match context.what() {
        (queue::f::ENQUEUE, Invoke) => format!("enqueues item {}", item()),
        (queue::f::ENQUEUE, Ok) => format!("has enqueued item {}{}{}", item(), at(context), context.czxid()),
        (queue::f::ENQUEUE, Fail | Info) => context.failed(&format!("enqueued item {}", item()))?,
        (queue::f::DEQUEUE, Invoke) => "asks for an item".into(),
        (queue::f::DEQUEUE, Ok) => dequeued(context),
        (queue::f::DEQUEUE, Fail | Info) => context.failed("taken an item")?,
        (queue::f::ACKNOWLEDGE, Invoke) => format!("acknowledges item {}", item()),
        (queue::f::ACKNOWLEDGE, Ok) => format!("has acknowledged item {}: it is done with", item()),
        (queue::f::ACKNOWLEDGE, Fail) => format!("does not acknowledge item {}", item()),
        (queue::f::ACKNOWLEDGE, Info) => format!("may or may not have acknowledged item {}", item()),
        ("taking", Info) => format!("is about to take item {}", item()),
        _ => return None,
    })
}

/// ` as /queue/item-0000000007`.
fn at(context: EventContext<'_>) -> String {
    context
        .get(PATH)
        .map(|path| format!(" as {}", shown(path, 100)))
        .unwrap_or_default()
}

fn dequeued(context: EventContext<'_>) -> String {
    // A claim is a znode of its own; without one, taking the item was delivering it.
    let claimed = context.event.get(CZXID.any()).is_some() || context.event.get(PATH.any()).is_some();
    match context.event.get(ITEM.any()) {
        None | Some(zooquake_history::Value::Null) => "finds the queue empty".into(),
        Some(_) if claimed => format!(
            "is given item {}, claimed{}{}",
            context.field(ITEM),
            at(context),
            context.czxid()
        ),
        Some(_) => format!("is given item {}", context.field(ITEM)),
    }
}
