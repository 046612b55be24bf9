//! `lost-item`: an acknowledged enqueue was neither delivered, nor named by a dequeue or acknowledgement whose end is
//! unknown, nor found in the final drain.

use super::abandoned_item::AbandonedItems;
use super::carriers::Carriers;
use super::drain::EmptyAnswer;
use super::items::{Items, QueueItem};
use crate::analysis::Analysis;
use crate::cause::Cause;
use crate::cause::removal::Removals;
use crate::findings::{Finding, Findings};
use crate::text::{count, few};
use zooquake_history::protocol::ClientLimit;

/// Looks for lost items, if the drain was seen to its end; if it was not, that is a reason against `valid`. Of items
/// that are `claimed` those are lost, too, whose owners died ([`super::abandoned_item`]).
pub fn check<'a>(run: &Analysis<'a>, items: &Items<'a>, claimed: bool, out: &mut Findings) {
    let drain = match EmptyAnswer::new(run) {
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
            "the enqueue of item {number} was acknowledged at {}, after the drain had begun, and no client is known to \
             have received it: whether it is lost was not judged",
            run.at(at)
        ));
    }
    // Who has not answered may have taken one without anybody's having read so.
    if let Some((node, sent)) = items.open.first().filter(|_| !judged.is_empty()) {
        out.reasons.push(format!(
            "no client is known to have received {}, but the dequeue of {node} sent at {} was never answered: what is \
             lost was not judged",
            count(judged.len(), "item"),
            run.at(*sent)
        ));
    } else if items.hidden_acknowledgement && !judged.is_empty() {
        out.reasons.push(format!(
            "no client is known to have received {}, but an acknowledgement cannot be read: what is lost was not judged",
            count(judged.len(), "item")
        ));
    } else {
        // So may one whose answer cannot be read, of what had been sent by then.
        let sent = |item: &QueueItem<'_>, stored: usize| item.sent.iter().flatten().min().copied().unwrap_or(stored);
        let taken = items.unreadable.iter().map(|taken| taken.read.unwrap_or(usize::MAX));
        let last = taken.max();
        let judged = judged.into_iter();
        let judged = judged.map(|(number, item, stored)| (number, sent(item, stored), stored));
        let (hidden, certain): (Vec<_>, Vec<_>) = judged.partition(|&(_, sent, _)| last > Some(sent));
        if let Some((number, ..)) = hidden.first() {
            out.reasons.push(format!(
                "no client is known to have received {}, such as item {number}, but what some dequeue took cannot be \
                 read: what is lost was not judged",
                count(hidden.len(), "item")
            ));
        }
        match items.free.is_empty() {
            true if certain.is_empty() => {}
            true => {
                let log = ItemLog::new(run);
                certain.into_iter().for_each(|item| lost(run, &drain, &log, item, out));
            }
            false => beyond(run, &items.free, certain, out),
        }
    }
    if let Some(abandoned) = AbandonedItems::new(run, &drain).filter(|_| claimed) {
        abandoned.check(items, out);
    }
    out.ran("lost-item", stored().count());
}

/// An item that nobody is known to have got: its number, where it was first sent and where that was acknowledged.
type MissingItem = (i64, usize, usize);

/// Of clients that cannot name what they take, each dequeue whose end is unknown may have taken one of the missing
/// items, if it was sent before the queue was found empty. Where more are missing then than there are such dequeues,
/// some are lost in every execution: a matching of the items with the dequeues exists if and only if no proof of
/// emptiness has more missing items before it than dequeues (Hall 1935; of two proofs the later one has all items and
/// dequeues of the earlier, or one is contained in the other and has more items for fewer dequeues).
fn beyond(run: &Analysis<'_>, free: &[usize], mut missing: Vec<MissingItem>, out: &mut Findings) {
    missing.sort_unstable_by_key(|&(_, _, stored)| stored);
    let before = |proof: &EmptyAnswer<'_>| {
        let items = missing.partition_point(|&(_, _, stored)| stored < proof.asked);
        (items, free.partition_point(|&sent| sent < proof.empty))
    };
    let proofs = EmptyAnswer::all(run).unwrap_or_default();
    let most = proofs.iter().max_by_key(|proof| {
        let (items, dequeues) = before(proof);
        (items.saturating_sub(dequeues), proof.asked)
    });
    let Some(proof) = most.filter(|_| !missing.is_empty()) else {
        return;
    };
    let (items, dequeues) = before(proof);
    if items > dequeues {
        some_lost(run, proof, (&missing[..items], dequeues), out);
    }
    let cannot = ["do not", "cannot"][usize::from(run.declared.any(ClientLimit::Taking))];
    super::leave_nameless(
        run,
        "lost-item",
        format!(
            "no client is known to have received {}, and {} of clients that {cannot} name what they take ended without \
             an answer: each may have taken one, so {} taken for lost",
            count(missing.len(), "item"),
            count(free.len(), "dequeue"),
            match items.saturating_sub(dequeues) {
                0 => "none is".to_owned(),
                lost => format!("only {lost} of them {}", if lost == 1 { "is" } else { "are" }),
            },
        ),
        out,
    );
}

