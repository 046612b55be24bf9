//! The anomalies by their definitions, taken literally, over the bare events, and whether there is any order that fits.
//! Slow, and with nothing of the checkers.

use crate::liveness::node;
use std::collections::{BTreeSet, HashSet};
use zooquake_history::{Event, EventType, Process, Record};

/// An operation: sent and answered, each if that is in the history.
#[derive(Debug, Clone)]
pub struct CounterOp {
    node: String,
    f: String,
    sent: Option<usize>,
    end: Option<(usize, EventType)>,
    /// The value in its answer.
    value: Option<i64>,
}

impl CounterOp {
    fn ok(&self) -> Option<usize> {
        self.end.filter(|(_, kind)| *kind == EventType::Ok).map(|(at, _)| at)
    }

    /// Its value and where that was read.
    fn told(&self) -> Option<(i64, usize)> {
        Some((self.value?, self.ok()?))
    }

    fn failed(&self) -> bool {
        self.end.is_some_and(|(_, kind)| kind == EventType::Fail)
    }

    fn increments(&self) -> bool {
        self.f == "increment" && !self.failed()
    }

    fn sent_before(&self, at: usize) -> bool {
        self.sent.is_none_or(|sent| sent < at)
    }
}

/// The operations of numbered processes, or with `named` those of the clients' named processes.
fn ops(events: &[Event], named: bool) -> Vec<CounterOp> {
    let mut all: Vec<CounterOp> = Vec::new();
    let mine = |event: &&Event| match event.process {
        Process::Number(_) => !named,
        Process::Name(_) => named && event.f == "confirm",
    };
    for event in events.iter().filter(mine) {
        let open = |op: &&mut CounterOp| op.end.is_none() && op.f == event.f && op.node == node(event);
        let asked = |op: &&mut CounterOp| op.sent.is_some_and(|sent| events[sent].process == event.process);
        let end = (event.index, event.kind);
        let value = event.id().or_else(|| event.value.get("value")?.as_i64());
        let new = CounterOp {
            node: node(event).to_owned(),
            f: event.f.to_string(),
            sent: None,
            end: Some(end),
            value,
        };
        match event.kind {
            EventType::Invoke => all.push(CounterOp {
                sent: Some(event.index),
                end: None,
                ..new
            }),
            _ => match all.iter_mut().filter(open).find(asked) {
                Some(op) => (op.end, op.value) = (new.end, new.value),
                None => all.push(new),
            },
        }
    }
    all
}

/// The counter held a value for certain at some moment between two events, before whose first one others were answered.
#[derive(Debug)]
struct Sure {
    value: i64,
    asked: usize,
    known: usize,
    tree: bool,
}

fn sure(record: &Record) -> Vec<Sure> {
    let events = &record.history.events;
    let mut found = Vec::new();
    let confirms = ops(events, true);
    for op in ops(events, false).iter().filter(|op| op.f == "get") {
        let (Some((value, read)), Some(sent)) = (op.told(), op.sent) else {
            continue;
        };
        let before = confirms.iter().filter(|confirm| confirm.node == op.node);
        let last = before
            .filter(|confirm| confirm.ok() < Some(sent))
            .filter_map(|confirm| Some((confirm.ok()?, confirm.sent?)));
        let Some((_, asked)) = last.max() else { continue };
        let turns = |event: &Event| matches!(event.f.as_str(), "exit" | "session") && node(event) == op.node;
        if !events[asked..read].iter().any(turns) {
            found.push(Sure {
                value,
                asked,
                known: read,
                tree: false,
            });
        }
    }
    for reading in record.tree.iter().flat_map(|tree| &tree.readings) {
        let data = reading.znodes.iter().find(|znode| znode.path == "/counter");
        let value = data.and_then(|znode| match znode.data.as_str() {
            "" => Some(0),
            text => text.parse().ok(),
        });
        found.extend(value.map(|value| Sure {
            value,
            asked: reading.index,
            known: reading.end_index,
            tree: true,
        }));
    }
    found
}

/// Ids that were given more than once.
pub fn duplicates(record: &Record) -> BTreeSet<i64> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for op in ops(&record.history.events, false).iter().filter(|op| op.increments()) {
        if let Some((id, _)) = op.told()
            && !seen.insert(id)
        {
            twice.insert(id);
        }
    }
    twice
}

