//! Items: which were sent and acknowledged, who was given them, and who may have been; and what the drain at the end of
//! a run proves about those that are not there any more.

use super::{ItemField, told};
use crate::analysis::clients::Confirms;
use crate::analysis::{Analysis, Op, ops};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::EventType;
use zooquake_history::operation::queue::f;

/// An operation on an item that was answered with `ok`. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnsweredOperation<'a> {
    /// The client.
    pub node: &'a str,
    /// Where it was sent; `None` if that is not in the history.
    pub sent: Option<usize>,
    /// Where the answer was read.
    pub read: usize,
}

impl AnsweredOperation<'_> {
    /// The events that prove it: its answer, and its request too if only that names the item.
    pub fn witness(&self, run: &Analysis<'_>) -> impl Iterator<Item = usize> + use<> {
        let named = matches!(told(run, self.read), Some(ItemField::Item(_)));
        self.sent.filter(|_| !named).into_iter().chain([self.read])
    }
}

#[derive(Debug, Default)]
pub struct QueueItem<'a> {
    /// The enqueues of it, each by where it was sent, but for those that certainly failed.
    pub sent: Vec<Option<usize>>,
    /// Where an enqueue of it failed.
    pub failed: Option<usize>,
    /// Where its enqueue was acknowledged.
    pub stored: Option<usize>,
    /// The dequeues that were answered with it, in the order in which they were.
    pub given: Vec<AnsweredOperation<'a>>,
    /// The dequeues whose end is unknown and that had named it, each by where it was sent.
    pub maybe_given: Vec<Option<usize>>,
    /// The acknowledgements that were answered with `ok`, in the order in which they were.
    pub consumed: Vec<AnsweredOperation<'a>>,
    /// Whether there is an acknowledgement of it whose end is unknown.
    pub maybe_consumed: bool,
    /// Whether there is an acknowledgement of it at all, even one that failed.
    pub asked_to_acknowledge: bool,
    /// Whether a disputed answer is about it, so that it is not judged.
    pub disputed: bool,
}

impl QueueItem<'_> {
    /// Whether it may have been enqueued more than once, so that the number of its deliveries has no bound.
    pub fn ambiguous(&self) -> bool {
        self.sent.len() > 1
    }
}

/// The items of a history.
#[derive(Debug, Default)]
pub struct Items<'a> {
    /// The items by their numbers.
    pub all: BTreeMap<i64, QueueItem<'a>>,
    /// The dequeues that a living client has not answered: who was asked, and where.
    pub open: Vec<(&'a str, usize)>,
    /// Where the dequeues were sent, or 0, that may have taken any item: their clients cannot name it, and their end is
    /// unknown.
    pub free: Vec<usize>,
    /// By client where the dequeues were sent of which it is not known what they took, one more than the event, in
    /// order; 0 where that is not known.
    maybe: HashMap<&'a str, Vec<usize>>,
    /// Whether an acknowledgement cannot be read that may be of any item.
    pub hidden_acknowledgement: bool,
    /// The dequeues whose answers do not name, in a form that can be read, what they took.
    pub unreadable: Vec<UnreadableDequeue<'a>>,
    /// Where the first enqueue was sent whose item cannot be read.
    pub hidden: Option<usize>,
    /// All events whose item cannot be read, and what they are.
    pub unread: Vec<(usize, String)>,
}

/// A dequeue that took an item, or may have, which cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableDequeue<'a> {
    /// The client.
    pub node: &'a str,
    /// Where it was sent; `None` if that is not in the history.
    pub sent: Option<usize>,
    /// Where its answer was read; `None` if it has none.
    pub read: Option<usize>,
}

impl<'a> Items<'a> {
    /// Reads the items out of a history, in one pass over the operations and one over the notices.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut items = Self::default();
        let mut unanswered: HashMap<&str, Vec<&Op<'a>>> = HashMap::new();
        for op in &run.ops.work {
            match op.f {
                f::ENQUEUE => items.enqueue(run, op),
                f::DEQUEUE if outcome(run, op) == Some(EventType::Ok) => items.given(run, op),
                f::DEQUEUE if op.failed(run.events).is_none() => {
                    if run.declared.is_nameless(op.node) {
                        items.free.push(op.invoke.unwrap_or(0));
                    } else {
                        unanswered.entry(op.node).or_default().push(op);
                    }
                    items.unanswered(op);
                }
                f::ACKNOWLEDGE => items.acknowledge(run, op),
                _ => {}
            }
        }
        items.free.sort_unstable();
        items.named(run, &unanswered);
        for taken in &items.unreadable {
            items
                .maybe
                .entry(taken.node)
                .or_default()
                .push(taken.sent.map_or(0, |at| at + 1));
        }
        items.maybe.values_mut().for_each(|sent| sent.sort_unstable());
        for at in run.ops.in_dispute() {
            if let Some(ItemField::Item(number)) = told(run, at) {
                items.all.entry(number).or_default().disputed = true;
            }
        }
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

