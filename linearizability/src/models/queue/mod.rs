//! Queues: `enqueue` with a value, `dequeue` answered with one or with nil if the queue was empty, and `drain`,
//! answered with all that came out until the queue was empty. A `dequeue` that failed took nothing out, and does not
//! show what there was.

pub mod bag;
pub mod fifo;
mod pairs;
pub mod total;

pub use bag::{Bag, QueueOp};
pub use fifo::Fifo;

use crate::call::{Call, CallOutcome, InputError, Reading, Remark};
use crate::equality::ValueNumbers;
use crate::generate::{
    Completion, DrawnValues, GeneratedClients, GeneratedLoad, Options, SimulatedObject, Simulation, Values, one_client,
    simulate,
};
use crate::judgement::{Inquiry, Judgement, StateNames, Violation, decide};
use crate::model::{BrokenClaim, Op, unordered};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::proof::{OPERATION_BYTES, Proof};
use crate::search::Limit;
use crate::value::Value;
use bag::MADE_UP;
use fastrand::Rng;
use std::collections::HashMap;
use total::AnsweredDrain;

/// The operations of all queues.
const OPERATIONS: [&str; 3] = ["enqueue", "dequeue", "drain"];

const UNORDERED: BrokenClaim = unordered("no order of the queue's operations fits");

/// Values that come back are swept by pairs.
const LOADS: &[GeneratedLoad] = &[
    GeneratedLoad::COMMON,
    GeneratedLoad::new(10_000, 10, 0.0, Values::Of(5)),
    GeneratedLoad::new(10_000, 10, 0.01, Values::Of(5)),
    GeneratedLoad::new(10_000, 30, 0.0, Values::Of(5)),
];

/// Queues, first in, first out.
pub static FIFO_QUEUE: ModelEntry = ModelEntry {
    names: &["fifo-queue"],
    summary: "enqueue, dequeue, drain; first in, first out",
    operations: &OPERATIONS,
    size: ModelSize::Fixed,
    begins: Some("a queue is empty at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "fifo-queue",
        clients: one_client,
        loads: LOADS,
        run: |options, _| simulate(options, QueueObject::new(QueueOrder::Fifo, options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let QueueOperations {
            reading,
            drains,
            values,
        } = read(model, calls, Delivery::Once)?;
        let mut found = decide(
            UNORDERED,
            &Fifo,
            reading,
            &|items, names| words(items, &values, names),
            inquiry,
        );
        if drains.iter().any(|drain| drain.empty - drain.first > 1) {
            found.remarks.push(Remark::DrainUnordered);
        }
        Ok(found)
    },
};

/// Queues without an order, each of whose items comes out once.
pub static UNORDERED_QUEUE: ModelEntry = ModelEntry {
    names: &["unordered-queue"],
    summary: "enqueue, dequeue, drain; each item comes out once, in any order",
    operations: &OPERATIONS,
    size: ModelSize::Fixed,
    begins: Some("a queue is empty at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "unordered-queue",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, QueueObject::new(QueueOrder::None, options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let QueueOperations { reading, values, .. } = read(model, calls, Delivery::Once)?;
        Ok(decide(
            UNORDERED,
            &Bag,
            reading,
            &|items, names| words(items, &values, names),
            inquiry,
        ))
    },
};

/// What Jepsen's `total-queue` judges: what goes in comes out, at least once, and nothing else does.
pub static TOTAL_QUEUE: ModelEntry = ModelEntry {
    names: &["total-queue"],
    summary: "enqueue, dequeue, drain; what goes in comes out at least once, and nothing else does",
    operations: &OPERATIONS,
    size: ModelSize::Fixed,
    begins: Some("a queue is empty at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "total-queue",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, QueueObject::new(QueueOrder::Drained, options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let QueueOperations { reading, drains, .. } = read(model, calls, Delivery::AtLeastOnce)?;
        let mut judgement = Judgement::default();
        // A delivery may repeat another one, and nothing orders them.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(judgement);
        };
        if reading.ops.len() * OPERATION_BYTES > budget.bytes {
            judgement.remarks.push(Remark::GaveUp(Limit::Memory));
            return Ok(judgement);
        }
        let found = total::judge(&reading.ops, &drains);
        let unjudged = found.unjudged.filter(|_| found.contradiction.is_none());
        let enqueue = |op: usize| Remark::LossesUnjudged {
            enqueue: reading.calls[op],
        };
        judgement.remarks.extend(unjudged.map(enqueue));
        if found.again > 0 {
            judgement.remarks.push(Remark::Repeated(found.again));
        }
        let proof = found.contradiction.map(|found| Proof {
            stuck: found.stuck,
            witness: found.witness,
            claim: found.claim,
            fits: None,
        });
        let violation = proof.map(|proof| Violation::new(MADE_UP, &reading.calls, &proof));
        judgement.violations.extend(violation);
        Ok(judgement)
    },
};

/// How often an item comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// Once for each time that it was put in.
    Once,
    /// Once or more.
    AtLeastOnce,
}

