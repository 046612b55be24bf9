//! Which increments were sent, which values were answered, and what the counter was found to hold where no server can
//! have kept back what had been acknowledged: by a client that had written to ZooKeeper before, and in the readings of
//! the znode tree.

use crate::analysis::clients::Confirms;
use crate::analysis::{Analysis, Op};
use crate::findings::Findings;
use crate::text::count;
use zooquake_history::EventType;
use zooquake_history::operation::counter::{VALUE, f};

/// An answer that contains a value of the counter. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterAnswer<'a> {
    /// The client.
    pub node: &'a str,
    /// The id that an increment was given, or the value that was read.
    pub value: i64,
    /// Where it was sent; `None` if that is not in the history.
    pub sent: Option<usize>,
    /// Where the answer was read.
    pub read: usize,
}

/// What was asked of a counter and answered.
#[derive(Debug, Default)]
pub struct Increments<'a> {
    /// The increments that were given an id, in the order in which they were.
    pub given: Vec<CounterAnswer<'a>>,
    /// The reads that were answered, in the order in which they were.
    pub got: Vec<CounterAnswer<'a>>,
    /// For each other increment that may have happened one more than the event at which it was sent, in order; 0 where
    /// that is not known.
    pub maybe: Vec<usize>,
    /// Answers that contain no value of a counter: their events and descriptions.
    pub unread: Vec<(usize, String)>,
}

impl<'a> Increments<'a> {
    /// Reads the increments and the answers out of a run. A disputed answer is no evidence, and an increment's failure
    /// does not count where it may be the failure of another one.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut counts = Self::default();
        for op in run.ops.work.iter().filter(|op| matches!(op.f, f::INCREMENT | f::GET)) {
            let told = counts.told(run, op);
            match op.f {
                f::GET => counts.got.extend(told),
                _ => counts.increment(run, op, told),
            }
        }
        counts.given.sort_by_key(|told| told.read);
        counts.got.sort_by_key(|told| told.read);
        counts.maybe.sort_unstable();
        counts
    }

    /// How many increments that may have happened, and were given no id that can be read, were sent before an event.
    pub fn maybe_before(&self, at: usize) -> usize {
        self.maybe.partition_point(|&sent| sent <= at)
    }

    /// The value in an operation's answer `ok`; `None` if it is disputed or contains none, which is noted in `unread`.
    fn told(&mut self, run: &Analysis<'a>, op: &Op<'a>) -> Option<CounterAnswer<'a>> {
        let read = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
        if run.ops.disputed.contains(&read) {
            return None;
        }
        let event = &run.events[read];
        // No increment makes less than 1 of what began at 0.
        let value = match op.f {
            f::GET => event.get(VALUE).filter(|&value| value >= 0),
            _ => event.id().filter(|&id| id >= 1),
        };
        if value.is_none() {
            let what = if op.f == f::GET { "value" } else { "id" };
            let text = format!(
                "the `{}` of {}, whose answer gives no {what} of a counter",
                op.f, op.node
            );
            self.unread.push((read, text));
        }
        Some(CounterAnswer {
            node: op.node,
            value: value?,
            sent: op.sent(),
            read,
        })
    }

    fn increment(&mut self, run: &Analysis<'a>, op: &Op<'a>, told: Option<CounterAnswer<'a>>) {
        if op.failed(run.events).is_some() {
            return;
        }
        // Where an answer may be that to another request, this one may have happened too.
        if told.is_none() || op.doubtful && op.invoke.is_some() {
            self.maybe.push(op.invoke.map_or(0, |at| at + 1));
        }
        self.given.extend(told);
    }
}

/// The counter was found to hold a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterReading<'a> {
    pub value: i64,
    /// What was answered at an event before this one had been acknowledged when the counter was looked at.
    pub asked: usize,
    /// Where it was known: an event, or the number of events at the end of a reading of the tree.
    pub known: usize,
    pub by: ReadingSource<'a>,
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingSource<'a> {
    /// A client: where its `confirm` was answered, and its read.
    Client(usize, CounterAnswer<'a>),
    /// A reading of the znode tree.
    Tree,
}

