//! Queues: `enqueue` with a value, `dequeue` answered with one or with nil if the queue was empty, and `drain`, answered with all
//! that came out until the queue was empty. A `dequeue` that failed took nothing out, and says nothing of what there was.

use super::{HistoryModel, decide, unable, unordered};
use crate::edn::{Edn, from_json, to_json};
use crate::search::calls::Call;
use crate::search::models::bag::{Bag, QueueOp};
use crate::search::models::fifo::Fifo;
use crate::search::reading::Reading;
use crate::search::values::Values;
use crate::search::{Claim, Op};
use crate::text::count;
use crate::verdict::NOTE;
use crate::{EventType, Value};
use std::collections::{HashMap, HashSet};

const OPERATIONS: [&str; 3] = ["enqueue", "dequeue", "drain"];

const UNORDERED: Claim = unordered("no order of the queue's operations fits");

/// Queues, first in, first out.
pub static FIFO_QUEUE: HistoryModel = HistoryModel {
    names: &["fifo-queue"],
    operations: &OPERATIONS,
    sized: false,
    judge: |model, calls, _, _, budget| {
        let read = read(model, calls)?;
        let mut found = decide(&UNORDERED, &Fifo, read.reading, budget);
        if read.longest > 1 {
            let what = "a drain took several items out, and their order among each other was not judged";
            found.reasons.push(what.to_owned());
        }
        Ok(found)
    },
};

/// Queues without an order, each of whose items comes out once.
pub static UNORDERED_QUEUE: HistoryModel = HistoryModel {
    names: &["unordered-queue"],
    operations: &OPERATIONS,
    sized: false,
    judge: |model, calls, _, _, budget| Ok(decide(&UNORDERED, &Bag, read(model, calls)?.reading, budget)),
};

/// What Jepsen's `total-queue` judges: what goes in comes out, at least once, and nothing else does.
pub static TOTAL_QUEUE: HistoryModel = HistoryModel {
    names: &["total-queue"],
    operations: &OPERATIONS,
    sized: false,
    judge: |model, calls, _, _, budget| {
        let mut reading = read(model, calls)?.reading;
        let again = once(&mut reading);
        let drained = last_drain(&mut reading);
        let delivered: HashSet<u32> = reading
            .ops
            .iter()
            .filter_map(|op| match op.input {
                QueueOp::Dequeue(item) => Some(item),
                _ => None,
            })
            .collect();
        let stays =
            |op: &&Op<QueueOp>| matches!(op.input, QueueOp::Enqueue(item) if op.required && !delivered.contains(&item));
        let left = reading.ops.iter().find(stays);
        let reason = left.filter(|_| !drained).map(|op| {
            format!(
                "whether items were lost was not judged, as no drain was answered after all deliveries (that of event {} did not \
                 come out)",
                op.invoke
            )
        });
        let mut found = decide(&UNORDERED, &Bag, reading, budget);
        found.reasons.extend(reason);
        if again > 0 {
            let text = format!(
                "{NOTE}{} repeated an item that had come out already",
                count(again, "delivery")
            );
            found.reasons.push(text);
        }
        Ok(found)
    },
};

/// What operations tell, and how many items the longest drain took out.
struct Read<'a> {
    reading: Reading<'a, QueueOp>,
    longest: usize,
}

