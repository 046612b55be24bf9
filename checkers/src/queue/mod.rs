//! The family `queue`: items that are enqueued and dequeued.
//!
//! `items` reads out of a history what the checkers need, `drain` what the end of a run proves, `stock` what lay in the queue when, `removals`
//! what the transaction logs show of operations without an answer (`carriers` are the znodes of items). The checkers: `lost`, `duplicate`,
//! `phantom`, `order`, `stuck`; [`crate::orphans`] audits claims.

mod carriers;
mod drain;
mod duplicate;
mod items;
mod lost;
mod order;
mod phantom;
mod removals;
mod stock;
mod stuck;

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::plan::Delivery;
use crate::verdict::{self, Needs};
use crate::{Record, Results, orphans};
use items::Items;
use zooquake_history::operation::queue::ITEM;

/// The checkers of the family, by the names in `results.json`.
pub const CHECKERS: &[&str] = &[
    "lost-item",
    "duplicate-delivery",
    "phantom-item",
    "reordered",
    "stuck-queue",
    "orphan-node",
];

/// The whole verdict over a run of a queue.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let claimed = record.plan.workload.capabilities().delivery == Delivery::AtLeastOnce;
    let progress: &[&[&str]] = match claimed {
        true => &[&["enqueue"], &["dequeue"], &["acknowledge"]],
        false => &[&["enqueue"], &["dequeue"]],
    };
    let items = Items::new(&run);
    lost::check(&run, &items, &mut found);
    duplicate::check(&run, &items, claimed, &mut found);
    phantom::check(&run, &items, claimed, &mut found);
    order::check(&run, &items, &mut found);
    stuck::check(&run, &items, &mut found);
    found.doubt("items cannot be read", &items.unread);
    orphans::check_claims(&run, &|item| items.acknowledged(item), &mut found);
    let tree = "orphans were not looked for";
    verdict::close(
        &run,
        found,
        &Needs {
            progress,
            tree,
            logged: &[],
        },
    )
}

/// What an event says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Which one.
    Item(i64),
    /// That there is none: `null`.
    Nothing,
    /// Something that is neither.
    Unreadable,
}

/// What an event says of an item; `None` if it says nothing of one.
fn told(run: &Analysis<'_>, at: usize) -> Option<Told> {
    let event = &run.events[at];
    event.get(ITEM.any()).map(|item| match event.item() {
        Some(item) => Told::Item(item),
        None if item.is_null() => Told::Nothing,
        None => Told::Unreadable,
    })
}