    /// Whether an enqueue that cannot be read, so that it may have been of any item, was sent before an event.
    pub fn hidden_before(&self, at: usize) -> bool {
        self.hidden.is_some_and(|sent| sent < at)
    }

    /// Whether a client may have been given any item by a dequeue that it was sent between two events.
    pub fn may_take(&self, node: &str, from: usize, until: usize) -> bool {
        let sent = self.maybe.get(node).map_or(&[][..], Vec::as_slice);
        let next = sent.get(sent.partition_point(|&at| at <= from + 1));
        sent.first() == Some(&0) || next.is_some_and(|&at| at < until + 1)
    }

    fn enqueue(&mut self, run: &Analysis<'a>, op: &Op<'a>) {
        let failed = op.failed(run.events);
        let number = match number(run, op) {
            Ok(number) => number,
            Err(at) if failed.is_none() => {
                self.unread(at, op);
                let sent = op.invoke.unwrap_or(0);
                self.hidden = Some(self.hidden.map_or(sent, |first| first.min(sent)));
                return;
            }
            Err(_) => return,
        };
        let item = self.all.entry(number).or_default();
        if failed.is_some() {
            item.failed = failed;
            return;
        }
        item.sent.push(op.invoke);
        if outcome(run, op) == Some(EventType::Ok) && names_its_own(run, op) {
            item.stored = item.stored.into_iter().chain(op.end).min();
        }
    }

    fn given(&mut self, run: &Analysis<'a>, op: &Op<'a>) {
        let Some(read) = op.end else { return };
        match told(run, read) {
            Some(ItemField::Item(number)) => {
                let done = AnsweredOperation {
                    node: op.node,
                    sent: op.sent(),
                    read,
                };
                self.all.entry(number).or_default().given.push(done);
            }
            Some(ItemField::Nothing) => {}
            Some(ItemField::Unreadable) | None => {
                self.unread(read, op);
                self.unreadable.push(UnreadableDequeue {
                    node: op.node,
                    sent: op.sent(),
                    read: Some(read),
                });
            }
        }
    }

    fn unread(&mut self, at: usize, op: &Op<'_>) {
        self.unread.push((
            at,
            format!(
                "the `{}` of {}, which names no one item that can be read",
                op.f, op.node
            ),
        ));
    }

    fn unanswered(&mut self, op: &Op<'a>) {
        self.maybe
            .entry(op.node)
            .or_default()
            .push(op.invoke.map_or(0, |at| at + 1));
        if let (None, None, Some(sent)) = (op.end, op.cut, op.invoke) {
            self.open.push((op.node, sent));
        }
    }

    fn acknowledge(&mut self, run: &Analysis<'a>, op: &Op<'a>) {
        let failed = op.failed(run.events).is_some();
        let number = match number(run, op) {
            Ok(number) => number,
            Err(at) if !failed => {
                self.hidden_acknowledgement = true;
                return self.unread(at, op);
            }
            Err(_) => return,
        };
        let item = self.all.entry(number).or_default();
        item.asked_to_acknowledge = true;
        match (outcome(run, op), op.end) {
            (Some(EventType::Ok), Some(read)) if names_its_own(run, op) => item.consumed.push(AnsweredOperation {
                node: op.node,
                sent: op.sent(),
                read,
            }),
            _ => item.maybe_consumed |= !failed,
        }
    }

