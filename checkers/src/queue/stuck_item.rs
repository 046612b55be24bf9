//! `stuck-item` of queues that promise to deliver at least once: an item whose claim a living client names as its own,
//! and that it gives to nobody.
//!
//! It is certain where the claim stands in both readings of the audit, unwritten in between; its client named it in the
//! answer to `quiesce` between them, was sent a dequeue after that, in the same session, and answered that there was
//! nothing, without ever having been given the item in that process; and another client, too, had found the queue empty
//! after recovery, while the claim stood. A client that keeps a claim for its next dequeue gives it then.

use super::items::{EmptyAnswer, Items, QueueItem, outcome};
use super::{ItemField, told};
use crate::analysis::{Analysis, Op};
use crate::findings::{Finding, Findings};
use crate::znodes::orphan_node::{claimed_item, is_below_parents};
use crate::znodes::quiesce_answers::{NamedZnodes, last_named};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::EventType;
use zooquake_history::evidence::{Reading, Znode};
use zooquake_history::operation::queue::f;

/// Looks at each claim of the audit of a queue whose items are `claimed`.
pub fn check<'a>(run: &Analysis<'a>, items: &Items<'a>, claimed: bool, out: &mut Findings) {
    let Some((before, after)) = run.record.audit().filter(|_| claimed) else {
        return out.ran("stuck-item", 0);
    };
    let first: BTreeSet<(&str, i64, i64)> = before.znodes.iter().map(state).collect();
    let claims = after
        .znodes
        .iter()
        .filter_map(|znode| Some((znode, claimed_item(znode)?)));
    let standing = claims.filter(|(claim, _)| is_below_parents(run, &claim.path) && first.contains(&state(claim)));
    let standing: Vec<(&Znode, i64)> = standing.collect();
    let keepers = match standing.is_empty() {
        true => None,
        false => Keepers::new(run, items, (before, after)),
    };
    if let Some(keepers) = keepers {
        for &(claim, number) in &standing {
            let item = items.all.get(&number).filter(|item| is_alive(item));
            if let Some(stuck) = item.and_then(|item| keepers.stuck(run, claim, item)) {
                let sent = stuck.enqueued;
                out.add_at_end(run, stuck.finding(run, claim, number), Some(run.time(sent)));
            }
        }
    }
    out.ran("stuck-item", standing.len());
}

/// What is the same in both readings of a znode that was not written in between.
fn state(znode: &Znode) -> (&str, i64, i64) {
    (&znode.path, znode.czxid, znode.mzxid)
}

/// Whether no acknowledgement may have ended its life.
fn is_alive(item: &QueueItem<'_>) -> bool {
    item.consumed.is_empty() && !item.maybe_consumed && !item.disputed
}

/// The clients that named claims as their own, and gave nothing when they were asked after that.
struct Keepers<'a> {
    recovered: usize,
    /// By what they named.
    clients: HashMap<(&'a str, i64), Vec<Keeper<'a>>>,
    /// By client the last of its empty answers after recovery, with the zxid of the `confirm` before it.
    empty: BTreeMap<&'a str, (i64, EmptyAnswer<'a>)>,
}

/// Positions are those of events.
#[derive(Clone, Copy)]
struct Keeper<'a> {
    client: &'a str,
    /// Where it was asked for its znodes, and answered.
    named: (usize, usize),
    /// Where it was then sent a dequeue, and answered that there was nothing.
    nothing: (usize, usize),
}

