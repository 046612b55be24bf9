//! Latencies: how long what clients wait for takes to reach them.

use super::search_trees::MaxTree;
use super::{Analysis, Grant, Grants, GroupMember, GroupView, Op};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::operation::{Holders, barrier, commit, counter, membership, queue, register};
use zooquake_history::{EventType, Value};

/// The kind of wait that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyKind {
    /// The next grant: from the sending of a release, where somebody was waiting. Where holds may be shared, or are
    /// several at a time, only from one whose hold, and no other's, excluded that grant.
    HandOver,
    /// An item: from the answer to its enqueue to its first delivery.
    Delivery,
    /// The opening of a round: from the sending of the last request by which a member arrives, to each that is let in.
    /// Of a gate: from the sending of the request to lift it, or to wait where that came later.
    Opening,
    /// A decision: from the sending of its transaction's begin, to each answer that names it to a site.
    Decision,
    /// The answer to an operation of a register or a counter: from its sending.
    Answer,
    /// A change of a group: from the answer to a `register` or an `update` to the first notice of each other client
    /// that shows it.
    Spread,
}

/// One wait of a client between two events of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency<'a> {
    /// The client that waited.
    pub node: &'a str,
    /// The event from which it is counted.
    pub from: usize,
    /// The event that ended it.
    pub until: usize,
    /// Nanoseconds between the two.
    pub ns: u64,
    /// Whether a fault was on at some moment between the two.
    pub faulty: bool,
}

impl<'a> Analysis<'a> {
    /// All latencies of one kind, in time nearly linear in the operations. One that ended before it began is left out.
    pub fn latencies(&self, kind: LatencyKind) -> Vec<Latency<'a>> {
        match kind {
            LatencyKind::HandOver => self.hand_overs(),
            LatencyKind::Delivery => self.deliveries(),
            LatencyKind::Opening => self.openings(),
            LatencyKind::Decision => self.decisions(),
            LatencyKind::Spread => self.spreads(),
            LatencyKind::Answer => {
                let answered = self.answered(&[
                    register::f::READ,
                    register::f::WRITE,
                    register::f::CAS,
                    counter::f::INCREMENT,
                    counter::f::GET,
                ]);
                let answer = |(op, end): (&Op<'a>, usize)| self.latency(op.node, op.invoke?, end);
                answered.filter_map(answer).collect()
            }
        }
    }

    /// Operations of clients that have one of these names and were answered `ok`, each with the event of its answer.
    pub(crate) fn answered(&self, names: &[&str]) -> impl Iterator<Item = (&Op<'a>, usize)> {
        let named = self.ops.work.iter().filter(|op| names.contains(&op.f));
        let ended = named.filter_map(|op| Some((op, op.end?)));
        ended.filter(|&(_, end)| self.events[end].kind == EventType::Ok)
    }

    /// A field of an event's value; `None` also if it is `null`.
    pub(crate) fn value(&self, at: usize, field: &str) -> Option<&'a Value> {
        self.events[at].value.get(field).filter(|value| !value.is_null())
    }

    /// The requests of one name, in the order in which they were sent.
    fn sent(&self, f: &str) -> impl Iterator<Item = usize> {
        let named = self.ops.work.iter().filter(move |op| op.f == f);
        named.filter_map(|op| op.invoke)
    }

    fn latency(&self, node: &'a str, from: usize, until: usize) -> Option<Latency<'a>> {
        let (began, ended) = (self.time(from), self.time(until));
        Some(Latency {
            node,
            from,
            until,
            ns: ended.checked_sub(began)?,
            faulty: self.faults.on(began, ended),
        })
    }

    fn hand_overs(&self) -> Vec<Latency<'a>> {
        let (read, grants) = (self.grants.read(), &self.grants.all);
        let released = |(number, grant): (usize, &Grant<'a>)| Some((grant.release?, number));
        let mut releases: Vec<(usize, usize)> = grants.iter().enumerate().filter_map(released).collect();
        releases.sort_unstable();
        let counts = (!self.plain()).then(|| HoldCounts::new(&self.grants));
        let next = |&(release, number): &(usize, usize)| {
            let next = read.partition_point(|&grant| grants[grant].read < Some(release));
            let next = &grants[*read.get(next)?];
            // If it was asked for only later, the lock lay idle, and no client was kept waiting.
            next.asked.filter(|&asked| asked < release)?;
            if let Some(counts) = &counts {
                let others = counts.after(release);
                let mut with = others;
                *with.count_mut(grants[number].mode?) += 1;
                let excluded = |holders: Holders| next.mode.map(|mode| holders.exclude(mode, self.capacity));
                (excluded(with)? && !excluded(others)?).then_some(())?;
            }
            self.latency(next.node, release, next.read?)
        };
        releases.iter().filter_map(next).collect()
    }

    fn deliveries(&self) -> Vec<Latency<'a>> {
        let mut first: HashMap<&Value, (&'a str, usize)> = HashMap::new();
        for (op, end) in self.answered(&[queue::f::DEQUEUE]) {
            if let Some(item) = self.value(end, "item") {
                let earliest = first.entry(item).or_insert((op.node, end));
                if self.time(end) < self.time(earliest.1) {
                    *earliest = (op.node, end);
                }
            }
        }
        let delivery = |(_, stored): (&Op<'a>, usize)| {
            let &(node, given) = first.get(self.value(stored, "item")?)?;
            self.latency(node, stored, given)
        };
        self.answered(&[queue::f::ENQUEUE]).filter_map(delivery).collect()
    }

    fn openings(&self) -> Vec<Latency<'a>> {
        let mut arrivals: HashMap<&Value, Vec<usize>> = HashMap::new();
        for at in self.sent(self.member()).chain(self.sent(barrier::f::LIFT)) {
            if let Some(round) = self.value(at, "round") {
                arrivals.entry(round).or_default().push(at);
            }
        }
        let opening = |(op, end): (&Op<'a>, usize)| {
            let sent = arrivals.get(self.value(end, "round")?)?;
            let last = sent.partition_point(|&at| self.time(at) <= self.time(end));
            let last = sent[last.checked_sub(1)?];
            let from = match op.f {
                barrier::f::WAIT => op.invoke?.max(last),
                _ => last,
            };
            self.latency(op.node, from, end)
        };
        self.answered(&[barrier::f::ENTER, barrier::f::WAIT])
            .filter_map(opening)
            .collect()
    }

    fn decisions(&self) -> Vec<Latency<'a>> {
        let begun: HashMap<&Value, usize> = self
            .sent(commit::f::BEGIN)
            .filter_map(|at| Some((self.value(at, "tx")?, at)))
            .collect();
        let decision = |(op, end): (&Op<'a>, usize)| self.latency(op.node, *begun.get(self.value(end, "tx")?)?, end);
        self.answered(&[commit::f::DECIDED]).filter_map(decision).collect()
    }

    /// From the answer `ok` to a `register` or an `update` to the first notice of each other client that shows it; 0 if
    /// that came before the answer.
    fn spreads(&self) -> Vec<Latency<'a>> {
        let mut shown: BTreeMap<&'a str, HashMap<&'a str, ShownPath>> = BTreeMap::new();
        for view in GroupView::all(self.events).iter().filter(|view| view.notice) {
            let paths = shown.entry(view.node).or_default();
            for member in view.members() {
                paths.entry(member.path).or_default().add(view.at, member);
            }
        }
        for path in shown.values_mut().flat_map(HashMap::values_mut) {
            let write = |&(_, mzxid, _): &(usize, i64, Option<i64>)| u64::try_from(mzxid).unwrap_or(0);
            path.writes = MaxTree::new(path.states.iter().map(write).collect());
        }
        let changes = self.answered(&[membership::f::REGISTER, membership::f::UPDATE]);
        let spread = |(op, end): (&Op<'a>, usize)| {
            let answer = &self.events[end];
            let sent = op.sent()?;
            let value = self.events[sent].get(membership::VALUE);
            let mzxid = answer.mzxid().or(answer.czxid());
            let path = answer.path()?;
            let others = shown.iter().filter(|(node, _)| **node != op.node);
            let each = others.filter_map(|(node, paths)| {
                let at = paths.get(path)?.first(sent, mzxid, value)?;
                self.latency(node, end, at.max(end))
            });
            Some(each.collect::<Vec<_>>())
        };
        changes.filter_map(spread).flatten().collect()
    }
}

