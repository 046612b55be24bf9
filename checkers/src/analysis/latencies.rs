//! Latencies: how long what clients wait for takes to reach them.

use super::holder_counts::HoldCounts;
use super::{Analysis, Grant, Op};
use std::collections::HashMap;
use zooquake_history::operation::{Holders, barrier, commit, counter, queue, register};
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

    pub(super) fn latency(&self, node: &'a str, from: usize, until: usize) -> Option<Latency<'a>> {
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
        for at in self.sent(self.member()) {
            if let Some(round) = self.value(at, "round") {
                arrivals.entry(round).or_default().push(at);
            }
        }
        let opening = |(op, end): (&Op<'a>, usize)| {
            let sent = arrivals.get(self.value(end, "round")?)?;
            let last = sent.partition_point(|&at| self.time(at) <= self.time(end));
            self.latency(op.node, sent[last.checked_sub(1)?], end)
        };
        self.answered(&[barrier::f::ENTER]).filter_map(opening).collect()
    }

    fn decisions(&self) -> Vec<Latency<'a>> {
        let begun: HashMap<&Value, usize> = self
            .sent(commit::f::BEGIN)
            .filter_map(|at| Some((self.value(at, "tx")?, at)))
            .collect();
        let decision = |(op, end): (&Op<'a>, usize)| self.latency(op.node, *begun.get(self.value(end, "tx")?)?, end);
        self.answered(&[commit::f::DECIDED]).filter_map(decision).collect()
    }
}
