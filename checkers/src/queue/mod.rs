//! The family `queue`: items that are enqueued and dequeued.
//!
//! `items` reads out of a history what the checkers need, `drain` what the end of a run proves, `item_presence` what
//! lay in the queue when, `unanswered_removals` what the transaction logs show of operations without an answer
//! (`carriers` are the znodes of items). The checkers: `lost_item` and `abandoned_item`, `duplicate_delivery`,
//! `phantom_item`, `reordered_items`, `stuck_queue`, `stuck_item`; [`crate::znodes::orphan_node`] audits claims.

mod abandoned_item;
mod carriers;
mod drain;
mod duplicate_delivery;
mod inference;
mod item_presence;
mod items;
mod lost_item;
mod phantom_item;
mod reordered_items;
mod stuck_item;
mod stuck_queue;
mod unanswered_removals;

use crate::analysis::{Analysis, LatencyKind};
use crate::families::FamilyChecks;
use crate::findings::Findings;
use crate::liveness::refused_for_ever;
use crate::sample::{FamilyMeasures, UnitSource};
use crate::verdict::Requirements;
use crate::znodes::orphan_node;
use crate::{Results, verdict};
use items::Items;
use zooquake_history::operation::queue::{self, ITEM, f};
use zooquake_history::{Record, plan::Delivery, protocol::ClientLimit};

/// The family of queues.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &queue::FAMILY,
    check,
    checkers: &[
        "lost-item",
        "duplicate-delivery",
        "phantom-item",
        "reordered",
        "stuck-queue",
        "stuck-item",
        refused_for_ever::NAME,
        "orphan-node",
    ],
    measures: Some(FamilyMeasures {
        units: "items",
        unit: "item",
        wait: "delivery",
        wait_sentence: "from the answer to an item's enqueue to the first answer that gave it to a client",
        compete: false,
        source: UnitSource::Answered(&[f::DEQUEUE], Some(ITEM.name())),
        latency: LatencyKind::Delivery,
    }),
    infer: inference::infer,
    needs_plan: &[],
};

/// The whole verdict over a run of a queue.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let claimed = record.plan.workload.capabilities().delivery == Delivery::AtLeastOnce;
    let progress: &[&[&str]] = match claimed {
        true => &[&[f::ENQUEUE], &[f::DEQUEUE], &[f::ACKNOWLEDGE]],
        false => &[&[f::ENQUEUE], &[f::DEQUEUE]],
    };
    let items = Items::new(&run);
    lost_item::check(&run, &items, claimed, &mut found);
    duplicate_delivery::check(&run, &items, claimed, &mut found);
    phantom_item::check(&run, &items, claimed, &mut found);
    reordered_items::check(&run, &items, &mut found);
    stuck_queue::check(&run, &items, &mut found);
    stuck_item::check(&run, &items, claimed, &mut found);
    found.doubt("items cannot be read", &items.unread);
    orphan_node::check_claims(&run, &|item| items.acknowledged(item), &mut found);
    let tree = "orphans were not looked for";
    verdict::close(
        &run,
        found,
        &Requirements {
            progress,
            tree,
            logged: &[],
        },
    )
}

/// Reports what a check did not judge because clients do not name what they take: as not judged where they declared
/// that, and as a reason where none did.
fn leave_nameless(run: &Analysis<'_>, check: &str, why: String, out: &mut Findings) {
    match run.declared.any(ClientLimit::Taking) {
        true => out.leave(check, why),
        false => out.reasons.push(format!("{why} (no notice `taking` had named it)")),
    }
}

/// The content of an event's field `item`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemField {
    /// The item's number.
    Item(i64),
    /// `null`: there is no item.
    Nothing,
    /// Neither a number of an item nor `null`.
    Unreadable,
}

/// The field `item` of an event; `None` if it is absent.
fn told(run: &Analysis<'_>, at: usize) -> Option<ItemField> {
    let event = &run.events[at];
    event.get(ITEM.any()).map(|item| match event.item() {
        Some(item) => ItemField::Item(item),
        None if item.is_null() => ItemField::Nothing,
        None => ItemField::Unreadable,
    })
}
