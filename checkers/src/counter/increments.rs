//! Counts: which increments were sent, which values were answered.

use crate::analysis::{Analysis, Op};
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
    /// Reads them out of a run. A disputed answer is no evidence, and an increment's failure does not count where it
    /// may be the failure of another one.
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
