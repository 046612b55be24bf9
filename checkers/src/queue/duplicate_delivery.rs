//! `duplicate-delivery`: an item delivered, or acknowledged, more often than the variant promises.
//!
//! At most once: no item is delivered twice. At least once: an item may be delivered again when its owner's session is
//! over, but only its last owner can acknowledge it, and only once, and after that nobody is given it.
//!
//! An operation without an answer counts if it certainly took the item ([`super::carriers`]). Where the
//! delete is the delivery, the client that deleted it may still hand it out itself; so only a delivery to another
//! client is a second one.

use super::carriers::{Removal, removals};
use super::items::{AnsweredOperation, Items, QueueItem};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_history::operation::queue::f;

/// Looks for items delivered (`claimed`: acknowledged) too often.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, claimed: bool, out: &mut Findings) {
    let removals = removals(run, items, if claimed { f::ACKNOWLEDGE } else { f::DEQUEUE });
    for (&number, item) in items.all.iter().filter(|(_, item)| !item.disputed) {
        let removals = removals.get(&number).map_or(&[][..], Vec::as_slice);
        if item.ambiguous() {
            out.reasons.push(format!(
                "item {number} may have been enqueued {} times: how often it may be delivered is not known",
                item.sent.len()
            ));
        } else if claimed {
            claim(run, items, (number, item, removals), out);
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
        } else if let Some((removal, given)) = taken_twice(item, removals)
            && !items.hidden_before(given.read)
        {
            let why = format!(
                "Item {number} {}, and was taken twice. First, {}. Then it was delivered to {} at {}. The variant promises to deliver each \
                 item at most once.",
                enqueued(item),
                removal.words,
                given.node,
                run.at(given.read),
            );
            add(
                run,
                removal.witness.iter().copied().chain([given.read]).collect(),
                why,
                out,
            );
        }
    }
    out.ran("duplicate-delivery", items.all.len());
}

/// A dequeue without an answer that certainly took the item, and a delivery of it to another client.
fn taken_twice<'r, 'a>(
    item: &'r QueueItem<'a>,
    removals: &'r [Removal<'a>],
) -> Option<(&'r Removal<'a>, &'r AnsweredOperation<'a>)> {
    removals.iter().find_map(|removal| {
        let other = item.given.iter().find(|given| given.node != removal.done.node);
        Some((removal, other?))
    })
}

fn claim(
    run: &Analysis<'_>,
    items: &Items<'_>,
    (number, item, removals): (i64, &QueueItem<'_>, &[Removal<'_>]),
    out: &mut Findings,
) {
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
    let answered = item.consumed.iter().map(|done| Removal {
        done: *done,
        witness: done.witness(run).collect(),
        words: format!(
            "the acknowledgement of {} was answered at {}",
            done.node,
            run.at(done.read)
        ),
    });
    let all: Vec<Removal<'_>> = answered.chain(removals.iter().cloned()).collect();
    let again = all.iter().find_map(|ack| Some((ack, after(item, &ack.done)?)));
    if let Some((ack, again)) = again.filter(|(_, again)| !items.hidden_before(again.read)) {
        let why = format!(
            "Item {number} was acknowledged, which ends its life: {}. Yet {}, which asked only after that, at {}, was given it at {}.",
            ack.words,
            again.node,
            run.at(again.sent.unwrap_or(again.read)),
            run.at(again.read),
        );
        let witness = ack.witness.iter().copied().chain(again.sent).chain([again.read]);
        return add(run, witness.collect(), why, out);
    }
    let superseded = all
        .iter()
        .find_map(|ack| Some((ack, superseded(items, item, &ack.done)?)));
    if let Some((ack, (own, other))) = superseded {
        let why = format!(
            "Item {number} was delivered to {} at {}, and again to {}, which asked only after that, at {}, and got it at {}. Yet the first one \
             acknowledged it: {}. If the second delivery came before that, the item was the second one's by then; if not, the item's life \
             was over before it was delivered again.",
            own.node,
            run.at(own.read),
            other.node,
            run.at(other.sent.unwrap_or(other.read)),
            run.at(other.read),
            ack.words,
        );
        let again = other.sent.into_iter().chain([other.read]);
        let witness = own.witness(run).chain(again).chain(ack.witness.iter().copied());
        add(run, witness.collect(), why, out);
    }
}

/// How often an item that is not ambiguous can have been enqueued, in words.
fn enqueued(item: &QueueItem<'_>) -> &'static str {
    match (item.sent.is_empty(), item.failed) {
        (false, _) => "can have been enqueued once",
        (true, None) => "is named by no enqueue",
        (true, Some(_)) => "is named only by enqueues that certainly failed",
    }
}

/// A delivery that was asked for when an acknowledgement had been answered.
fn after<'a>(item: &QueueItem<'a>, ack: &AnsweredOperation<'a>) -> Option<AnsweredOperation<'a>> {
    let later = |done: &&AnsweredOperation<'_>| done.sent.is_some_and(|sent| sent > ack.read);
    item.given.iter().find(later).copied()
}

/// The delivery that an acknowledgement rests on, and one to somebody else that was asked for later.
///
/// Whichever of the second delivery and the acknowledgement came first, one of them was not to be: the item was another
/// one's, or its life was over. Only a later delivery to the client that acknowledged, between the two, would explain
/// both.
fn superseded<'a>(
    items: &Items<'a>,
    item: &QueueItem<'a>,
    ack: &AnsweredOperation<'a>,
) -> Option<(AnsweredOperation<'a>, AnsweredOperation<'a>)> {
    let before = |done: &&AnsweredOperation<'_>| done.node == ack.node && done.sent.is_none_or(|sent| sent < ack.read);
    let own = *item.given.iter().rfind(before)?;
    // A later dequeue of its own, whose outcome is unknown, may have given the item back to it.
    if items.may_take(ack.node, own.read, ack.read) {
        return None;
    }
    let later = |done: &&AnsweredOperation<'_>| done.node != ack.node && done.sent.is_some_and(|sent| sent > own.read);
    let other = *item.given.iter().find(later)?;
    (!items.hidden_before(other.read)).then_some((own, other))
}

fn add(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Finding::new("duplicate-delivery", "deliveries", witness, why));
}
