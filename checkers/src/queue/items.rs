//! Items: which were sent and acknowledged, who was given them, and who may have been.

use crate::history::{EventType, Process};
use crate::ops::{self, Op};
use crate::run::Run;
use std::collections::{BTreeMap, HashMap};

/// An operation on an item that was answered with `ok`. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done<'a> {
    /// The client.
    pub node: &'a str,
    /// Where it was sent; `None` if that is not in the history.
    pub sent: Option<usize>,
    /// Where the answer was read.
    pub read: usize,
}

/// One item.
#[derive(Debug, Default)]
pub struct Item<'a> {
    /// The enqueues of it, each by where it was sent.
    pub sent: Vec<Option<usize>>,
    /// Where its enqueue was acknowledged.
    pub stored: Option<usize>,
    /// The dequeues that were answered with it, in the order in which they were.
    pub given: Vec<Done<'a>>,
    /// The dequeues whose end is unknown and that had named it, each by where it was sent.
    pub maybe_given: Vec<Option<usize>>,
    /// The acknowledgements that were answered with `ok`, in the order in which they were.
    pub consumed: Vec<Done<'a>>,
    /// Whether there is an acknowledgement of it whose end is unknown.
    pub maybe_consumed: bool,
}

impl Item<'_> {
    /// Whether it was enqueued more than once, so that nothing can be said about how often it may be delivered.
    pub fn ambiguous(&self) -> bool {
        self.sent.len() > 1
    }
}

/// The items of a history.
#[derive(Debug, Default)]
pub struct Items<'a> {
    /// Each by its number.
    pub all: BTreeMap<i64, Item<'a>>,
    /// The dequeues that a living client has not answered: who was asked, and where.
    pub open: Vec<(&'a str, usize)>,
    /// The dequeues whose end is unknown, apart from those, by client: where each was sent.
    pub unknown: HashMap<&'a str, Vec<Option<usize>>>,
}

impl<'a> Items<'a> {
    /// Reads the items out of a history, in one pass over the operations and one over the notices.
    pub fn new(run: &Run<'a>) -> Self {
        let mut items = Self::default();
        let mut unanswered: HashMap<&str, Vec<&Op<'_>>> = HashMap::new();
        for op in &run.ops.work {
            match op.f {
                "enqueue" => items.enqueue(run, op),
                "dequeue" => {
                    if outcome(run, op) == Some(EventType::Ok) {
                        items.given(run, op);
                    } else if outcome(run, op) != Some(EventType::Fail) {
                        unanswered.entry(op.node).or_default().push(op);
                        items.unanswered(op);
                    }
                }
                "acknowledge" => items.acknowledge(run, op),
                _ => {}
            }
        }
        items.named(run, &unanswered);
        for item in items.all.values_mut() {
            item.given.sort_by_key(|done| done.read);
            item.consumed.sort_by_key(|done| done.read);
        }
        items
    }

    /// Where an acknowledgement of the item was answered with `ok`, which ends its life.
    pub fn acknowledged(&self, item: i64) -> Option<usize> {
        Some(self.all.get(&item)?.consumed.first()?.read)
    }

    fn enqueue(&mut self, run: &Run<'a>, op: &Op<'a>) {
        let Some(number) = number(run, op) else { return };
        let item = self.all.entry(number).or_default();
        item.sent.push(op.invoke);
        if outcome(run, op) == Some(EventType::Ok) {
            item.stored = item.stored.or(op.end);
        }
    }

    fn given(&mut self, run: &Run<'a>, op: &Op<'a>) {
        let Some(read) = op.end else { return };
        if let Some(number) = run.events[read].int("item") {
            let done = Done {
                node: op.node,
                sent: op.invoke,
                read,
            };
            self.all.entry(number).or_default().given.push(done);
        }
    }

    fn unanswered(&mut self, op: &Op<'a>) {
        match (op.end, op.cut, op.invoke) {
            (None, None, Some(sent)) => self.open.push((op.node, sent)),
            _ => self.unknown.entry(op.node).or_default().push(op.invoke),
        }
    }

    fn acknowledge(&mut self, run: &Run<'a>, op: &Op<'a>) {
        let Some(number) = number(run, op) else { return };
        let item = self.all.entry(number).or_default();
        match (outcome(run, op), op.end) {
            (Some(EventType::Ok), Some(read)) => item.consumed.push(Done {
                node: op.node,
                sent: op.invoke,
                read,
            }),
            (Some(EventType::Fail), _) => {}
            _ => item.maybe_consumed = true,
        }
    }

    /// Gives each notice `taking` to the dequeue that its client was at, if the end of that is unknown.
    fn named(&mut self, run: &Run<'a>, unanswered: &HashMap<&str, Vec<&Op<'_>>>) {
        for (at, event) in run.events.iter().enumerate() {
            let lane = match &event.process {
                Process::Name(lane) if !ops::is_harness(lane) => lane.as_str(),
                _ => continue,
            };
            let (true, Some(number)) = (event.f == "taking", event.int("item")) else {
                continue;
            };
            let ops = unanswered.get(lane).map_or(&[][..], Vec::as_slice);
            // In the order in which they began, and one at a time: the last that began before is the only one it can be of.
            let last = ops.partition_point(|op| op.invoke.or(op.end).unwrap_or(0) < at);
            let op = last.checked_sub(1).map(|last| ops[last]);
            let over = |op: &&Op<'_>| op.end.into_iter().chain(op.cut).min().is_some_and(|over| over < at);
            if let Some(op) = op.filter(|op| !over(op)) {
                self.all.entry(number).or_default().maybe_given.push(op.invoke);
            }
        }
    }
}

/// How an operation was answered; `None` if it was not.
pub fn outcome(run: &Run<'_>, op: &Op<'_>) -> Option<EventType> {
    op.end.map(|end| run.events[end].kind)
}

/// The item that an operation is about, which its invocation tells, or its answer.
fn number(run: &Run<'_>, op: &Op<'_>) -> Option<i64> {
    let told = |at: Option<usize>| run.events[at?].int("item");
    told(op.invoke).or_else(|| told(op.end))
}
