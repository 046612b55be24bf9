//! `duplicate-delivery`: an item delivered, or acknowledged, more often than the variant promises.
//!
//! At most once: no item is delivered twice. At least once: an item may be delivered again when its owner's session is
//! over, but only its last owner can acknowledge it, and only once, and after that nobody is given it.

use super::items::{Done, Item, Items};
use crate::analysis::Analysis;
use crate::findings::{Findings, Found};

/// Looks for items delivered (`claimed`: acknowledged) too often.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, claimed: bool, out: &mut Findings) {
    for (&number, item) in items.all.iter().filter(|(_, item)| !item.disputed) {
        if item.ambiguous() {
            out.reasons.push(format!(
                "item {number} may have been enqueued {} times: how often it may be delivered is not known",
                item.sent.len()
            ));
        } else if claimed {
            claim(run, items, number, item, out);
        } else if let [first, second, ..] = item.given.as_slice()
            && !items.hidden_before(second.read)
        {
            let why = format!(
                "Item {number} {}, and was delivered {} times: first to {} at {}, then to {} at {}. The variant promises to \
                 deliver each item at most once.",
                enqueued(item),
                item.given.len(),
                first.node,
                run.at(first.read),
                second.node,
                run.at(second.read),
            );
            add(run, vec![first.read, second.read], why, out);
        }
    }
    out.ran("duplicate-delivery", items.all.len());
}

fn claim(run: &Analysis<'_>, items: &Items<'_>, number: i64, item: &Item<'_>, out: &mut Findings) {
    if let [first, second, ..] = item.consumed.as_slice() {
        if items.hidden_before(second.read) {
            return;
        }
        let why = format!(
            "Item {number} {}, and was acknowledged {} times: by {} at {} and by {} at {}. An acknowledgement ends an item's \
             life, so one of these acknowledged what was over.",
            enqueued(item),
            item.consumed.len(),
            first.node,
            run.at(first.read),
            second.node,
            run.at(second.read),
        );
        return add(run, first.witness(run).chain(second.witness(run)).collect(), why, out);
    }
    let Some(ack) = item.consumed.first() else { return };
    if let Some(again) = after(item, ack).filter(|again| !items.hidden_before(again.read)) {
        let why = format!(
            "The acknowledgement of item {number} by {} was answered at {}, which ends the item's life. Yet {}, which asked only \
             after that, at {}, was given it at {}.",
            ack.node,
            run.at(ack.read),
            again.node,
            run.at(again.sent.unwrap_or(again.read)),
            run.at(again.read),
        );
        let witness = ack.witness(run).chain(again.sent).chain([again.read]);
        return add(run, witness.collect(), why, out);
    }
    if let Some((own, other)) = superseded(items, item, ack) {
        let why = format!(
            "Item {number} was delivered to {} at {}, and again to {}, which asked only after that, at {}, and got it at {}. Yet an \
             acknowledgement of the first one was accepted, which was answered at {}. If the second delivery came before it, the \
             item was the second one's by then; if not, the item's life was over before it was delivered again.",
            own.node,
            run.at(own.read),
            other.node,
            run.at(other.sent.unwrap_or(other.read)),
            run.at(other.read),
            run.at(ack.read),
        );
        let again = other.sent.into_iter().chain([other.read]);
        let witness = own.witness(run).chain(again).chain(ack.witness(run));
        add(run, witness.collect(), why, out);
    }
}

/// How often an item that is not ambiguous can have been enqueued, in words.
fn enqueued(item: &Item<'_>) -> &'static str {
    match (item.sent.is_empty(), item.failed) {
        (false, _) => "can have been enqueued once",
        (true, None) => "is named by no enqueue",
        (true, Some(_)) => "is named only by enqueues that certainly failed",
    }
}

/// A delivery that was asked for when an acknowledgement had been answered.
fn after<'a>(item: &Item<'a>, ack: &Done<'a>) -> Option<Done<'a>> {
    let later = |done: &&Done<'_>| done.sent.is_some_and(|sent| sent > ack.read);
    item.given.iter().find(later).copied()
}

/// The delivery that an acknowledgement rests on, and one to somebody else that was asked for later.
///
/// Whichever of the second delivery and the acknowledgement came first, one of them was not to be: the item was another
/// one's, or its life was over. Only a later delivery to the client that acknowledged, between the two, would explain both.
fn superseded<'a>(items: &Items<'a>, item: &Item<'a>, ack: &Done<'a>) -> Option<(Done<'a>, Done<'a>)> {
    let before = |done: &&Done<'_>| done.node == ack.node && done.sent.is_none_or(|sent| sent < ack.read);
    let own = *item.given.iter().rfind(before)?;
    // A later dequeue of its own, whose outcome is unknown, may have given the item back to it.
    if items.may_take(ack.node, own.read, ack.read) {
        return None;
    }
    let later = |done: &&Done<'_>| done.node != ack.node && done.sent.is_some_and(|sent| sent > own.read);
    let other = *item.given.iter().find(later)?;
    (!items.hidden_before(other.read)).then_some((own, other))
}

fn add(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Found::new("duplicate-delivery", "deliveries", witness, why));
}
