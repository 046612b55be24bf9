//! The family `queue`: items that are enqueued and dequeued.
//!
//! [`items`] reads out of a history what the checkers need, and what its end proves; [`carriers`] are the znodes of
//! items, and what the transaction logs show of operations without an answer. The checkers: `phantom-item` (an item
//! delivered, or acknowledged, that no client had sent, or only in requests that certainly failed) is here, the others
//! are files of their own; [`crate::znodes::orphan_node`] audits claims.

mod carriers;
mod duplicate_delivery;
mod items;
mod lost_item;
mod reordered_items;
mod stuck_item;
mod stuck_queue;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, answers, asks, invocations, known};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever;
use crate::verdict::Requirements;
use crate::znodes::orphan_node;
use crate::{Results, verdict};
use items::{AnsweredOperation, Items, QueueItem};
use zooquake_history::operation::queue::{ITEM, f};
use zooquake_history::operation::{CZXID, PATH, queue};
use zooquake_history::plan::Delivery;
use zooquake_history::protocol::ClientLimit;
use zooquake_history::{History, Record};

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
    infer,
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
    phantom_items(&run, &items, claimed, &mut found);
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

/// Looks for items delivered (`claimed`: or acknowledged) before any enqueue of them was sent that may have happened.
fn phantom_items(run: &Analysis<'_>, items: &Items<'_>, claimed: bool, out: &mut Findings) {
    let mut looked_at = 0;
    for (&number, item) in items.all.iter().filter(|(_, item)| !item.disputed) {
        let acknowledged = item.consumed.first().filter(|_| claimed);
        let (done, what) = match (item.given.first(), acknowledged) {
            (Some(given), _) => (given, "delivered to"),
            (None, Some(done)) => (done, "acknowledged by"),
            (None, None) => continue,
        };
        looked_at += 1;
        // An enqueue whose invocation is missing may have been sent at any time.
        let sent = item.sent.iter().any(|sent| sent.is_none_or(|sent| sent < done.read));
        if !sent && !items.hidden_before(done.read) {
            phantom(run, (number, item), (done, what), out);
        }
    }
    out.ran("phantom-item", looked_at);
}

fn phantom(
    run: &Analysis<'_>,
    (number, item): (i64, &QueueItem<'_>),
    (done, what): (&AnsweredOperation<'_>, &str),
    out: &mut Findings,
) {
    let later = match (item.sent.first().copied().flatten(), item.failed) {
        (Some(sent), _) => format!("The first such enqueue was sent only at {}.", run.at(sent)),
        (None, Some(failed)) => format!(
            "Every enqueue of it certainly failed, such as the one that was answered at {} with `fail`.",
            run.at(failed)
        ),
        (None, None) => "No enqueue in the history names it.".to_owned(),
    };
    let why = format!(
        "Item {number} was {what} {} at {}, and until then no enqueue of it had been sent that can have happened. {later}",
        done.node,
        run.at(done.read),
    );
    let found = Finding::new("phantom-item", "nothing is made up", done.witness(run).collect(), why);
    out.add(run, found);
}

/// What it promises; `None` if it is no queue's.
fn infer(history: &History) -> Option<Inference> {
    let names = asks(history, &[f::ENQUEUE, f::ACKNOWLEDGE], ITEM.any());
    (names || delivers(history)).then(|| Inference {
        variant: "claimed",
        basis: match claims(history) {
            true => "items are claimed, so it was judged by what queue/claimed promises",
            false => {
                "nothing shows whether an item may be delivered again until it is acknowledged, so only what \
                 queue/fifo and queue/claimed both promise was judged"
            }
        },
    })
}

fn delivers(history: &History) -> bool {
    answers(history).any(|event| event.f == f::DEQUEUE && event.get(ITEM.any()).is_some())
}

/// Whether items are claimed and acknowledged.
fn claims(history: &History) -> bool {
    let acknowledges = invocations(history).any(|event| event.f == f::ACKNOWLEDGE);
    acknowledges
        || answers(history)
            .any(|event| event.f == f::DEQUEUE && (known(event, PATH.any()) || known(event, CZXID.any())))
}
