//! `lost-item`: an acknowledged enqueue was neither delivered, nor named by a dequeue or acknowledgement whose end is
//! unknown, nor found in the final drain.
//!
//! Of queues that promise to deliver at least once also an item that was given only to processes that ended before they
//! were asked to acknowledge it, and that nobody was given again ([`AbandonedItems`]).

use super::carriers::Carriers;
use super::items::{AnsweredOperation, EmptyAnswer, Items, QueueItem};
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::cause::Cause;
use crate::cause::removal::Removals;
use crate::findings::{Finding, Findings};
use crate::text::{count, few, seconds};
use crate::znodes::orphan_node::{claimed_item, is_below_parents, owner};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use zooquake_history::protocol::ClientLimit;

/// Looks for lost items, if the drain was seen to its end; if it was not, that is a reason against `valid`. Of items
/// that are `claimed` those are lost, too, whose owners died ([`AbandonedItems`]).
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
struct ItemLog<'r, 'a> {
    run: &'r Analysis<'a>,
    removals: Removals<'r, 'a>,
    carriers: Carriers<'a>,
}

impl<'r, 'a> ItemLog<'r, 'a> {
    fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            removals: Removals::new(run),
            carriers: Carriers::new(run),
        }
    }

    /// Who deleted the znode of an item whose enqueue was acknowledged at the event `stored`; `None` if the logs do not
    /// show it.
    fn removal(&self, number: i64, stored: usize) -> Option<Cause> {
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

/// What the end of a run shows of items that were given only to processes that ended before they were asked to
/// acknowledge them, and that nobody was given again.
///
/// That one is lost is certain where complete transaction logs show the end of every session that these processes
/// named, before the `confirm` after which the queue was found empty, and they had ended a session timeout and a half
/// before that was sent; where the `confirm` was sent after recovery; and where no claim of an owner that may live
/// stands in the audit and may be on the item. An acknowledgement of it, whatever came of that, excuses, unless the
/// claim of a dead owner stands in both readings and so outlived it. So does each dequeue that may have taken the item.
struct AbandonedItems<'r, 'a> {
    run: &'r Analysis<'a>,
    drain: &'r EmptyAnswer<'a>,
    /// The sessions that were over before the `confirm` after which the queue was found empty.
    over: HashSet<u64>,
    claims: StandingClaims,
}

/// The claims that stand in the audit, by their items.
#[derive(Default)]
struct StandingClaims {
    /// Of owners that may live.
    living: BTreeSet<i64>,
    /// Of sessions that were over by then, in both readings.
    dead: BTreeSet<i64>,
    /// Whether one of an owner that may live does not name its item.
    nameless: bool,
}

impl StandingClaims {
    /// The claims that stand at the end of a run, whose sessions in `over` had ended; `None` if it was not audited.
    fn new(run: &Analysis<'_>, over: &HashSet<u64>) -> Option<Self> {
        let (before, after) = run.record.audit()?;
        let first: BTreeSet<(&str, i64)> = before
            .znodes
            .iter()
            .map(|znode| (znode.path.as_str(), znode.czxid))
            .collect();
        let mut claims = Self::default();
        for znode in after.znodes.iter().filter(|znode| is_below_parents(run, &znode.path)) {
            let dead = owner(znode)
                .as_deref()
                .and_then(session)
                .is_some_and(|session| over.contains(&session));
            match claimed_item(znode) {
                Some(item) if !dead => drop(claims.living.insert(item)),
                Some(item) if first.contains(&(znode.path.as_str(), znode.czxid)) => drop(claims.dead.insert(item)),
                None if !dead => claims.nameless = true,
                _ => {}
            }
        }
        Some(claims)
    }
}

/// A process that was given an item, and ended: where it was answered with the item, and where it ended.
struct EndedOwner {
    given: usize,
    exit: usize,
}

impl<'r, 'a> AbandonedItems<'r, 'a> {
    /// Reads it out of a run of which `drain` proves that the queue was empty; `None` if that was not after recovery,
    /// the logs are not complete, or there was no audit.
    fn new(run: &'r Analysis<'a>, drain: &'r EmptyAnswer<'a>) -> Option<Self> {
        run.phase("recovered").filter(|&at| at < drain.asked)?;
        let txns = run.record.txnlog.filter(|_| run.log.whole())?;
        let confirmed = run.events[drain.confirmed].zxid()?;
        let over: HashSet<u64> = txns
            .iter()
            .filter(|txn| txn.op == "closeSession" && txn.zxid <= confirmed && run.log.committed(txn))
            .filter_map(|txn| session(&txn.session))
            .collect();
        let claims = StandingClaims::new(run, &over)?;
        Some(Self {
            run,
            drain,
            over,
            claims,
        })
    }

    /// Adds a `lost-item` for each item whose owners all ended; none where some dequeue or acknowledgement may be of
    /// any item.
    fn check(&self, items: &Items<'a>, out: &mut Findings) {
        let any = !items.open.is_empty() || !items.free.is_empty() || !items.unreadable.is_empty();
        if any || self.claims.nameless || items.hidden_acknowledgement {
            return;
        }
        let log = LazyCell::new(|| ItemLog::new(self.run));
        for (&number, item) in &items.all {
            let Some((stored, owners)) = self.abandoned(number, item) else {
                continue;
            };
            let cause = self.caused(&owners, log.removal(number, stored));
            let sent = item.sent.iter().flatten().min().copied().unwrap_or(stored);
            let found = self.finding(number, stored, &owners);
            out.add_at_end(self.run, found.caused(Some(cause)), Some(self.run.time(sent)));
        }
    }

    /// Where the item was stored, and the processes that it was given to, if all of them ended and nobody else may have
    /// it.
    fn abandoned(&self, number: i64, item: &QueueItem<'a>) -> Option<(usize, Vec<EndedOwner>)> {
        let stored = item.stored.filter(|&stored| stored < self.drain.asked)?;
        // A claim that its dead owner has left shows that no acknowledgement ended the item's life.
        let acknowledged =
            !item.consumed.is_empty() || item.asked_to_acknowledge && !self.claims.dead.contains(&number);
        let claimed = self.claims.living.contains(&number);
        if item.disputed || acknowledged || claimed || !item.maybe_given.is_empty() || item.given.is_empty() {
            return None;
        }
        let owners: Option<Vec<EndedOwner>> = item.given.iter().map(|given| self.ended(given)).collect();
        // Several deliveries to one process are one owner.
        let mut by_exit: BTreeMap<usize, EndedOwner> = BTreeMap::new();
        for owner in owners? {
            by_exit.entry(owner.exit).or_insert(owner);
        }
        Some((stored, by_exit.into_values().collect()))
    }

    /// The process that was given an item, if it and all sessions that it named were over early enough.
    fn ended(&self, given: &AnsweredOperation<'a>) -> Option<EndedOwner> {
        let clients = &self.run.clients;
        let exits = clients.exits_of(given.node);
        let exit = *exits.get(exits.partition_point(|&exit| exit < given.read))?;
        let began = clients.process_began(given.node, given.read).unwrap_or(0);
        let timeout = self.run.record.plan.cluster.timing.session_ms.saturating_mul(1_500_000);
        let late = self.run.time(self.drain.asked) < self.run.time(exit).saturating_add(timeout);
        let mut sessions = clients.sessions_of(given.node, began..exit).peekable();
        sessions.peek().filter(|_| !late)?;
        let over = sessions.all(|session| self.over.contains(&session));
        over.then_some(EndedOwner {
            given: given.read,
            exit,
        })
    }

    /// The anomaly, without its cause.
    fn finding(&self, number: i64, stored: usize, owners: &[EndedOwner]) -> Finding<'static> {
        let (run, drain) = (self.run, self.drain);
        let each = owners.iter().map(|owner| {
            format!(
                "{} (answered at {}, ended at {})",
                run.events[owner.exit].node.as_deref().unwrap_or("a client"),
                run.at(owner.given),
                run.at(owner.exit)
            )
        });
        let (whom, whose) = match owners.len() {
            1 => ("a process that ended before it", "its"),
            _ => ("processes that ended before they", "their"),
        };
        let (asked, claim) = match self.claims.dead.contains(&number) {
            true => (
                "had acknowledged",
                "the claim of its dead owner still stood in both readings of the tree",
            ),
            false if owners.len() == 1 => ("was asked to acknowledge", "no claim on it stood at the end"),
            false => ("were asked to acknowledge", "no claim on it stood at the end"),
        };
        let last = owners.iter().map(|owner| owner.exit).max().unwrap_or(stored);
        let why = format!(
            "Item {number} was enqueued by {}, acknowledged at {}, and the variant promises to deliver it until it is acknowledged. It was \
             given to {whom} {asked} it, and so did {whose} sessions: {}. Nobody was given it again, {claim}, and it was not in the queue \
             any more: {}, whose write to ZooKeeper was acknowledged at {}, after recovery and {} after that end, found the queue empty at {}.",
            run.events[stored].node.as_deref().unwrap_or("a client"),
            run.at(stored),
            few(&each.collect::<Vec<_>>()),
            drain.node,
            run.at(drain.confirmed),
            seconds(run.time(drain.confirmed) - run.time(last)),
            run.at(drain.empty),
        );
        // The rest of what was given, and to whom, is no part of the witness: without it the item is lost all the more.
        let witness = [stored].into_iter().chain(drain.witness()).collect();
        Finding::new("lost-item", "nothing is lost", witness, why)
    }

    /// The ends of the owners and the one fault that hit the last of them then, beside what removed the item's znode,
    /// if that is known.
    fn caused(&self, owners: &[EndedOwner], removed: Option<Cause>) -> Cause {
        let run = self.run;
        let mut cause = removed.unwrap_or_else(|| {
            let last = owners.iter().map(|owner| owner.exit).max().unwrap_or_default();
            let node = run.events[last].node.as_deref().unwrap_or_default();
            let mut on = run.faults.hitting(node, run.time(last), run.time(last));
            let window = on.next().filter(|_| on.next().is_none());
            let fault = window.map(|window| format!(", while {} was on", window.words()));
            Cause {
                proven: true,
                window: window.map(|window| window.id),
                sentence: format!(
                    "{node}, which had the item, ended at {}{}, and nobody gave the item out again.",
                    run.at(last),
                    fault.unwrap_or_default()
                ),
                ..Cause::default()
            }
        });
        cause
            .events
            .extend(owners.iter().flat_map(|owner| [owner.given, owner.exit]));
        cause.events.sort_unstable();
        cause
    }
}