impl CounterReading<'_> {
    /// The events that prove it.
    pub fn witness(&self) -> Vec<usize> {
        match self.by {
            ReadingSource::Client(confirmed, told) => [Some(self.asked), Some(confirmed), told.sent, Some(told.read)]
                .into_iter()
                .flatten()
                .collect(),
            ReadingSource::Tree => Vec::new(),
        }
    }

    /// Who found it, and how, in words.
    pub fn words(&self, run: &Analysis<'_>) -> String {
        let value = self.value;
        match self.by {
            ReadingSource::Client(confirmed, told) => format!(
                "{}, which had begun a write to ZooKeeper at {} and received its acknowledgement at {}, read the value \
                 {value} at {}",
                told.node,
                run.at(self.asked),
                run.at(confirmed),
                run.at(told.read)
            ),
            ReadingSource::Tree => format!("the znode tree, read at the end, has the value {value}"),
        }
    }
}

/// All values that the counter was found to hold for certain.
#[derive(Debug, Default)]
pub struct CertainValues<'a> {
    /// By clients, in the order in which they read it.
    pub clients: Vec<CounterReading<'a>>,
    /// In the readings of the tree, in their order.
    pub tree: Vec<CounterReading<'a>>,
}

impl<'a> CertainValues<'a> {
    /// Finds the values; what of them is missing is a reason against `valid`.
    pub fn new(run: &Analysis<'a>, counts: &Increments<'a>, path: &str, out: &mut Findings) -> Self {
        let sure = Self {
            clients: clients(run, counts),
            tree: tree(run, path, out),
        };
        let last = sure.last_client().map(|found| found.asked);
        let all = last.into_iter().chain(sure.tree.iter().map(|found| found.asked));
        let late = match all.max() {
            Some(last) => counts.given.iter().filter(|told| told.read >= last).count(),
            None => counts.given.len(),
        };
        if last.is_none() {
            out.reasons.push(
                "no client read the counter after it had answered a confirm: what it held then was not looked at"
                    .to_owned(),
            );
        }
        if late > 0 {
            out.reasons.push(format!(
                "{} answered after the counter was looked at for the last time: whether they were lost was not judged",
                match late {
                    1 => "1 increment was".to_owned(),
                    late => format!("{} were", count(late, "increment")),
                }
            ));
        }
        sure
    }

    /// What a client found whose write was begun last.
    pub fn last_client(&self) -> Option<&CounterReading<'a>> {
        self.clients.iter().max_by_key(|found| (found.asked, found.known))
    }

    /// All values, those that clients found first.
    pub fn all(&self) -> impl Iterator<Item = &CounterReading<'a>> {
        self.clients.iter().chain(&self.tree)
    }
}

/// Reads that follow a `confirm` of their client, in the same session.
fn clients<'a>(run: &Analysis<'a>, counts: &Increments<'a>) -> Vec<CounterReading<'a>> {
    let confirms = Confirms::new(run.events, &run.ops);
    let found = |told: &CounterAnswer<'a>| {
        let (asked, confirmed) = confirms.before(&run.clients, told.node, told.sent?, told.read)?;
        Some(CounterReading {
            value: told.value,
            asked,
            known: told.read,
            by: ReadingSource::Client(confirmed, *told),
        })
    };
    counts.got.iter().filter_map(found).collect()
}

fn tree<'a>(run: &Analysis<'a>, path: &str, out: &mut Findings) -> Vec<CounterReading<'a>> {
    let (mut found, mut unreadable) = (Vec::new(), 0);
    for reading in run.record.readings.into_iter().flatten() {
        let znode = reading.znodes.iter().find(|znode| znode.path == path);
        match znode.and_then(|znode| value(&znode.data)) {
            Some(value) => found.push(CounterReading {
                value,
                asked: reading.index,
                known: reading.end_index,
                by: ReadingSource::Tree,
            }),
            None => unreadable += 1,
        }
    }
    if unreadable > 0 {
        out.reasons.push(format!(
            "in {} of the znode tree {path} has no value that can be read: what the counter held then was not looked at",
            count(unreadable, "reading")
        ));
    }
    found
}

/// The value in a znode's data, 0 where they are empty; `None` if they are not a number from 0 on.
fn value(text: &str) -> Option<i64> {
    match text {
        "" => Some(0),
        text => text.parse().ok().filter(|&value| value >= 0),
    }
}