    /// Gives each notice `taking` to the dequeue that its client was at, if the end of that is unknown.
    fn named(&mut self, run: &Analysis<'a>, unanswered: &HashMap<&str, Vec<&Op<'a>>>) {
        let notices = run.events.iter().enumerate().filter(|(_, event)| event.f == "taking");
        for (at, event, client) in notices.filter_map(|(at, event)| Some((at, event, ops::named_client(event)?))) {
            let ops = unanswered.get(client).map_or(&[][..], Vec::as_slice);
            // In the order in which they began, and one at a time: the last that began before is the only one it can be
            // of.
            let last = ops.partition_point(|op| op.invoke.or(op.end).unwrap_or(0) < at);
            let before = last.checked_sub(1).map(|last| ops[last]);
            let over = |op: &&Op<'_>| op.end.into_iter().chain(op.cut).min().is_some_and(|over| over < at);
            // One whose request is missing may have begun before.
            let after = ops.get(last).copied().filter(|op| op.invoke.is_none());
            let Some(op) = before.filter(|op| !over(op)).or(after) else {
                continue;
            };
            if let Some(number) = event.item() {
                self.all.entry(number).or_default().maybe_given.push(op.invoke);
            } else {
                let unread = format!("a notice of {client}, which names no item that can be read");
                self.unread.push((at, unread));
                self.unreadable.push(UnreadableDequeue {
                    node: op.node,
                    sent: op.invoke,
                    read: None,
                });
            }
        }
    }
}

/// Whether an answer, if it may be that to another request, itself names the item that it is about.
pub fn names_its_own(run: &Analysis<'_>, op: &Op<'_>) -> bool {
    !op.doubtful || matches!(op.end.and_then(|end| told(run, end)), Some(ItemField::Item(_)))
}

/// How an operation was answered; `None` if it was not.
pub fn outcome(run: &Analysis<'_>, op: &Op<'_>) -> Option<EventType> {
    op.end.map(|end| run.events[end].kind)
}

/// The item that an operation is about, which its invocation names, or its answer; else the event that should.
pub fn number(run: &Analysis<'_>, op: &Op<'_>) -> Result<i64, usize> {
    let told = |at: Option<usize>| told(run, at?).filter(|told| *told != ItemField::Nothing);
    let first = op.invoke.or(op.end).unwrap_or_default();
    match (told(op.invoke), told(op.end)) {
        (Some(ItemField::Item(asked)), Some(ItemField::Item(answered))) if asked != answered => {
            Err(op.end.unwrap_or(first))
        }
        (Some(ItemField::Item(number)), None | Some(ItemField::Item(_))) | (None, Some(ItemField::Item(number))) => {
            Ok(number)
        }
        (Some(ItemField::Item(_)), _) => Err(op.end.unwrap_or(first)),
        _ => Err(first),
    }
}

/// A client found the queue empty, after it had written to ZooKeeper. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyAnswer<'a> {
    /// The client.
    pub node: &'a str,
    /// Where its `confirm` was sent: what had been acknowledged before is seen by what it reads after the answer.
    pub asked: usize,
    /// Where its `confirm` was answered.
    pub confirmed: usize,
    /// Where the dequeue was sent that found nothing.
    pub sent: usize,
    /// Where the answer to that dequeue was read.
    pub empty: usize,
    /// The event of the phase `drained`.
    pub drained: usize,
}

impl<'a> EmptyAnswer<'a> {
    /// The last proof of emptiness before the phase `drained`; else why there is none.
    pub fn new(run: &Analysis<'a>) -> Result<Self, &'static str> {
        Self::all(run)?.into_iter().max_by_key(|proof| proof.asked).ok_or(
            "no client found the queue empty, before the phase `drained`, after it had answered a confirm: lost items were \
             not looked for",
        )
    }

    /// All proofs of emptiness before the phase `drained`, in the order in which their dequeues began; else why there
    /// is none.
    pub fn all(run: &Analysis<'a>) -> Result<Vec<Self>, &'static str> {
        let drained = run
            .phase("drained")
            .ok_or("the queue was not drained to its end: lost items were not looked for")?;
        let confirms = Confirms::new(run.events, &run.ops);
        let proof = |op: &crate::analysis::Op<'a>| {
            let (sent, empty) = (op.sent()?, op.end.filter(|&end| end < drained)?);
            let nothing = outcome(run, op) == Some(EventType::Ok) && told(run, empty) == Some(ItemField::Nothing);
            if op.f != f::DEQUEUE || !nothing {
                return None;
            }
            let (asked, confirmed) = confirms.before(&run.clients, op.node, sent, empty)?;
            Some(Self {
                node: op.node,
                asked,
                confirmed,
                sent,
                empty,
                drained,
            })
        };
        Ok(run.ops.work.iter().filter_map(proof).collect())
    }

    /// The events that prove it.
    pub fn witness(&self) -> [usize; 5] {
        [self.asked, self.confirmed, self.sent, self.empty, self.drained]
    }
}