fn some_lost(
    run: &Analysis<'_>,
    drain: &EmptyAnswer<'_>,
    (missing, dequeues): (&[MissingItem], usize),
    out: &mut Findings,
) {
    let told: Vec<String> = missing.iter().map(|(number, ..)| number.to_string()).collect();
    let some = &missing[..=dequeues];
    let lost = missing.len() - dequeues;
    let why = format!(
        "At least {lost} of the items {} {} lost: all their enqueues were acknowledged. No dequeue was answered with \
         one, and no acknowledgement named one. Of clients that cannot name what they take, {} can have taken one \
         each. None was in the queue any more: {}, whose write to ZooKeeper was acknowledged at {}, found the queue \
         empty at {}.",
        few(&told),
        if lost == 1 { "is" } else { "are" },
        match dequeues {
            0 => "no dequeue whose end is unknown".to_owned(),
            some => format!("{} whose end is unknown", count(some, "dequeue")),
        },
        drain.node,
        run.at(drain.confirmed),
        run.at(drain.empty),
    );
    let first = some.iter().map(|&(_, sent, _)| sent).min();
    let stored = some.iter().map(|&(_, _, stored)| stored);
    let witness = stored.chain(drain.witness()).collect();
    let found = Finding::new("lost-item", "nothing is lost", witness, why);
    out.add_at_end(run, found, first.map(|at| run.time(at)));
}

/// What the transaction logs show of the znodes of items.
pub struct ItemLog<'r, 'a> {
    run: &'r Analysis<'a>,
    removals: Removals<'r, 'a>,
    carriers: Carriers<'a>,
}

impl<'r, 'a> ItemLog<'r, 'a> {
    pub fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            removals: Removals::new(run),
            carriers: Carriers::new(run),
        }
    }

    /// Who deleted the znode of an item whose enqueue was acknowledged at the event `stored`; `None` if the logs do not
    /// show it.
    pub fn removal(&self, number: i64, stored: usize) -> Option<Cause> {
        let event = &self.run.events[stored];
        let named = event.path().zip(event.czxid());
        let (path, czxid) = named.or_else(|| self.carriers.by_data(number))?;
        self.removals.of_item(path, czxid)
    }
}

/// Whether it is known, or possible, that somebody got it.
fn accounted(item: &QueueItem<'_>) -> bool {
    item.disputed
        || !item.given.is_empty()
        || !item.maybe_given.is_empty()
        || !item.consumed.is_empty()
        || item.maybe_consumed
}

fn lost(
    run: &Analysis<'_>,
    drain: &EmptyAnswer<'_>,
    log: &ItemLog<'_, '_>,
    (number, sent, stored): MissingItem,
    out: &mut Findings,
) {
    let by = run.events[stored].node.as_deref().unwrap_or("a client");
    let why = format!(
        "Item {number} was enqueued by {by}, acknowledged at {}. No dequeue was answered with it, no dequeue or \
         acknowledgement whose end is unknown had named it, and it was not in the queue any more: {}, whose write to \
         ZooKeeper was acknowledged at {}, found the queue empty at {}. So the item is gone, and no client received \
         it.",
        run.at(stored),
        drain.node,
        run.at(drain.confirmed),
        run.at(drain.empty),
    );
    let witness = [stored].into_iter().chain(drain.witness()).collect();
    let cause = log.removal(number, stored);
    let found = Finding::new("lost-item", "nothing is lost", witness, why).caused(cause);
    out.add_at_end(run, found, Some(run.time(sent)));
}
