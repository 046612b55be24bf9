//! `lost-item`: an acknowledged enqueue was neither delivered, nor named by a dequeue or acknowledgement whose end is
//! unknown, nor found in the final drain.

use super::drain::Drain;
use super::items::{Item, Items};
use crate::analysis::Analysis;
use crate::findings::{Findings, Found};
use crate::text::count;

/// Looks for lost items, if the drain was seen to its end; if it was not, that is a reason against `valid`.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, out: &mut Findings) {
    let drain = match Drain::of(run) {
        Ok(drain) => drain,
        Err(why) => {
            out.reasons.push(why.to_owned());
            return out.ran("lost-item", 0);
        }
    };
    let stored = || {
        items
            .all
            .iter()
            .filter_map(|(&number, item)| Some((number, item, item.stored?)))
    };
    let missing = stored().filter(|(_, item, _)| !accounted(item));
    let (judged, late): (Vec<_>, Vec<_>) = missing.partition(|&(_, _, stored)| stored < drain.asked);
    for (number, _, at) in late {
        out.reasons.push(format!(
            "the enqueue of item {number} was acknowledged at {}, after the drain had begun, and nobody is known to have got it: \
             whether it is lost was not judged",
            run.at(at)
        ));
    }
    // Who has not answered may have taken one without anybody's having read so.
    if let Some((node, sent)) = items.open.first().filter(|_| !judged.is_empty()) {
        out.reasons.push(format!(
            "nobody is known to have got {}, but the dequeue of {node} sent at {} was never answered: what is lost was not \
             judged",
            count(judged.len(), "item"),
            run.at(*sent)
        ));
    } else if items.hidden_acknowledgement && !judged.is_empty() {
        out.reasons.push(format!(
            "nobody is known to have got {}, but an acknowledgement cannot be read: what is lost was not judged",
            count(judged.len(), "item")
        ));
    } else {
        // So may one whose answer cannot be read, of what had been sent by then.
        let sent = |item: &Item<'_>, stored: usize| item.sent.iter().flatten().min().copied().unwrap_or(stored);
        let last = items
            .unreadable
            .iter()
            .map(|taken| taken.read.unwrap_or(usize::MAX))
            .max();
        let (hidden, certain): (Vec<_>, Vec<_>) = judged
            .into_iter()
            .map(|(number, item, stored)| (number, sent(item, stored), stored))
            .partition(|&(_, sent, _)| last.is_some_and(|last| last > sent));
        if let Some((number, ..)) = hidden.first() {
            out.reasons.push(format!(
                "nobody is known to have got {}, such as item {number}, but what some dequeue took cannot be read: what is lost \
                 was not judged",
                count(hidden.len(), "item")
            ));
        }
        certain.into_iter().for_each(|item| lost(run, &drain, item, out));
    }
    out.ran("lost-item", stored().count());
}

/// Whether it is known, or possible, that somebody got it.
fn accounted(item: &Item<'_>) -> bool {
    item.disputed
        || !item.given.is_empty()
        || !item.maybe_given.is_empty()
        || !item.consumed.is_empty()
        || item.maybe_consumed
}

fn lost(run: &Analysis<'_>, drain: &Drain<'_>, (number, sent, stored): (i64, usize, usize), out: &mut Findings) {
    let by = run.events[stored].node.as_deref().unwrap_or("a client");
    let why = format!(
        "Item {number} was enqueued by {by}, which was told so at {}. No dequeue was answered with it, no dequeue or \
         acknowledgement whose end is unknown had named it, and it was not in the queue any more: {}, which was told at {} that \
         it had written to ZooKeeper, found the queue empty at {}. So the item is gone, and nobody got it.",
        run.at(stored),
        drain.node,
        run.at(drain.confirmed),
        run.at(drain.empty),
    );
    let witness = [stored].into_iter().chain(drain.witness()).collect();
    let found = Found {
        kind: "lost-item",
        property: "nothing is lost",
        advisory: false,
        witness,
        why,
    };
    out.add_at_end(run, found, Some(run.time(sent)));
}
