//! Of queues: items that travel from an enqueue through a dequeue to an acknowledgement.

use super::Told;
use zooquake_checkers::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::queue::ITEM;
use zooquake_history::operation::{CZXID, PATH};

/// What the event says of an item.
pub fn tell(told: Told<'_>) -> Option<String> {
    let item = || told.field(ITEM);
    Some(match told.what() {
        ("enqueue", Invoke) => format!("enqueues item {}", item()),
        ("enqueue", Ok) => format!("has enqueued item {}{}{}", item(), at(told), told.czxid()),
        ("enqueue", Fail | Info) => told.failed(&format!("enqueued item {}", item()))?,
        ("dequeue", Invoke) => "asks for an item".into(),
        ("dequeue", Ok) => dequeued(told),
        ("dequeue", Fail | Info) => told.failed("taken an item")?,
        ("acknowledge", Invoke) => format!("acknowledges item {}", item()),
        ("acknowledge", Ok) => format!("has acknowledged item {}: it is done with", item()),
        ("acknowledge", Fail) => format!("does not acknowledge item {}", item()),
        ("acknowledge", Info) => format!("may or may not have acknowledged item {}", item()),
        ("taking", Info) => format!("is about to take item {}", item()),
        _ => return None,
    })
}

/// ` as /queue/item-0000000007`.
fn at(told: Told<'_>) -> String {
    told.get(PATH)
        .map(|path| format!(" as {}", super::shown(path, 100)))
        .unwrap_or_default()
}

fn dequeued(told: Told<'_>) -> String {
    // A claim is a znode of its own; without one, taking the item was delivering it.
    let claimed = told.event.get(CZXID.any()).is_some() || told.event.get(PATH.any()).is_some();
    match told.event.get(ITEM.any()) {
        None | Some(zooquake_checkers::Value::Null) => "finds the queue empty".into(),
        Some(_) if claimed => format!(
            "is given item {}, claimed{}{}",
            told.field(ITEM),
            at(told),
            told.czxid()
        ),
        Some(_) => format!("is given item {}", told.field(ITEM)),
    }
}