/// The counts of holders in the course of a history.
#[derive(Debug)]
struct HoldCounts {
    /// Events that changed them, in order, each with the counts after it.
    changes: Vec<(usize, Holders)>,
}

impl HoldCounts {
    /// Counts the grants that were read and have not ended; those of an unknown mode are left out.
    fn new(grants: &Grants<'_>) -> Self {
        let held = grants.all.iter().filter_map(|grant| {
            let span = (grant.read?, grant.end.unwrap_or(usize::MAX));
            (span.0 < span.1).then_some((span, grant.mode?))
        });
        let both = held.flat_map(|((read, end), mode)| [(read, true, mode), (end, false, mode)]);
        let mut changes: Vec<_> = both.collect();
        changes.sort_unstable_by_key(|&(at, begins, _)| (at, begins));
        let mut now = Holders::default();
        let after = |(at, begins, mode)| {
            let count = now.count_mut(mode);
            *count = if begins { *count + 1 } else { *count - 1 };
            (at, now)
        };
        Self {
            changes: changes.into_iter().map(after).collect(),
        }
    }

    /// The counts just after an event.
    fn after(&self, event: usize) -> Holders {
        let last = self.changes.partition_point(|&(at, _)| at <= event).checked_sub(1);
        last.map(|last| self.changes[last].1).unwrap_or_default()
    }
}

/// What one client's notices showed of one path.
#[derive(Default)]
struct ShownPath {
    /// Where it showed another state of the znode than in the notice before, with that.
    states: Vec<(usize, i64, Option<i64>)>,
    /// The transactions that last wrote these states.
    writes: MaxTree,
    /// Where each value was shown first.
    values: HashMap<i64, usize>,
}

impl ShownPath {
    fn add(&mut self, at: usize, member: &GroupMember<'_>) {
        if let Some(value) = member.value {
            self.values.entry(value).or_insert(at);
        }
        let Some(mzxid) = member.mzxid else { return };
        if self.states.last().is_none_or(|&(_, last, _)| last != mzxid) {
            self.states.push((at, mzxid, member.czxid));
        }
    }

    /// The first event after a request at which the znode stands in the view with what that wrote, or with something
    /// later; another znode at the path, created later, is none.
    fn first(&self, sent: usize, mzxid: Option<i64>, value: Option<i64>) -> Option<usize> {
        let written = mzxid.and_then(|mzxid| {
            let from = self.states.partition_point(|&(at, ..)| at <= sent);
            let &(at, _, czxid) = self.states.get(self.writes.first(from, u64::try_from(mzxid).ok()?)?)?;
            Some(at).filter(|_| czxid.is_none_or(|czxid| czxid <= mzxid))
        });
        let valued = value.and_then(|value| self.values.get(&value)).copied();
        written.into_iter().chain(valued.filter(|&at| at > sent)).min()
    }
}
