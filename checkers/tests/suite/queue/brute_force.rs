//! The anomalies by their definitions, taken literally, over the bare events. Slow, and with nothing of the checkers.

use crate::liveness::{node, phase};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Node, Process, Record};

/// An operation: sent, and ended how and where; `over` is where nothing more of it can come.
#[derive(Debug, Clone)]
pub struct QueueOp {
    pub node: String,
    pub sent: usize,
    pub end: Option<(usize, EventType)>,
    pub over: Option<usize>,
}

impl QueueOp {
    pub fn ok(&self) -> Option<usize> {
        self.end.filter(|(_, kind)| *kind == EventType::Ok).map(|(at, _)| at)
    }

    pub fn failed(&self) -> bool {
        self.end.is_some_and(|(_, kind)| kind == EventType::Fail)
    }

    fn unknown(&self) -> bool {
        self.ok().is_none() && !self.failed()
    }
}

pub fn is_named(event: &Event) -> bool {
    matches!(&event.process, Process::Name(name) if Node::from(name.as_str()).is_client())
}

/// The operations of one name: of numbered processes, or control requests.
pub fn ops(events: &[Event], f: &str) -> Vec<QueueOp> {
    let sent = (0..events.len()).filter(|&at| events[at].f == f && events[at].kind == EventType::Invoke);
    sent.map(|sent| {
        let later = || (sent + 1..events.len()).filter(|&at| node(&events[at]) == node(&events[sent]));
        let same = |at: &usize| events[*at].process == events[sent].process && events[*at].f == f;
        let end = later().find(same).map(|at| (at, events[at].kind));
        let exit = later().find(|&at| is_named(&events[at]) && events[at].f == "exit");
        let over = end.map(|(at, _)| at).into_iter().chain(exit).min();
        QueueOp {
            node: node(&events[sent]).to_owned(),
            sent,
            end,
            over,
        }
    })
    .collect()
}

fn sent_items(events: &[Event]) -> BTreeSet<i64> {
    let enqueues = ops(events, "enqueue").into_iter();
    enqueues.filter_map(|op| events[op.sent].item()).collect()
}

/// The operations that may have enqueued an item.
fn enqueues(events: &[Event], number: i64) -> Vec<QueueOp> {
    let of = |op: &QueueOp| events[op.sent].item() == Some(number) && !op.failed();
    ops(events, "enqueue").into_iter().filter(of).collect()
}

/// The operation that enqueued an item, if just one did.
fn enqueue(events: &[Event], number: i64) -> Option<QueueOp> {
    let mut of = enqueues(events, number).into_iter();
    let first = of.next()?;
    of.next().is_none().then_some(first)
}

/// Whether a client declared in its `hello` that it cannot name what it takes.
pub fn nameless(events: &[Event], client: &str) -> bool {
    let says = |event: &Event| event.cannot().into_iter().flatten().any(|word| word == "taking");
    let hello = |event: &&Event| is_named(event) && event.f == "hello" && node(event) == client;
    events.iter().filter(hello).any(says)
}

/// Where the dequeues of such clients were sent whose end is unknown.
pub fn free(record: &Record) -> Vec<usize> {
    let events = &record.history.events;
    let ops = ops(events, "dequeue").into_iter();
    let free = ops.filter(|op| op.unknown() && nameless(events, &op.node));
    free.map(|op| op.sent).collect()
}

/// Whether a dequeue had named an item.
fn named(events: &[Event], op: &QueueOp, number: i64) -> bool {
    !nameless(events, &op.node)
        && (op.sent..op.over.unwrap_or(events.len())).any(|at| {
            let event = &events[at];
            is_named(event) && event.f == "taking" && node(event) == op.node && event.item() == Some(number)
        })
}

/// Items that nobody is known to have got, each with where the queue was first found empty after it had been there.
pub fn missing(record: &Record) -> Vec<(i64, usize)> {
    let events = &record.history.events;
    let (dequeues, confirms) = (ops(events, "dequeue"), ops(events, "confirm"));
    let Some(drained) = phase(events, "drained") else {
        return Vec::new();
    };
    if dequeues.iter().any(|op| op.over.is_none()) {
        return Vec::new();
    }
    let proved = |stored: usize| {
        let proofs = confirms.iter().flat_map(|confirm| {
            let confirmed = confirm.ok().filter(|_| confirm.sent > stored);
            let proof = move |op: &QueueOp| {
                let (confirmed, read) = (confirmed?, op.ok()?);
                let empty = events[read].value.get("item").is_some_and(|item| item.is_null()) && read < drained;
                let other =
                    |at: usize| matches!(events[at].f.as_str(), "exit" | "session") && node(&events[at]) == op.node;
                let proves = op.node == confirm.node && confirmed < op.sent && empty;
                (proves && !(confirm.sent..read).any(other)).then_some(read)
            };
            dequeues.iter().filter_map(proof)
        });
        proofs.min()
    };
    let known = |number: i64| {
        let gave = |op: &QueueOp| op.ok().is_some_and(|read| events[read].item() == Some(number));
        let given = dequeues.iter().any(gave);
        let named = dequeues.iter().any(|op| op.unknown() && named(events, op, number));
        let ends = |op: &QueueOp| events[op.sent].item() == Some(number) && !op.failed();
        given || named || ops(events, "acknowledge").iter().any(ends)
    };
    let stored = |number: &i64| {
        let of = ops(events, "enqueue")
            .into_iter()
            .filter(|op| events[op.sent].item() == Some(*number));
        of.filter_map(|op| op.ok()).min()
    };
    sent_items(events)
        .into_iter()
        .filter(|number| !known(*number))
        .filter_map(|number| Some((number, stored(&number).and_then(proved)?)))
        .collect()
}

