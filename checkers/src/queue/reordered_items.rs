//! `reordered`: first deliveries against the order of enqueues that certainly followed each other.
//!
//! The enqueue of one item was acknowledged before that of another was sent, and the other was delivered before any
//! dequeue was sent that can have been the first to deliver the one. One report for each item that was overtaken.

use super::items::{Items, QueueItem};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_history::protocol::ClientLimit;

/// An item by where its enqueue was sent and where its first known delivery was read.
#[derive(Debug, Clone, Copy)]
struct EarliestDelivery {
    sent: usize,
    number: i64,
    read: usize,
}

/// Looks for items that were overtaken.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, out: &mut Findings) {
    let all = items.all.iter().filter(|(_, item)| !item.disputed);
    let mut later: Vec<EarliestDelivery> = all.filter_map(|(&number, item)| overtaker(number, item)).collect();
    later.sort_unstable_by_key(|later| later.sent);
    // For each place in that order, who was delivered first from there on.
    let mut first: Vec<EarliestDelivery> = later.clone();
    for at in (0..first.len().saturating_sub(1)).rev() {
        if first[at + 1].read < first[at].read {
            first[at] = first[at + 1];
        }
    }
    // Who has not answered yet may have taken anything, from when it was asked.
    let open = items.open.iter().map(|&(_, sent)| sent);
    let unreadable = items.unreadable.iter().map(|taken| taken.sent.unwrap_or(0));
    // So may one whose client cannot name what it takes.
    let free = items.free.first().copied();
    let open = open.chain(unreadable).chain(free).min().unwrap_or(usize::MAX);
    let mut looked_at = 0;
    for (&number, item) in items.all.iter().filter(|(_, item)| !item.ambiguous() && !item.disputed) {
        let (Some(stored), Some(sent)) = (item.stored, earliest(item)) else {
            continue;
        };
        looked_at += 1;
        let place = later.partition_point(|later| later.sent < stored);
        // An enqueue that cannot be read may have been an earlier one of the other item.
        let certain = |other: &&EarliestDelivery| other.read < sent.min(open) && !items.hidden_before(other.read);
        if let Some(other) = first.get(place).filter(certain) {
            overtaken(run, (number, item), (other, sent), out);
        }
    }
    if let Some(sent) = free {
        let cannot = ["does not", "cannot"][usize::from(run.declared.any(ClientLimit::Taking))];
        super::leave_nameless(
            run,
            "reordered",
            format!(
                "a dequeue sent at {} ended without an answer, and its client {cannot} name what it takes: of what was delivered \
                 after that, the order is not judged",
                run.at(sent)
            ),
            out,
        );
    }
    out.ran("reordered", looked_at);
}

fn overtaker(number: i64, item: &QueueItem<'_>) -> Option<EarliestDelivery> {
    let ([Some(sent)], Some(given)) = (item.sent.as_slice(), item.given.first()) else {
        return None;
    };
    // One that was delivered before it was sent is a phantom, which has no place in the order.
    (*sent < given.read).then_some(EarliestDelivery {
        sent: *sent,
        number,
        read: given.read,
    })
}

/// Where the first dequeue was sent that delivered the item or may have; `None` if it was never delivered for certain,
/// or may have been at any time.
fn earliest(item: &QueueItem<'_>) -> Option<usize> {
    let certain = item.given.iter().map(|given| given.sent);
    certain.clone().next()?;
    let sent: Option<Vec<usize>> = certain.chain(item.maybe_given.iter().copied()).collect();
    sent?.into_iter().min()
}

/// `first`: where the first dequeue was sent that can have delivered the item.
fn overtaken(
    run: &Analysis<'_>,
    (number, item): (i64, &QueueItem<'_>),
    (other, first): (&EarliestDelivery, usize),
    out: &mut Findings,
) {
    let (Some(stored), Some(given)) = (item.stored, item.given.iter().min_by_key(|given| given.sent)) else {
        return;
    };
    let why = format!(
        "The enqueue of item {} was sent at {}, after that of item {number} had been acknowledged at {}. Yet item {} was \
         delivered first: at {}, while no dequeue that can have been the first to deliver item {number} was sent before {}.",
        other.number,
        run.at(other.sent),
        run.at(stored),
        other.number,
        run.at(other.read),
        run.at(first),
    );
    let witness = [
        Some(stored),
        Some(other.sent),
        Some(other.read),
        given.sent,
        Some(given.read),
    ];
    let witness = witness.into_iter().flatten().collect();
    out.add(run, Finding::new("reordered", "first in, first out", witness, why));
}