/// Where the values were read that the counter went back from, and whether too few of the acknowledged increments were
/// found at the end.
pub fn lost(record: &Record) -> (BTreeSet<usize>, bool) {
    let all = ops(&record.history.events, false);
    let told: Vec<(i64, usize)> = all
        .iter()
        .filter(|op| !op.failed())
        .filter_map(CounterOp::told)
        .collect();
    // The greatest value read before an event, and where it was read first.
    let greatest = |at: usize| {
        let before = told.iter().filter(|(_, read)| *read < at);
        before
            .max_by_key(|(value, read)| (*value, std::cmp::Reverse(*read)))
            .copied()
    };
    let mut from = BTreeSet::new();
    for op in all.iter().filter(|op| op.increments()) {
        if let (Some((id, _)), Some(sent)) = (op.told(), op.sent)
            && let Some((value, read)) = greatest(sent)
            && id <= value
        {
            from.insert(read);
        }
    }
    let sure = sure(record);
    let mut less = false;
    for held in &sure {
        if let Some((value, read)) = greatest(held.asked)
            && held.value < value
        {
            from.insert(read);
            less = true;
        }
    }
    let by_clients = sure.iter().filter(|held| !held.tree);
    let client = by_clients.max_by_key(|held| (held.asked, held.known));
    let tree = sure.iter().rfind(|held| held.tree);
    let few = |held: &Sure| {
        let before = |op: &&CounterOp| op.told().is_some_and(|(_, read)| read < held.asked);
        let acknowledged = all.iter().filter(|op| op.increments()).filter(before).count();
        (acknowledged as i64) > held.value
    };
    (from, !less && client.into_iter().chain(tree).any(few))
}

/// Of the values that are too great, each that is by more than those known before it: the event by which it was known,
/// and whether its source was the tree.
pub fn phantoms(record: &Record) -> Vec<(usize, bool)> {
    let all = ops(&record.history.events, false);
    let told = all.iter().filter(|op| !op.failed()).filter_map(CounterOp::told);
    let mut seen: Vec<(usize, bool, i64)> = told.map(|(value, read)| (read, true, value)).collect();
    let tree = sure(record).into_iter().filter(|held| held.tree);
    seen.extend(tree.map(|held| (held.known, false, held.value)));
    seen.sort_by_key(|&(known, client, _)| (known, client));
    let (mut most, mut found) = (0, Vec::new());
    for (known, client, value) in seen {
        let may = |op: &&CounterOp| op.sent_before(known) && op.told().is_none_or(|(id, _)| id <= value);
        let can = all.iter().filter(|op| op.increments()).filter(may).count() as i64;
        if value - can > most {
            most = value - can;
            found.push((known, !client));
        }
    }
    found
}

/// Whether the increments can be put in an order that fits all that was answered, by trying all.
pub fn fits(record: &Record) -> bool {
    let all: Vec<CounterOp> = ops(&record.history.events, false)
        .into_iter()
        .filter(|op| !op.failed())
        .collect();
    let (sure, mut seen) = (sure(record), HashSet::new());
    goes_on(&all, &sure, record.history.events.len(), 0, 0, &mut seen)
}

/// Whether it can go on so from an event: `done` are the increments that have taken effect, as bits.
fn goes_on(
    all: &[CounterOp],
    sure: &[Sure],
    last: usize,
    at: usize,
    done: u64,
    seen: &mut HashSet<(usize, u64)>,
) -> bool {
    let value = i64::from(done.count_ones());
    if !seen.insert((at, done)) {
        return false;
    }
    let reached = |held: &Sure| held.known != at || held.value <= value;
    // What has taken effect when it was asked for is in what is found.
    let begins = |held: &Sure| held.asked != at + 1 || value <= held.value;
    let answered = |(number, op): (usize, &CounterOp)| match op.told().filter(|&(_, read)| read == at) {
        Some(_) if op.f == "increment" => done & 1 << number != 0,
        // A server may show what was there before.
        Some((read, _)) => read <= value,
        None => true,
    };
    let holds = sure.iter().all(reached) && all.iter().enumerate().all(answered);
    let mut next = || sure.iter().all(begins) && goes_on(all, sure, last, at + 1, done, seen);
    if holds && (at == last || next()) {
        return true;
    }
    // One more increment takes effect before the event.
    all.iter().enumerate().any(|(number, op)| {
        let may = op.increments() && op.sent_before(at) && done & 1 << number == 0;
        let fits = op.told().is_none_or(|(id, _)| id == value + 1);
        may && fits && goes_on(all, sure, last, at, done | 1 << number, seen)
    })
}