fn read<'a>(model: &HistoryModel, calls: &[Call<'a>]) -> Result<Read<'a>, String> {
    let (mut reading, mut values, mut longest) = (Reading::new(), Values::default(), 0);
    let enqueues = calls.iter().filter(|call| call.f() == "enqueue").count();
    let (mut drains, mut drained) = (Vec::new(), false);
    for &call in calls {
        let ok = call.outcome() == EventType::Ok;
        let mut number = |value: &Value| {
            let number = values.number(value);
            number.map_err(|what| {
                format!(
                    "the value of the {} of event {} cannot be compared: {what}",
                    call.f(),
                    call.invoke.index
                )
            })
        };
        match call.f() {
            "enqueue" => {
                let item = number(call.asked)?;
                reading.add(call, QueueOp::Enqueue(item));
            }
            "dequeue" if ok && call.answered.is_null() => reading.add(call, QueueOp::Empty),
            "dequeue" if ok => {
                let item = number(call.answered)?;
                reading.add(call, QueueOp::Dequeue(item));
            }
            "dequeue" => reading.add(call, QueueOp::Take),
            "drain" if ok => {
                let (Edn::Vector(items) | Edn::List(items)) = from_json(call.answered) else {
                    let at = call.invoke.index;
                    return Err(format!(
                        "the drain of event {at} was answered with no list, but {}",
                        call.answered
                    ));
                };
                let first = reading.ops.len();
                for item in &items {
                    let item = number(&to_json(item))?;
                    reading.add(call, QueueOp::Dequeue(item));
                }
                longest = longest.max(items.len());
                reading.add(call, QueueOp::Empty);
                drains.push((first, reading.ops.len() - 1));
            }
            // It may have taken out all that there was, and once is enough.
            "drain" if call.outcome() != EventType::Fail && !drained => {
                drained = true;
                (0..enqueues).for_each(|_| reading.add(call, QueueOp::Take));
            }
            "drain" => {}
            _ => return Err(unable(model, &call)),
        }
    }
    after_their_items(&mut reading.ops, &drains);
    Ok(Read { reading, longest })
}

/// Has the empty answer of each drain (its first delivery, its empty answer) come after all items of that drain had been sent to be
/// put in.
fn after_their_items(ops: &mut [Op<QueueOp>], drains: &[(usize, usize)]) {
    let mut sent: HashMap<u32, usize> = HashMap::new();
    for op in ops.iter() {
        if let QueueOp::Enqueue(item) = op.input {
            sent.entry(item).or_insert(op.invoke);
        }
    }
    for &(first, empty) in drains {
        let items = ops[first..empty].iter().filter_map(|op| match op.input {
            QueueOp::Dequeue(item) => sent.get(&item).copied(),
            _ => None,
        });
        // What was sent too late is a contradiction without that.
        let latest = items.filter(|&sent| Some(sent) < ops[empty].complete).max();
        ops[empty].invoke = ops[empty].invoke.max(latest.unwrap_or(0));
    }
}

/// Leaves of the deliveries of each item as many as it was put in, those that were over first; how many there were more, if any
/// was put in.
fn once(reading: &mut Reading<'_, QueueOp>) -> usize {
    let mut room: HashMap<u32, usize> = HashMap::new();
    for op in &reading.ops {
        if let QueueOp::Enqueue(item) = op.input {
            *room.entry(item).or_default() += 1;
        }
    }
    let mut deliveries: Vec<usize> = (0..reading.ops.len()).collect();
    deliveries.retain(|&op| matches!(reading.ops[op].input, QueueOp::Dequeue(_)));
    deliveries.sort_unstable_by_key(|&op| reading.ops[op].complete);
    let mut again = Vec::new();
    for op in deliveries {
        if let QueueOp::Dequeue(item) = reading.ops[op].input
            && let Some(room) = room.get_mut(&item)
        {
            match room {
                0 => again.push(op),
                room => *room -= 1,
            }
        }
    }
    again.sort_unstable();
    reading.retain(|op| again.binary_search(&op).is_err());
    again.len()
}

/// Leaves of the empty answers only that of the last drain, after all deliveries; whether there is one.
fn last_drain(reading: &mut Reading<'_, QueueOp>) -> bool {
    let of_a_drain = |&op: &usize| reading.ops[op].input == QueueOp::Empty && reading.calls[op].f() == "drain";
    let last = (0..reading.ops.len())
        .filter(of_a_drain)
        .max_by_key(|&op| reading.ops[op].complete);
    let deliveries = reading.ops.iter().filter(|op| matches!(op.input, QueueOp::Dequeue(_)));
    let sent = deliveries.map(|op| op.invoke).max().unwrap_or(0);
    let last = last.filter(|&op| Some(sent) < reading.ops[op].complete);
    if let Some(last) = last {
        reading.ops[last].invoke = reading.ops[last].invoke.max(sent);
    }
    let empty: Vec<bool> = reading.ops.iter().map(|op| op.input == QueueOp::Empty).collect();
    reading.retain(|op| !empty[op] || Some(op) == last);
    last.is_some()
}
