//! What an event says of an item.

use crate::analysis::Analysis;
use zooquake_history::operation::queue::ITEM;

/// What an event says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Which one.
    Item(i64),
    /// That there is none: `null`.
    Nothing,
    /// Something that is neither.
    Unreadable,
}

/// What an event says of an item; `None` if it says nothing of one.
pub fn told(run: &Analysis<'_>, at: usize) -> Option<Told> {
    let event = &run.events[at];
    event.get(ITEM.any()).map(|item| match event.item() {
        Some(item) => Told::Item(item),
        None if item.is_null() => Told::Nothing,
        None => Told::Unreadable,
    })
}
