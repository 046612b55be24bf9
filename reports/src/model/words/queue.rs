//! Of queues: items that travel from an enqueue through a dequeue to an acknowledgement.

use super::EventContext;
use zooquake_checkers::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::queue::ITEM;
use zooquake_history::operation::{CZXID, PATH};

/// The predicate of an item's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    let item = || context.field(ITEM);
    Some(match context.what() {
        ("enqueue", Invoke) => format!("enqueues item {}", item()),
        ("enqueue", Ok) => format!("has enqueued item {}{}{}", item(), at(context), context.czxid()),
        ("enqueue", Fail | Info) => context.failed(&format!("enqueued item {}", item()))?,
        ("dequeue", Invoke) => "asks for an item".into(),
        ("dequeue", Ok) => dequeued(context),
        ("dequeue", Fail | Info) => context.failed("taken an item")?,
        ("acknowledge", Invoke) => format!("acknowledges item {}", item()),
        ("acknowledge", Ok) => format!("has acknowledged item {}: it is done with", item()),
        ("acknowledge", Fail) => format!("does not acknowledge item {}", item()),
        ("acknowledge", Info) => format!("may or may not have acknowledged item {}", item()),
        ("taking", Info) => format!("is about to take item {}", item()),
        _ => return None,
    })
}

/// ` as /queue/item-0000000007`.
fn at(context: EventContext<'_>) -> String {
    context
        .get(PATH)
        .map(|path| format!(" as {}", super::shown(path, 100)))
        .unwrap_or_default()
}

fn dequeued(context: EventContext<'_>) -> String {
    // A claim is a znode of its own; without one, taking the item was delivering it.
    let claimed = context.event.get(CZXID.any()).is_some() || context.event.get(PATH.any()).is_some();
    match context.event.get(ITEM.any()) {
        None | Some(zooquake_checkers::Value::Null) => "finds the queue empty".into(),
        Some(_) if claimed => format!(
            "is given item {}, claimed{}{}",
            context.field(ITEM),
            at(context),
            context.czxid()
        ),
        Some(_) => format!("is given item {}", context.field(ITEM)),
    }
}