/// The operations on a queue, and the drains among them that were answered.
struct QueueOperations<'a> {
    /// Every operation on the queue, the parts of a drain each by itself.
    reading: Reading<'a, QueueOp>,
    /// The drains that were answered, by the places of their parts.
    drains: Vec<AnsweredDrain>,
    /// The numbers of the items.
    values: ValueNumbers,
}

/// What is in a queue.
fn words(items: &[u32], values: &ValueNumbers, names: &StateNames<'_, '_>) -> String {
    names.list(items.iter().map(|&item| values.value(item)))
}

/// The operations on a queue that delivers an item so often.
///
/// # Errors
/// What a queue cannot do, and a value that cannot be compared.
fn read<'a>(model: &ModelEntry, calls: &[&'a Call<'a>], delivery: Delivery) -> Result<QueueOperations<'a>, InputError> {
    let (mut reading, mut values, mut drains) = (Reading::new(), ValueNumbers::default(), Vec::new());
    let enqueues = calls.iter().filter(|call| call.f == "enqueue").count();
    // It may have taken out all that there was, and once is enough: the one that was sent first.
    let unknown = |call: &&&Call<'_>| call.f == "drain" && matches!(call.outcome, CallOutcome::Info);
    let drained = calls.iter().filter(unknown).min_by_key(|call| call.from());
    let drained = drained.map(|call| call.invoke);
    for &call in calls {
        let ok = call.outcome == CallOutcome::Ok;
        let mut number = |value: &Value| {
            values.number(value, || {
                format!("the value of the {} of event {}", call.f, call.invoke)
            })
        };
        match call.f {
            "enqueue" => {
                reading.add(call, QueueOp::Enqueue(number(&call.asked)?));
            }
            "dequeue" if ok && call.answered.is_nil() => reading.add(call, QueueOp::Empty),
            "dequeue" if ok => {
                reading.add(call, QueueOp::Dequeue(number(&call.answered)?));
            }
            "dequeue" => reading.add(call, QueueOp::Take),
            "drain" if ok => {
                let Some(items) = call.answered.sequence() else {
                    return Err(InputError::Unexpected {
                        what: format!("the drain of event {} was answered with no list", call.invoke),
                        found: call.answered.clone(),
                    });
                };
                let first = reading.ops.len();
                for item in items {
                    reading.add(call, QueueOp::Dequeue(number(item)?));
                }
                let (sent, empty) = (call.from(), reading.ops.len());
                reading.add(call, QueueOp::Empty);
                drains.push(AnsweredDrain { sent, first, empty });
            }
            "drain" if drained == Some(call.invoke) => {
                (0..enqueues).for_each(|_| reading.add(call, QueueOp::Take));
            }
            "drain" => {}
            _ => return Err(model.unable(call)),
        }
    }
    after_their_items(&mut reading.ops, &drains, delivery);
    Ok(QueueOperations {
        reading,
        drains,
        values,
    })
}

/// Has the empty answer of each drain come after the last moment at which fewer enqueues of one of its items had been
/// sent than must have come out if all that it took out had, with what had been delivered by then. An item that may
/// come out again needs one enqueue.
fn after_their_items(ops: &mut [Op<QueueOp>], drains: &[AnsweredDrain], delivery: Delivery) {
    let once = delivery == Delivery::Once;
    let mut items: HashMap<u32, Positions> = HashMap::new();
    for op in ops.iter() {
        match op.input {
            QueueOp::Enqueue(item) => items.entry(item).or_default().sent.push(op.invoke),
            QueueOp::Dequeue(item) => items
                .entry(item)
                .or_default()
                .ended
                .extend(op.complete.filter(|_| once)),
            QueueOp::Empty | QueueOp::Take => {}
        }
    }
    for positions in items.values_mut() {
        positions.sent.sort_unstable();
        positions.ended.sort_unstable();
    }
    for drain in drains {
        let mut taken: HashMap<u32, usize> = HashMap::new();
        for op in &ops[drain.first..drain.empty] {
            if let QueueOp::Dequeue(item) = op.input {
                let taken = taken.entry(item).or_default();
                *taken = if once { *taken + 1 } else { 1 };
            }
        }
        let end = ops[drain.empty].complete;
        let last = |(item, taken)| items.get_mut(&item)?.last_too_few(taken, end);
        let latest = taken.into_iter().filter_map(last).max();
        ops[drain.empty].invoke = ops[drain.empty].invoke.max(latest.unwrap_or(0));
    }
}

