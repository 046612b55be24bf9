//! `lost-item` of queues that promise to deliver at least once: an acknowledged enqueue whose item was given only to
//! processes that ended before they were asked to acknowledge it, and that nobody was given again.
//!
//! It is certain where complete transaction logs show the end of every session that these processes named, before the
//! `confirm` after which the queue was found empty, and they had ended a session timeout and a half before that was
//! sent; where the `confirm` was sent after recovery; and where no claim of an owner that may live stands in the audit
//! and may be on the item. An acknowledgement of it, whatever came of that, excuses, unless the claim of a dead owner
//! stands in both readings and so outlived it. So does each dequeue that may have taken the item.

use super::drain::EmptyAnswer;
use super::items::{AnsweredOperation, Items, QueueItem};
use super::lost_item::ItemLog;
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::cause::Cause;
use crate::findings::{Finding, Findings};
use crate::text::{few, seconds};
use crate::znodes::orphan_node::{claimed_item, is_below_parents, owner};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the end of a run shows of items that were given to processes that ended.
pub struct AbandonedItems<'r, 'a> {
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
    /// Those of a run whose sessions are `over`; `None` if it was not audited.
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
    pub fn new(run: &'r Analysis<'a>, drain: &'r EmptyAnswer<'a>) -> Option<Self> {
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
    pub fn check(&self, items: &Items<'a>, out: &mut Findings) {
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