impl<'a> Keepers<'a> {
    fn new(run: &Analysis<'a>, items: &Items<'a>, (before, after): (&Reading, &Reading)) -> Option<Self> {
        let recovered = run.phase("recovered")?;
        let mut last: HashMap<&str, &Op<'a>> = HashMap::new();
        for op in run.ops.work.iter().filter(|op| op.f == f::DEQUEUE) {
            let of_client = last.entry(op.node).or_insert(op);
            if op.invoke.or(op.end) > of_client.invoke.or(of_client.end) {
                *of_client = op;
            }
        }
        let mut clients: HashMap<(&str, i64), Vec<Keeper<'a>>> = HashMap::new();
        for NamedZnodes {
            client,
            sent,
            read,
            znodes,
        } in last_named(run, before, after)
        {
            let hidden = items.unreadable.iter().any(|taken| taken.node == client);
            let nothing = last.get(client).and_then(|op| nothing(run, op));
            let Some(nothing) = nothing.filter(|&(asked, answered)| asked > read && answered < after.index && !hidden)
            else {
                continue;
            };
            if run.clients.one_session(client, sent, nothing.1) {
                let keeper = Keeper {
                    client,
                    named: (sent, read),
                    nothing,
                };
                for znode in znodes {
                    clients.entry(znode).or_default().push(keeper);
                }
            }
        }
        let mut empty = BTreeMap::new();
        for proof in EmptyAnswer::all(run)
            .ok()?
            .into_iter()
            .filter(|proof| proof.sent > recovered)
        {
            if let Some(zxid) = run.events[proof.confirmed].zxid() {
                empty.insert(proof.node, (zxid, proof));
            }
        }
        Some(Self {
            recovered,
            clients,
            empty,
        })
    }

    /// Why an item is stuck by this claim; `None` if it is not.
    fn stuck(&self, run: &Analysis<'a>, claim: &Znode, item: &QueueItem<'a>) -> Option<StuckItem<'a>> {
        let was_given = |keeper: &Keeper<'_>| {
            let began = run.clients.process_began(keeper.client, keeper.named.0).unwrap_or(0);
            let mut given = item.given.iter();
            given.any(|given| given.node == keeper.client && given.read > began)
        };
        let mut keepers = self.clients.get(&(claim.path.as_str(), claim.czxid))?.iter();
        let keeper = *keepers.find(|keeper| !was_given(keeper))?;
        let mut others = self.empty.iter().filter(|(node, _)| **node != keeper.client);
        let (_, (_, other)) = others.find(|(_, (zxid, _))| *zxid >= claim.mzxid)?;
        Some(StuckItem {
            enqueued: item.sent.iter().flatten().min().copied()?,
            recovered: self.recovered,
            keeper,
            other: *other,
        })
    }
}

/// Where a dequeue was sent and answered that there was nothing; `None` if it was not.
fn nothing(run: &Analysis<'_>, op: &Op<'_>) -> Option<(usize, usize)> {
    let (sent, read) = (op.sent()?, op.end?);
    (outcome(run, op) == Some(EventType::Ok) && told(run, read) == Some(ItemField::Nothing)).then_some((sent, read))
}

/// What proves that an item is stuck. Positions are those of events.
struct StuckItem<'a> {
    /// Where its first enqueue was sent that did not fail.
    enqueued: usize,
    recovered: usize,
    keeper: Keeper<'a>,
    /// How another client found the queue empty while the claim stood.
    other: EmptyAnswer<'a>,
}

impl StuckItem<'_> {
    fn finding(&self, run: &Analysis<'_>, claim: &Znode, number: i64) -> Finding<'static> {
        let Keeper { client, named, nothing } = self.keeper;
        let why = format!(
            "Item {number}, whose enqueue was sent at {}, stays with {client}, which gives it to nobody: its claim {} (czxid 0x{:x}) stood, \
             unwritten, in both readings of the tree; {client} named it as its own at {}, was asked for an item at {}, and answered at {} \
             that there was none. {} had found the queue empty at {}, after recovery and after that claim.",
            run.at(self.enqueued),
            claim.path,
            claim.czxid,
            run.at(named.1),
            run.at(nothing.0),
            run.at(nothing.1),
            self.other.node,
            run.at(self.other.empty),
        );
        let own = [self.enqueued, self.recovered, named.0, named.1, nothing.0, nothing.1];
        let witness: BTreeSet<usize> = own.into_iter().chain(self.other.witness()).collect();
        Finding::new("stuck-item", "liveness", witness.into_iter().collect(), why)
    }
}