/// Where the enqueues of an item were sent, and where its deliveries ended, ascending.
#[derive(Default)]
struct Positions {
    sent: Vec<usize>,
    ended: Vec<usize>,
    /// For each number of items that a drain took, and each enqueue: the last one up to it before which too few were
    /// sent.
    too_few: HashMap<usize, Vec<usize>>,
}

impl Positions {
    /// Of the enqueues sent before `end` where the last one was sent before which there were fewer than deliveries had
    /// ended, and `taken` more; `None` if none was sent.
    fn last_too_few(&mut self, taken: usize, end: Option<usize>) -> Option<usize> {
        let Self { sent, ended, too_few } = self;
        let too_few = too_few.entry(taken).or_insert_with(|| {
            let mut last = 0;
            let up_to = |(at, &sent): (usize, &usize)| {
                let few = at
                    .checked_sub(taken)
                    .is_none_or(|out| ended.get(out).is_some_and(|&end| end < sent));
                last = if few { at } else { last };
                last
            };
            sent.iter().enumerate().map(up_to).collect()
        });
        // What was sent too late is a contradiction without that.
        let in_time = sent.partition_point(|&sent| Some(sent) < end);
        Some(sent[too_few[in_time.checked_sub(1)?]])
    }
}

/// Of so many deliveries of a simulated queue that delivers at least once one leaves its item in the queue.
const AGAIN: usize = 11;

/// The order and the number of deliveries that a simulated queue promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueueOrder {
    /// First in, first out.
    Fifo,
    /// No order, and each item comes out once.
    None,
    /// No order; an item may come out again, and one drain at the end takes out all.
    Drained,
}

/// A simulated queue, empty at first.
#[derive(Debug)]
struct QueueObject {
    order: QueueOrder,
    items: Vec<u64>,
    values: DrawnValues,
}

/// An operation on a simulated queue, as a client invokes it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum QueueCall {
    /// This is put in.
    Enqueue(u64),
    /// Something is taken out: of an unordered queue what stands at this place, counted around.
    Dequeue(usize),
    /// All is taken out.
    Drain,
}

impl QueueObject {
    /// An empty one.
    fn new(order: QueueOrder, options: &Options) -> Self {
        Self {
            order,
            items: Vec::new(),
            values: DrawnValues::new(options.values),
        }
    }
}

impl SimulatedObject for QueueObject {
    type Op = QueueCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> QueueCall {
        match (rng.bool(), self.order) {
            (true, QueueOrder::Fifo) => QueueCall::Dequeue(0),
            (true, _) => QueueCall::Dequeue(rng.usize(..)),
            (false, _) => QueueCall::Enqueue(self.values.draw(rng)),
        }
    }

    fn request(op: &QueueCall) -> (&'static str, Value) {
        match *op {
            QueueCall::Enqueue(item) => ("enqueue", Value::from(item)),
            QueueCall::Dequeue(_) => ("dequeue", Value::Nil),
            QueueCall::Drain => ("drain", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &QueueCall) -> Option<Completion> {
        Some(match *op {
            QueueCall::Enqueue(item) => {
                self.items.push(item);
                Completion::Ok(Value::from(item))
            }
            QueueCall::Dequeue(_) if self.items.is_empty() => Completion::Fail("empty"),
            QueueCall::Dequeue(place) => {
                let (at, again) = (place % self.items.len(), place % AGAIN == 0);
                let item = match self.order {
                    QueueOrder::Drained if again => self.items[at],
                    _ => self.items.remove(at),
                };
                Completion::Ok(Value::from(item))
            }
            QueueCall::Drain => Completion::Ok(std::mem::take(&mut self.items).into_iter().map(Value::from).collect()),
        })
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        let object = &mut clients.object;
        let (one, other) = (object.values.unique(), object.values.unique());
        // The items that are put in, and those that come out.
        let (into, out) = match object.order {
            QueueOrder::Fifo => (vec![one, other], vec![other, one]),
            QueueOrder::None => (vec![one], vec![one, one]),
            QueueOrder::Drained => (vec![], vec![one]),
        };
        for item in into {
            clients.at_once(client, &QueueCall::Enqueue(item), &Completion::Ok(Value::from(item)));
        }
        for item in out {
            clients.at_once(client, &QueueCall::Dequeue(0), &Completion::Ok(Value::from(item)));
        }
        true
    }

    fn close(clients: &mut GeneratedClients<Self>) {
        if clients.object.order == QueueOrder::Drained {
            clients.try_at_once(0, &QueueCall::Drain);
        }
    }
}