/// Items that are lost, if no dequeue may have taken just any.
pub fn lost(record: &Record) -> BTreeSet<i64> {
    missing(record).into_iter().map(|(number, _)| number).collect()
}

/// How many items are lost in every execution: all that are missing in the one in which the dequeues that may have
/// taken any took most of them, each one that was still there.
pub fn lost_for_certain(missing: &[(i64, usize)], free: &[usize]) -> usize {
    let Some(((_, empty), rest)) = missing.split_first() else {
        return 0;
    };
    let lost = 1 + lost_for_certain(rest, free);
    let takers = (0..free.len()).filter(|&taker| free[taker] < *empty);
    let taken = takers.map(|taker| {
        let free = free.iter().enumerate().filter(|(at, _)| *at != taker);
        let others: Vec<usize> = free.map(|(_, sent)| *sent).collect();
        lost_for_certain(rest, &others)
    });
    taken.min().map_or(lost, |taken| taken.min(lost))
}

/// The dequeues answered with an item.
fn given(events: &[Event], number: i64) -> Vec<QueueOp> {
    let with = |op: &QueueOp| op.ok().is_some_and(|read| events[read].item() == Some(number));
    ops(events, "dequeue").into_iter().filter(with).collect()
}

fn all_items(events: &[Event]) -> BTreeSet<i64> {
    events.iter().filter_map(|event| event.item()).collect()
}

/// Items that were delivered or acknowledged too often.
pub fn duplicates(record: &Record) -> BTreeSet<i64> {
    let events = &record.history.events;
    let claimed = record.plan.workload.variant == "claimed";
    let more = |number: &i64| {
        if enqueues(events, *number).len() > 1 {
            return false;
        }
        let given = given(events, *number);
        if !claimed {
            return given.len() > 1;
        }
        let mut acks: Vec<QueueOp> = ops(events, "acknowledge");
        acks.retain(|op| op.ok().is_some() && events[op.sent].item() == Some(*number));
        let again = acks.iter().any(|ack| given.iter().any(|op| Some(op.sent) > ack.ok()));
        acks.len() > 1 || again || acks.iter().any(|ack| unexplained(events, &given, ack))
    };
    all_items(events).into_iter().filter(more).collect()
}

/// Whether no execution has the item's deliveries to others all before the last one to the client that acknowledged,
/// and that before the acknowledgement. One of unknown end that was sent after the client's last known one may be that.
fn unexplained(events: &[Event], given: &[QueueOp], ack: &QueueOp) -> bool {
    let read = |op: &QueueOp| op.ok().expect("it is `ok`");
    let (own, theirs): (Vec<&QueueOp>, Vec<&QueueOp>) = given.iter().partition(|op| op.node == ack.node);
    let known = own.into_iter().filter(|op| op.sent < read(ack)).map(read).max();
    let Some(known) = known else {
        return false;
    };
    let dequeues = ops(events, "dequeue").into_iter();
    let maybe = dequeues.filter(|op| op.unknown() && op.node == ack.node && known < op.sent && op.sent < read(ack));
    let until = maybe.map(|_| usize::MAX).chain([known]);
    !until
        .map(|until| until.min(read(ack)))
        .any(|until| theirs.iter().all(|op| op.sent < until))
}

/// Items delivered, or acknowledged where that is promised, before they were sent, but for requests that certainly
/// failed.
pub fn phantoms(record: &Record) -> BTreeSet<i64> {
    let events = &record.history.events;
    let claimed = record.plan.workload.variant == "claimed";
    let made_up = |number: &i64| {
        let acks = ops(events, "acknowledge").into_iter().filter(|_| claimed);
        let acks = acks.filter(|op| op.ok().is_some() && events[op.sent].item() == Some(*number));
        let mut given = given(events, *number);
        if given.is_empty() {
            given.extend(acks);
        }
        let sent = enqueues(events, *number);
        given.iter().any(|op| sent.iter().all(|sent| Some(sent.sent) > op.ok()))
    };
    all_items(events).into_iter().filter(made_up).collect()
}

/// Items that were overtaken: there is another one so that in every execution that one's first delivery comes first.
///
/// An execution puts each delivery at a moment between its sending and its answer. Moments lie between events; `at`
/// stands for any of those between the events `at` and `at + 1`.
pub fn overtaken(record: &Record) -> BTreeSet<i64> {
    let events = &record.history.events;
    let dequeues = ops(events, "dequeue");
    let first_may_be = |one: i64, other: &[QueueOp]| {
        dequeues.iter().any(|op| {
            let open = op.unknown() && op.over.is_none();
            let mine = match op.ok() {
                Some(read) => events[read].item() == Some(one),
                None => op.unknown() && (open || nameless(events, &op.node) || named(events, op, one)),
            };
            let until = op.ok().unwrap_or(events.len());
            // All of the other's deliveries can come later than this moment.
            mine && (op.sent..until).any(|at| other.iter().all(|op| op.ok().expect("it was given") > at))
        })
    };
    let numbers = all_items(events);
    let over = |one: &i64| {
        let Some(stored) = enqueue(events, *one).and_then(|op| op.ok()) else {
            return false;
        };
        !given(events, *one).is_empty()
            && numbers.iter().any(|other| {
                let given = given(events, *other);
                let later = enqueue(events, *other)
                    .is_some_and(|op| op.sent > stored && given.iter().all(|given| given.ok() > Some(op.sent)));
                later && !given.is_empty() && !first_may_be(*one, &given)
            })
    };
    numbers.iter().copied().filter(over).collect()
}
